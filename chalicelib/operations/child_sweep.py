"""The sweeper's part of child instances: what is told again of a child wait that is old.

Most old waits are right: their children are at work. A child that is not there was never told to
start, one that has ended was not heard of, and one that goes on although its element waits for its
end alone was not told to end. An escalation that was not heard is told again, and a part of a body
whose iterations were not all heard of reports them once more: without that neither the call nor the
body would ever be complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from chalicelib.delivery import commands
from chalicelib.delivery.children import Kin
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.engine.commands import (
    CancelChild,
    HearEnd,
    HearEscalation,
    HearIteration,
    StartChild,
)
from chalicelib.engine.iterations import COUNTER
from chalicelib.engine.many import results_of
from chalicelib.engine.plans import plan_of
from chalicelib.engine.state import (
    ChildWait,
    Instance,
    InstanceState,
    LoopResults,
    RecordKey,
    Root,
    Variables,
)
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.ports import Item, Message, Ports
from chalicelib.store import definitions, instances, items

CHILD_AGE = timedelta(minutes=5)  # untouched; its command comes after five seconds


def messages_of(
    ports: Ports, item: Item, now: datetime, *, everything: bool
) -> Iterator[tuple[Message, bool]]:
    """Yield what is to be told again of a child wait, and whether it must have been lost."""
    wait = items.to_record(item, {})
    assert isinstance(wait, ChildWait)
    is_old = wait.created_at < now - CHILD_AGE
    if not (is_old or everything):
        return
    found = instances.load(ports.table, wait.key, _asked)
    parent = wait.instance_key
    if found is None:
        yield _message(wait.key, StartChild(parent), now), is_old
        return
    root = found.root
    for escalation in _unheard_escalations(wait, root):
        yield _message(parent, escalation, now), root.ended_at is not None
    for number in _unheard(wait, root):
        iteration = _iteration(ports, wait, found, number)
        if iteration is not None:
            yield _message(parent, iteration, now), root.ended_at is not None
    if root.ended_at is not None:
        yield _message(parent, HearEnd(wait.key), now), root.ended_at < now - CHILD_AGE
    elif root.state is InstanceState.ACTIVE and (above := _parent(ports, parent)) is not None:
        element = above.live.get(wait.element_key)
        if element is not None and element.is_ending:
            yield _message(wait.key, CancelChild(parent), now), False


def _asked(root: Root) -> list[RecordKey]:
    """Name what a part of a body gave: kept by itself once it ended, by its body before."""
    own = [RecordKey(Variables, root.key)]
    return own + [key for body in root.bodies.items() for key in results_of(*body)]


def _unheard_escalations(wait: ChildWait, root: Root) -> Iterator[HearEscalation]:
    """Yield the escalations of a child that its parent did not hear, as far as it knows them."""
    if root.parent is None:
        return
    first = root.parent.escalated - len(root.parent.thrown) + 1
    for number, code in enumerate(root.parent.thrown, first):
        if number > wait.heard:
            yield HearEscalation(wait.key, number, code)


def _unheard(wait: ChildWait, root: Root) -> Iterator[int]:
    """Yield the iterations of a part, by their numbers in it, that are over and not reported."""
    if not wait.first or root.state not in (InstanceState.ACTIVE, InstanceState.COMPLETED):
        return
    running = {each.loop for each in root.live.values() if each.loop}
    begun = min((move.position for move in root.agenda if move.position), default=wait.count + 1)
    for number in range(1, wait.count + 1):
        is_over = root.ended_at is not None or (number < begun and number not in running)
        if is_over and not wait.reported >> (number - 1) & 1:
            yield number


def _iteration(ports: Ports, wait: ChildWait, child: Instance, number: int) -> HearIteration | None:
    """Return the report of an iteration, with what can be known of it still; None where none is
    made, as the body has no completion condition."""
    definition = definitions.get(ports.table, child.root.definition_key)
    loop = None if definition is None else plan_of(definition.process).nodes[wait.element_id].many
    if loop is None or loop.completion is None:
        return None
    told: JsonObject = {COUNTER: Decimal(wait.first - 1 + number)}
    if loop.item and wait.items is not None:
        told[loop.item] = wait.items[number - 1]
    if loop.result_name:
        told[loop.result_name] = _result(child, loop.results, number)
    known = {name: value for name, value in told.items() if name in loop.completion_text}
    return HearIteration(wait.key, number, known)


def _result(child: Instance, results: str | None, number: int) -> JsonValue:
    for progress in child.root.bodies.values():
        if progress.results and number in progress.results:
            return progress.results[number]
    for record in child.records.values():
        if isinstance(record, LoopResults) and number in record.values:
            return record.values[number]
        if isinstance(record, Variables) and child.root.ended_at is not None and results:
            found = record.values.get(results)
            if isinstance(found, list) and len(found) >= number:
                one: JsonValue = found[number - 1]
                return one
    return None


def _parent(ports: Ports, key: int) -> Root | None:
    found = instances.load(ports.table, key)
    return None if found is None else found.root


def _message(key: int, command: Kin, now: datetime) -> Message:
    return Message(commands.to_text(QueuedCommand(key, command, now)))
