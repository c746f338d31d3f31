"""Conditional start events: evaluated with the variables of a caller, who starts what holds.

They belong to the latest versions, like every other start: what was noted of a process when it was
deployed may be out of date, its latest version is not.

Source: contracts/bpmn.md 3.1 ("root starts by API call").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from chalicelib.bpmn.model import EventType
from chalicelib.engine.start_conditions import that_hold
from chalicelib.engine.turn import Turn
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import definitions as deployed
from chalicelib.operations.correlation import start_command
from chalicelib.operations.moments import moment
from chalicelib.operations.owed import run_all
from chalicelib.operations.repeats import done_before, mark_done
from chalicelib.operations.turns import take_start
from chalicelib.ports import Ports
from chalicelib.store import definitions, subscriptions
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once

PROCESSES_MAX = 1_000  # with conditional start events: reading one takes a millisecond and more
STARTS_MAX = 100  # of one evaluation: each takes some 30 ms of the 30 s that a function has


class Started(NamedTuple):
    """An instance that a conditional start event started, and its definition, by their keys."""

    definition_key: int
    instance_key: int


class Found(NamedTuple):
    """A start event whose condition holds."""

    definition: Definition
    element_id: str


def evaluate_conditionals(
    ports: Ports,
    variables: JsonObject,
    definition_key: int | None = None,
    once: Once | None = None,
) -> list[Started]:
    """Start an instance at each conditional start event whose condition holds for the variables.

    Shapes: a `definition_key` asks one definition alone, of which nothing starts if it is not the
        latest version. A repeat of a request answers what that started, and starts nothing more.
    Raises: Rejected, also TooLarge; Conflict.
    """
    is_repeat = done_before(ports, once) is not None
    found = _found(ports, variables, definition_key)
    started: list[Started] = []
    turns: list[Turn] = []
    for event in found:
        mine = None if once is None else _once_of(once, event)
        key = done_before(ports, mine)
        if key is None and not is_repeat:
            command = start_command(ports, event.definition, event.element_id, variables)
            turn = take_start(ports, event.definition, command, mine)
            turns += [] if turn is None else [turn]
            key = done_before(ports, mine) if turn is None else turn.after.key
        if key is not None:
            started.append(Started(event.definition.key, key))
    if once is not None and not is_repeat:
        mark_done(ports, once)
    run_all(ports, turns)
    return started


def _found(ports: Ports, variables: JsonObject, definition_key: int | None) -> list[Found]:
    """Return the start events whose condition holds. Raises: Rejected."""
    asked = _asked(ports, definition_key)
    when = moment(ports)  # whose deadline is for evaluating, not for reading
    found = [
        Found(definition, element_id)
        for definition in asked
        for element_id in that_hold(definition.process, variables, when)
    ]
    if len(found) > STARTS_MAX:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"expected to start at most {STARTS_MAX} instances, found {len(found)} start events "
            "whose condition holds; name a processDefinitionKey",
        )
    return found


def _asked(ports: Ports, definition_key: int | None) -> Sequence[Definition]:
    """Return the definitions whose start events are asked for. Raises: Rejected."""
    if definition_key is not None:
        named = deployed.require(ports, definition_key)
        latest = definitions.latest_of(ports.table, named.bpmn_process_id, named.profile)
        return [named] if latest is not None and latest.key == named.key else []
    waiting = subscriptions.starters(ports.table, EventType.CONDITIONAL, subscriptions.ANY_NAME)
    if len(waiting) > PROCESSES_MAX:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"expected at most {PROCESSES_MAX} processes with conditional start events, found "
            f"{len(waiting)}; name a processDefinitionKey",
        )
    latest_ones = (
        definitions.latest_of(ports.table, process_id, profile) for profile, process_id in waiting
    )
    return sorted((d for d in latest_ones if d is not None), key=lambda each: each.key)


def _once_of(once: Once, event: Found) -> Once:
    """Return what makes one start event of an evaluation start once."""
    definition = event.definition
    words = (once.key, definition.profile.value, definition.bpmn_process_id, event.element_id)
    return replace(once, key="#".join(words))
