"""A part of a multi-instance body goes with the instance that it is a part of, as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from chalicelib.delivery import commands
from chalicelib.delivery.sqs import NotSent
from chalicelib.engine import parts
from chalicelib.engine.commands import CreateInstance, Retire
from chalicelib.engine.state import ChildWait, Instance, InstanceState
from chalicelib.errors import Conflict
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import start as start_instance
from chalicelib.operations.children import cancel_child
from chalicelib.operations.instances import cancel_process_instance
from chalicelib.operations.retention import retire
from chalicelib.operations.sweep import Swept
from chalicelib.operations.turns import take_start
from chalicelib.ports import Delete, Message
from chalicelib.store import retention, table
from chalicelib.store.definitions import Definition
from chalicelib.store.moments import to_ms
from tests.counting import CountingTable
from tests.engine.models import call, end, line, many, service, start, sub
from tests.fakes.queues import MemoryQueues
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.test_children import CHILD, children, named, roots
from tests.operations.test_retention import KEPT, Rushing, items
from tests.simulation.replacing import replaced

EACH = {"items": "=items", "item": "item"}
PARTED = line(many(service("work"), each=EACH), service("b"))
DAY_S = 86_400


class Refusing(MemoryQueues):
    """Queues that send nothing while they refuse to."""

    refuses = False

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        if self.refuses:
            raise NotSent(queue)
        super().send(queue, messages)


@pytest.fixture(autouse=True)
def _by_two() -> Iterator[None]:
    """Let a child instance do two iterations, and an instance alone two at most."""
    with replaced(parts, AT_ONCE=2):
        yield


def kept(definition: Definition, number: int = 3) -> CreateInstance:
    """Return the start of an instance that is kept for a while, with so many items."""
    values: JsonObject = {"items": [Decimal(n) for n in range(number)]}
    return CreateInstance(
        definition.key, definition.version, definition.profile, values, time_to_live=KEPT
    )


def begun(stage: Stage, model: bytes, items: int = 3) -> int:
    definition = stage.deploy(model)
    key = start_instance(stage.ports, definition, kept(definition, items)).after.key
    stage.wait(10)
    return key


def work_all(stage: Stage, type_: str = "work") -> None:
    while found := stage.activate(type_, max_jobs=50):
        for job in found:
            stage.complete(job)
    stage.wait(10)


def going_at(stage: Stage, key: int) -> set[object]:
    """Return when the items of an instance go, in epoch seconds; None for those that stay."""
    return {item.get("expires_at") for item in items(stage, key)}


def kept_from_end_of(instance: Instance) -> int:
    assert instance.root.ended_at is not None
    return to_ms(instance.root.ended_at + KEPT) // 1000


def test_a_part_that_ended_stays_while_its_instance_runs_and_goes_with_it() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    work_all(stage)
    first, second = children(stage, key)
    assert {InstanceState.COMPLETED} == {first.root.state, second.root.state}

    stage.clock.move(3 * KEPT.total_seconds())
    retire(stage.ports, first.key)  # as an older version's message asks for
    assert 0 == sweep_all(stage.ports).retired
    assert {None} == going_at(stage, first.key) | going_at(stage, second.key)

    work_all(stage, "b")
    at = kept_from_end_of(stage.instance(key))
    assert [{at}] * 3 == [going_at(stage, each) for each in (key, first.key, second.key)]


def test_a_part_that_ends_owes_nothing_for_its_retention() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    for job in stage.activate("work", max_jobs=50):
        stage.complete(job)

    sent = [commands.from_text(body) for body in stage.queues.bodies(commands.QUEUE)]

    assert {InstanceState.COMPLETED} == {each.root.state for each in children(stage, key)}
    assert sent
    assert [] == [each for each in sent if isinstance(each.command, Retire)]


def test_a_part_that_was_to_go_from_its_own_end_stays_as_long_as_its_instance() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    work_all(stage)
    first, _ = children(stage, key)
    own = kept_from_end_of(first)
    for place, _ in retention.left(stage.table, first.root, own):
        retention.give(stage.table, place, own)
    stage.clock.move(1_000)
    work_all(stage, "b")

    assert {kept_from_end_of(stage.instance(key))} == going_at(stage, first.key)


def test_a_part_is_given_its_time_by_one_write_an_item_and_no_second_time() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    work_all(stage)
    (job,) = stage.activate("b")
    stage.complete(job)
    first, _ = children(stage, key)
    counter = CountingTable(stage.table)
    ports = replace(stage.ports, table=counter)

    retire(ports, first.key)
    assert len(items(stage, first.key)) == counter.costs().write_units
    retire(ports, first.key)
    assert 0 == counter.costs().write_units


def test_parts_of_parts_go_with_the_whole() -> None:
    stage = Stage()
    each_of = many(service("work"), each={"items": "=items", "item": "inner"})
    inner = sub("s", start("in"), each_of, end("out"), flows="in > work > out")
    key = begun(stage, line(many(inner, each=EACH)))
    work_all(stage)
    outer = children(stage, key)
    within = [part for each in outer for part in children(stage, each.key)]

    assert InstanceState.COMPLETED is stage.state(key)
    assert (2, 6) == (len(outer), len(within))
    at = kept_from_end_of(stage.instance(key))
    assert [{at}] * 8 == [going_at(stage, each.key) for each in (*outer, *within)]


def test_what_a_part_calls_goes_from_its_own_end() -> None:
    stage = Stage()
    stage.deploy(named(CHILD, "child"))
    key = begun(stage, line(many(call("c", "child"), each=EACH), service("b")))
    work_all(stage)
    called = [child for part in children(stage, key) for child in children(stage, part.key)]

    assert 3 == len(called)
    for child in called:
        assert {kept_from_end_of(child)} == going_at(stage, child.key)


def test_a_part_that_was_cancelled_before_it_began_goes_with_its_instance() -> None:
    stage = Stage()
    definition = stage.deploy(PARTED)
    turn = take_start(stage.ports, definition, kept(definition), None)
    assert turn is not None
    wait = next(each for each in turn.after.records.values() if isinstance(each, ChildWait))

    cancel_child(stage.ports, wait.key, turn.after.key, stage.clock.now())
    stage.wait(10)
    assert {None} == going_at(stage, wait.key)

    cancel_process_instance(stage.ports, turn.after.key)
    stage.wait(10)
    assert {kept_from_end_of(stage.instance(turn.after.key))} == going_at(stage, wait.key)


def test_what_is_kept_for_ever_keeps_its_parts() -> None:
    stage = Stage()
    key = stage.create(PARTED, items=[1, 2, 3])
    stage.wait(10)
    work_all(stage)
    work_all(stage, "b")
    stage.clock.move(2 * DAY_S)

    assert InstanceState.COMPLETED is stage.state(key)
    assert Swept() == sweep_all(stage.ports)
    assert {None} == going_at(stage, key).union(*(going_at(stage, each) for each in roots(stage)))


def test_who_goes_on_tells_the_parts_that_were_not_told_and_no_other_again() -> None:
    stage = Stage(queues=Refusing)
    key = begun(stage, PARTED, items=70)
    work_all(stage)
    (job,) = stage.activate("b")
    stage.complete(job)
    stage.queues.lose(commands.QUEUE)
    assert isinstance(stage.queues, Refusing)
    hurried = replace(stage.ports, clock=Rushing(stage.clock.now()))

    while None in going_at(stage, key):
        for stage.queues.refuses in (True, False):
            with pytest.raises((Conflict, NotSent)):
                retire(hurried, key)

    told = [commands.from_text(body) for body in stage.queues.bodies(commands.QUEUE)]
    assert {Retire()} == {each.command for each in told}
    parts_of_it = [each.key for each in children(stage, key)]
    assert parts_of_it == sorted(each.instance_key for each in told)


def test_a_message_to_a_part_that_was_lost_is_found_missing_by_the_sweep() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    work_all(stage)
    (job,) = stage.activate("b")
    stage.complete(job)
    retire(stage.ports, key)
    assert 3 == len(stage.queues.bodies(commands.QUEUE))  # its own, and of its two parts
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(DAY_S - 10)
    assert 0 == sweep_all(stage.ports).retired
    stage.clock.move(20)
    assert Swept(retired=2, mended=2) == sweep_all(stage.ports)
    stage.wait(10)
    at = kept_from_end_of(stage.instance(key))
    assert [{at}] * 2 == [going_at(stage, each.key) for each in children(stage, key)]
    assert Swept() == sweep_all(stage.ports)


def test_a_part_whose_instance_has_gone_goes_too() -> None:
    stage = Stage()
    key = begun(stage, PARTED)
    work_all(stage)
    (job,) = stage.activate("b")
    stage.complete(job)
    first, second = children(stage, key)
    stage.queues.lose(commands.QUEUE)
    stage.table.write(Delete(table.root_key(key)))
    stage.clock.move(2 * DAY_S)

    assert Swept(retired=2, mended=2) == sweep_all(stage.ports)
    stage.wait(10)
    for part in (first, second):
        assert {kept_from_end_of(part)} == going_at(stage, part.key)
