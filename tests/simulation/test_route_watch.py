"""The watch of message routing sees what it is there to see."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from chalicelib.ports import Item
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from chalicelib.store import entries, routing_keys
from tests.fakes.clock import BEGIN
from tests.simulation.route_watch import RouteWatch

ENTRY = Entry(
    channel="a",
    message=Message("1"),
    nonce="n",
    entered_at=BEGIN,
    due=BEGIN,
    expires_at=BEGIN + timedelta(days=1),
)
DONE = ENTRY.changed(BEGIN, state=State.DELIVERED)
FAILED = ENTRY.changed(BEGIN, state=State.FAILED)
GROUP = Group(
    aggregator="all",
    correlation_key="k",
    id="g",
    members=(Place("a", "1"),),
    size=1,
    opened_at=BEGIN,
    due=BEGIN,
)


class Told(list[str]):
    """What the watch complained of."""

    def __init__(self) -> None:
        super().__init__()
        self.watch = RouteWatch(self.append)

    def entry(self, before: Entry | None, after: Entry | None) -> None:
        def item(entry: Entry | None) -> Item | None:
            return None if entry is None else entries.enter(entry, BEGIN).item

        self.watch.wrote(routing_keys.entry_key(ENTRY.place), item(before), item(after))

    def group(self, before: Group | None, after: Group | None) -> None:
        def item(group: Group | None) -> Item | None:
            return None if group is None else entries.change_group(None, group).item

        self.watch.wrote(routing_keys.group_key("all", "k"), item(before), item(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DONE, DONE.changed(BEGIN, state=State.DROPPED)),
        (ENTRY, replace(DONE, revision=2)),
        (ENTRY, replace(ENTRY, nonce="m")),
        (ENTRY, None),
    ],
)
def test_a_wrong_change_of_a_message_is_seen(before: Entry, after: Entry | None) -> None:
    told = Told()
    told.entry(before, after)
    assert 1 == len(told)


def test_a_right_life_of_a_message_is_passed() -> None:
    told = Told()
    again = FAILED.changed(BEGIN, state=State.WAITING)
    life = [None, ENTRY, FAILED, again, again.changed(BEGIN, state=State.HELD)]

    for before, after in pairwise(life):
        told.entry(before, after)

    assert [] == told
    assert told.watch.is_played


def test_a_group_that_loses_a_message_is_seen() -> None:
    told = Told()
    grown = replace(GROUP, members=(*GROUP.members, Place("a", "2")))
    told.group(None, GROUP)
    told.group(GROUP, grown)
    assert [] == told and not told.watch.is_played

    told.group(grown, replace(GROUP, members=(*GROUP.members, Place("a", "3"))))
    assert 1 == len(told)
    told.group(grown, None)
    assert told.watch.is_played
