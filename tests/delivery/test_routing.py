"""Messages of the routing queue: what they say, and what they turn out to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import routing
from chalicelib.delivery.routing import GroupDue, Handle, RoutingMessage
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.errors import Rejected
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from tests.fakes.clock import BEGIN

SECOND = timedelta(seconds=1)
HANDLE = Handle(Place("a", "1"), "n", 2, BEGIN)
GROUP_DUE = GroupDue("all", "k", "g", BEGIN)
ENTRY = Entry(
    channel="a",
    message=Message("1"),
    nonce="n",
    revision=2,
    entered_at=BEGIN,
    due=BEGIN,
    expires_at=BEGIN + timedelta(days=1),
)
GROUP = Group(
    aggregator="all",
    correlation_key="k",
    id="g",
    members=(Place("a", "1"),),
    size=1,
    opened_at=BEGIN,
    due=BEGIN,
)


@pytest.mark.parametrize("message", [HANDLE, GROUP_DUE], ids=str)
def test_a_message_is_read_as_it_was_written(message: RoutingMessage) -> None:
    assert message == routing.from_text(routing.to_text(message))


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"group":"g"}', '{"handle":1,"channel":"a"}'])
def test_what_is_none_of_ours_is_rejected(body: str) -> None:
    with pytest.raises(Rejected):
        routing.from_text(body)


@pytest.mark.parametrize(
    ("entry", "after_s", "verdict"),
    [
        (None, 0, Early()),
        (None, 121, Spare()),
        (ENTRY, 0, LiveDue()),
        (replace(ENTRY, due=BEGIN + SECOND), 0, LiveLater(BEGIN + SECOND)),
        (replace(ENTRY, revision=1), 0, Early()),
        (replace(ENTRY, revision=3), 0, Spare()),
        (replace(ENTRY, state=State.HELD), 0, Spare()),
        (replace(ENTRY, nonce="m"), 0, Spare()),
        (replace(ENTRY, nonce="m", expires_at=BEGIN + SECOND), 0, Early()),
    ],
)
def test_a_message_is_judged_by_what_is_in_the_channel(
    entry: Entry | None, after_s: float, verdict: Verdict
) -> None:
    assert verdict == routing.judge_handle(HANDLE, entry, BEGIN + after_s * SECOND)


@pytest.mark.parametrize(
    ("group", "is_closed", "after_s", "verdict"),
    [
        (None, False, 0, Early()),
        (None, False, 121, Spare()),
        (None, True, 0, Spare()),
        (GROUP, False, 0, LiveDue()),
        (replace(GROUP, due=BEGIN + SECOND), False, 0, LiveLater(BEGIN + SECOND)),
        (replace(GROUP, id="h"), False, 0, Early()),
        (replace(GROUP, id="h"), True, 0, Spare()),
    ],
)
def test_the_end_of_a_group_is_judged_by_the_group(
    group: Group | None, is_closed: bool, after_s: float, verdict: Verdict
) -> None:
    now = BEGIN + after_s * SECOND
    assert verdict == routing.judge_group(GROUP_DUE, group, is_closed, now)


def test_what_is_for_later_has_one_name_however_often_it_is_sent_on() -> None:
    again = replace(HANDLE, first_sent=BEGIN + SECOND)

    names = {routing.later(each, BEGIN).name for each in (HANDLE, again)}
    assert 1 == len(names) and 64 >= len(names.pop())
    assert routing.later(HANDLE, BEGIN).name != routing.later(HANDLE, BEGIN + SECOND).name


def test_an_early_message_that_is_no_more_young_is_looked_at_less_often() -> None:
    assert [1, 15] == [routing.put_back_after_s(HANDLE, BEGIN + n * SECOND) for n in (1, 11)]
