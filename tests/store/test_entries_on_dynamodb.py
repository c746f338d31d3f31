"""Messages in channels and groups on (emulated) DynamoDB: their life, and races between threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from chalicelib.ports import Table, Write
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from chalicelib.store import entries
from tests.contract.tables import on_dynamodb
from tests.store.samples import NOW

pytestmark = pytest.mark.aws
RACERS = 8
DAY = timedelta(days=1)


@pytest.fixture
def store(emulated_aws: str) -> Iterator[Table]:
    yield from on_dynamodb(emulated_aws)


def entry(id_: str = "1", nonce: str = "n") -> Entry:
    message = Message(id_, {"x": [Decimal("1.50"), None]}, "k", {"h": ""})
    return Entry(
        channel="a", message=message, nonce=nonce, entered_at=NOW, due=NOW, expires_at=NOW + DAY
    )


def commit(store: Table, *writes: Write) -> int | None:
    return entries.commit(store, writes, uuid4().hex)


def test_a_message_is_read_as_it_was_put_and_changed(store: Table) -> None:
    put = entry()
    assert None is commit(store, entries.enter(put, NOW))
    assert put == entries.read(store, put.place, NOW)

    failed = put.changed(NOW, state=State.FAILED, by="b", why="w", attempt=1, status_code=500)
    assert None is commit(store, entries.settle(put, failed))
    assert failed == entries.read(store, put.place, NOW)
    again = failed.changed(NOW, state=State.WAITING, by=None, why=None, status_code=None)
    assert None is commit(store, entries.settle(failed, again))
    assert again == entries.read(store, put.place, NOW)
    assert 0 == commit(store, entries.settle(failed, again))


def test_an_id_is_taken_until_its_message_expires(store: Table) -> None:
    assert None is commit(store, entries.enter(entry(), NOW))
    assert 0 == commit(store, entries.enter(entry(nonce="m"), NOW))
    assert None is entries.read(store, Place("a", "1"), NOW + DAY)

    later = replace(entry(nonce="m"), expires_at=NOW + 2 * DAY)
    assert None is commit(store, entries.enter(later, NOW + DAY))
    assert later == entries.read(store, later.place, NOW + DAY)


def test_a_channel_lists_its_messages_the_newest_first(store: Table) -> None:
    for number in range(5):
        put = replace(entry(str(number)), entered_at=NOW + number * timedelta(seconds=1))
        commit(store, entries.enter(put, NOW))

    listed = [each.message.id for each in entries.newest(store, "a", NOW)]
    assert ["4", "3", "2", "1", "0"] == listed
    assert [] == list(entries.newest(store, "b", NOW))


def test_a_group_grows_and_is_closed_as_read(store: Table) -> None:
    group = Group(
        aggregator="all",
        correlation_key="k",
        id="g",
        members=(Place("a", "1"),),
        size=3,
        opened_at=NOW,
        due=NOW + DAY,
    )
    grown = replace(group, members=(*group.members, Place("a", "2")))
    closed = replace(grown, closed_at=NOW, why="count", to=Place("b", "all.g"))

    assert None is commit(store, entries.change_group(None, group))
    assert 0 == commit(store, entries.change_group(None, group))
    assert None is commit(store, entries.change_group(group, grown))
    assert 0 == commit(store, *entries.close_group(group, closed))
    assert grown == entries.open_group(store, "all", "k")
    assert None is commit(store, *entries.close_group(grown, closed))
    assert None is entries.open_group(store, "all", "k")
    assert closed == entries.closed_group(store, "all", "k", "g")
    at_once = replace(closed, id="h")
    assert None is commit(store, *entries.close_group(None, at_once))


def test_of_those_who_put_and_settle_at_once_one_is_first(store: Table) -> None:
    with ThreadPoolExecutor(RACERS) as pool:
        rivals = [entry(nonce=str(number)) for number in range(RACERS)]
        puts = list(pool.map(lambda each: commit(store, entries.enter(each, NOW)), rivals))
        read = entries.read(store, Place("a", "1"), NOW)
        assert read is not None
        writes = [
            [entries.settle(read, read.changed(NOW, state=State.FORWARDED)), *_part(number)]
            for number in range(RACERS)
        ]
        settled = list(pool.map(lambda each: commit(store, *each), writes))

    assert [1, 1] == [outcomes.count(None) for outcomes in (puts, settled)]
    assert 1 == len(
        [number for number in range(RACERS) if entries.read(store, _place(number), NOW)]
    )


def _place(number: int) -> Place:
    return Place("a", f"part {number}")


def _part(number: int) -> list[Write]:
    return [entries.enter(entry(_place(number).id), NOW)]
