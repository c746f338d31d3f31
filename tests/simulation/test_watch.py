"""The watch sees what it is there to see: a rule that never complains proves nothing."""

from __future__ import annotations

import pytest

from chalicelib.ports import LIVE, Item, ItemKey, Message, Received
from tests.simulation.changes import wrong_changes
from tests.simulation.watch import Watch

NOW_MS = 1_000_000
JOB = ItemKey(LIVE, "I#4096", "J#0000000000004097")
BELL = f'{{"job": 4097, "number": 1, "at": {NOW_MS}}}'
WAITING: Item = {
    "state": "active",
    "ring": 1,
    "delivery_token": 0,
    "attempts": 0,
    "retries": 3,
    "last_recorded_token": 0,
}
LOCKED: Item = WAITING | {
    "owner": "a",
    "lock_until": NOW_MS + 9_000,
    "delivery_token": 1,
    "ring": 2,
}


class Told(list[str]):
    """What the watch complained of, with a table of one job."""

    def __init__(self, job: Item | None = None) -> None:
        super().__init__()
        self.watch = Watch(lambda: NOW_MS, lambda _: job, self.append)


def test_an_open_job_without_a_bell_is_seen() -> None:
    told = Told()
    told.watch.wrote(JOB, None, WAITING)
    assert 1 == len(told)


def test_an_open_job_with_its_bell_is_right() -> None:
    told = Told()
    told.watch.sent("j-charge", [Message(BELL)])
    told.watch.wrote(JOB, None, WAITING)
    assert [] == told


def test_a_bell_that_is_for_later_than_the_job_is_out_is_seen() -> None:
    told = Told()
    told.watch.sent("j-charge", [Message(BELL.replace(str(NOW_MS), str(NOW_MS + 60_000)))])
    told.watch.wrote(JOB, None, WAITING)
    assert 1 == len(told)


def test_deleting_the_last_bell_of_an_open_job_is_seen() -> None:
    told = Told(WAITING)
    told.watch.sent("j-charge", [Message(BELL)])
    told.watch.wrote(JOB, None, WAITING)
    told.watch.received("j-charge", [Received(BELL, "1.1")], 30)
    told.watch.deleted("j-charge", ["1.1"])
    assert 1 == len(told)


def test_deleting_one_of_two_bells_is_right() -> None:
    told = Told(WAITING)
    told.watch.sent("j-charge", [Message(BELL), Message(BELL)])
    told.watch.wrote(JOB, None, WAITING)
    told.watch.received("j-charge", [Received(BELL, "1.1")], 30)
    told.watch.deleted("j-charge", ["1.1"])
    assert [] == told


def test_a_timer_without_its_message_is_seen() -> None:
    told = Told()
    told.watch.wrote(ItemKey(LIVE, "I#4096", "T#0000000000004098"), None, {"due": NOW_MS})
    assert 1 == len(told)


def test_history_written_twice_is_seen() -> None:
    told = Told()
    told.watch.wrote(ItemKey("history", "I#4096", "H#1"), {"at": 1}, {"at": 2})
    assert 1 == len(told)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WAITING | {"state": "completed"}, WAITING | {"state": "active"}),
        (WAITING | {"state": "completed"}, WAITING | {"state": "completed", "assignee": "clerk"}),
        (WAITING, WAITING | {"ring": 0}),
        (LOCKED, LOCKED | {"owner": "b", "delivery_token": 2}),
        (LOCKED, LOCKED | {"owner": "b"}),
        (LOCKED, WAITING | {"delivery_token": 1, "ring": 3}),
        (LOCKED, LOCKED | {"delivery_token": 0}),
        (WAITING | {"retry_at": NOW_MS + 5_000}, LOCKED),
        (LOCKED, LOCKED | {"attempts": 1, "retries": 2, "last_recorded_token": 7}),
        (LOCKED, LOCKED | {"attempts": 1, "retries": 0, "last_recorded_token": 1}),
        (
            WAITING | {"state": "failed", "retries": 5, "retries_set_by_operator": True},
            WAITING | {"state": "active", "retries": 1},
        ),
    ],
)
def test_a_wrong_change_of_a_job_is_seen(before: Item, after: Item) -> None:
    assert [] != list(wrong_changes(before, after, NOW_MS))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WAITING, LOCKED),
        (LOCKED | {"lock_until": NOW_MS - 1}, LOCKED | {"owner": "b", "delivery_token": 2}),
        (LOCKED, LOCKED | {"state": "completed", "outputs": "{}"}),
        (
            LOCKED,
            WAITING
            | {"attempts": 1, "retries": 2, "last_recorded_token": 1}
            | {"delivery_token": 1, "ring": 3},
        ),
    ],
)
def test_a_right_change_of_a_job_is_passed(before: Item, after: Item) -> None:
    assert [] == list(wrong_changes(before, after, NOW_MS))
