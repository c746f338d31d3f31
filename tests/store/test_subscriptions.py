"""Who waits for a message or a signal, found where it is published."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.bpmn.model import EventType
from chalicelib.engine.keys import first_key
from chalicelib.engine.state import Instance, Record, Subscription, Waited, key_of
from chalicelib.engine.turn import Turn
from chalicelib.ports import Delete, Put, Write
from chalicelib.profile import Profile
from chalicelib.store import instances, names, subscriptions
from chalicelib.store.subscriptions import Entry, Starter
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import KEY, NOW, TASK

ONE = Subscription(
    *(KEY + 9, KEY, "b", TASK, EventType.MESSAGE, "paid", NOW),
    correlation_key="o-1",
    is_unique=True,
)
BESIDE = replace(ONE, key=KEY + 10, is_unique=False)
SIGNAL = replace(ONE, key=KEY + 11, kind=EventType.SIGNAL, correlation_key=None, is_unique=False)


def turn(before: tuple[Record, ...], after: tuple[Record, ...], version: int = 1) -> Turn:
    """Return a turn that finds and leaves some records."""
    return Turn(
        Instance(samples.root(version=version), {key_of(each): each for each in before}),
        Instance(
            samples.root(version=version + 1, turn_id=f"turn {version}"),
            {key_of(each): each for each in after},
        ),
        NOW,
    )


def kinds(writes: list[Write]) -> list[tuple[type[Write], str]]:
    return [(type(write), write.key.sk) for write in writes]


def written(before: tuple[Record, ...], after: tuple[Record, ...]) -> list[Write]:
    return [write for write, _ in subscriptions.entries(turn(before, after))]


def test_a_subscription_is_entered_and_taken_out_with_its_record() -> None:
    assert [(Put, "U")] == kinds(written((), (ONE,)))
    assert [(Delete, "U")] == kinds(written((ONE,), ()))
    assert [(Put, f"W#{BESIDE.key:016}")] == kinds(written((), (BESIDE,)))
    assert [] == written((ONE,), (replace(ONE, after="x"),))


def test_a_name_that_is_freed_and_taken_in_one_turn_is_one_write() -> None:
    again = replace(ONE, key=KEY + 12)

    (write,) = written((ONE,), (again,))

    assert isinstance(write, Put)
    assert (again.key, "subscription", ONE.key) == (
        write.item["subscription"],
        write.condition[0].name,  # type: ignore[union-attr]
        write.condition[0].value,  # type: ignore[union-attr]
    )


def test_whoever_waits_is_found_until_the_turn_that_ends_it() -> None:
    store = MemoryTable()
    assert instances.commit(store, turn((), ())._replace(before=None))
    assert instances.commit(store, turn((), (ONE, BESIDE, SIGNAL), 2))

    entries = list(subscriptions.waiting(store, "paid", "o-1"))
    assert [Entry(ONE.key, "order"), Entry(BESIDE.key, "order")] == entries
    assert {Waited("paid", "o-1"): ONE.key, Waited("paid", "o-2"): 0} == subscriptions.holders(
        store, [Waited("paid", "o-1"), Waited("paid", "o-2")]
    )

    assert instances.commit(store, turn((ONE, BESIDE, SIGNAL), (), 3))
    assert [] == list(subscriptions.waiting(store, "paid", "o-1"))


def test_two_cannot_wait_alone() -> None:
    store = MemoryTable()
    assert instances.commit(store, turn((), ())._replace(before=None))
    assert instances.commit(store, turn((), (ONE,), 2))

    assert not instances.commit(store, turn((), (replace(ONE, key=KEY + 13),), 3))


def test_signals_are_spread_over_shards_by_instance() -> None:
    def shard(block: int) -> str:
        waits = replace(SIGNAL, instance_key=first_key(block))
        (write,) = written((), (waits,))
        return write.key.pk

    assert names.SIGNAL_SHARDS == len({shard(block) for block in range(64)})


def test_what_a_name_starts_is_noted_once() -> None:
    kept = MemoryTable()
    for _ in range(2):
        subscriptions.put_starter(
            kept, EventType.MESSAGE, "ordered", Starter(Profile.ZENBPM, "order")
        )

    found = subscriptions.starters(kept, EventType.MESSAGE, "ordered")
    assert [Starter(Profile.ZENBPM, "order")] == found
    assert [] == subscriptions.starters(kept, EventType.SIGNAL, "ordered")
