"""Turns, one after the other: load, decide, promise, commit.

What a turn owes to the outside is promised by messages before the turn is committed, and the
commit is one transaction that another writer may win; then all is decided again. What follows the
commit is for whoever asked (`advance.py`). Design sections 3, 4.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

from chalicelib.bpmn.model import Process
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine import lifecycle, needs
from chalicelib.engine.commands import (
    ChangeTask,
    Command,
    CompleteJob,
    Continue,
    Correlate,
    CreateInstance,
    FailJob,
    FireTimer,
    MarkIncident,
    ResolveIncident,
)
from chalicelib.engine.facts import facts_of
from chalicelib.engine.jobs import NOUNS
from chalicelib.engine.keys import first_key
from chalicelib.engine.state import USER_TASK, Instance
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Rejected, TooLarge
from chalicelib.operations import decisions
from chalicelib.operations.attempts import attempts, tell
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports, Put
from chalicelib.store import definitions, instances, marks, subscriptions
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once

TURNS_MAX = 1_000  # of one request: agendas it runs before its own command is decided


def take_start(
    ports: Ports, definition: Definition, command: CreateInstance, once: Once | None
) -> Turn | None:
    """Start an instance, and mark that it was; None if another request did both meanwhile, or one
    runs that is to run alone.

    Raises: Rejected, also TooLarge; Conflict.
    """
    lock = command.start_lock
    for attempt in attempts(ports):
        if attempt and done_before(ports, once) is not None:
            return None
        if lock is not None and subscriptions.is_locked(ports.table, lock):
            return None
        decision = decisions.decide_start(ports, definition.process, command)
        turn = decision.turn
        _promise(ports, turn)
        if instances.commit(ports.table, turn, _mark(ports, once, turn), decision.writes):
            tell(ports, facts_of(turn, command, definition.process))
            return turn
    raise Conflict(f"process {command.definition_key} could not be started for {DEADLINE}")


def take_start_at(
    ports: Ports, definition: Definition, command: CreateInstance, block: int
) -> Turn | None:
    """Start an instance in a key block that was taken for it; None if it is there already, or is
    never to start.

    Raises: Rejected, also TooLarge; Conflict.
    """
    for attempt in attempts(ports):
        if attempt and instances.root_version(ports.table, first_key(block)) is not None:
            return None
        decision = decisions.decide_start(ports, definition.process, command, block)
        turn = decision.turn
        _promise(ports, turn)
        if instances.commit(ports.table, turn, None, decision.writes):
            tell(ports, facts_of(turn, command, definition.process))
            return turn
    raise Conflict(f"process instance {first_key(block)} could not be started for {DEADLINE}")


def put(ports: Ports, turn: Turn) -> bool:
    """Promise what a turn owes and commit it; say whether nobody came first."""
    _promise(ports, turn)
    return instances.commit(ports.table, turn)


def take_turns(
    ports: Ports, key: int, command: Command, until: datetime, once: Once | None = None
) -> Turn:
    """Take turns until one has done the command; those before make moves left by others."""
    for _ in range(TURNS_MAX):
        turn = _take_turn(ports, key, command, until, once)
        if turn.done:
            return turn
        if ports.clock.now() >= until:
            break
    raise Conflict(f"instance {key} was busy with its own agenda until the deadline")


def _take_turn(
    ports: Ports, key: int, command: Command, until: datetime, once: Once | None
) -> Turn:
    """Load, decide, promise, commit; again with jitter if another writer was first."""
    for attempt in attempts(ports, until):
        instance = instances.load(ports.table, key, partial(needs.wanted, command))
        if instance is None:
            raise _no_such(command, key)
        # Read after the instance: what was done before it was read is found marked now.
        if done_before(ports, once) is not None:
            return Turn(instance, instance, ports.clock.now())
        process = _process(ports, instance)
        decision = decisions.decide(ports, process, instance, command)
        if attempt and not instances.is_current(ports.table, instance):
            continue  # it would lose, and what it promises would be in vain
        try:
            _promise(ports, decision.turn)
        except TooLarge as refusal:  # one job type too many
            decision = decisions.limited(ports, process, instance, command, refusal)
            _promise(ports, decision.turn)
        is_done = decision.turn.done and decision.refusal is None
        mark = _mark(ports, once, decision.turn) if is_done else None
        if instances.commit(ports.table, decision.turn, mark, decision.writes):
            tell(ports, facts_of(decision.turn, command if is_done else Continue(), process))
            if decision.refusal is not None:
                raise decision.refusal
            return decision.turn
    raise Conflict(f"instance {key} was changed by others until the deadline")


def _mark(ports: Ports, once: Once | None, turn: Turn) -> Put | None:
    """Return the write that marks a request as done by a turn."""
    return None if once is None else marks.write(once, turn.after.key, now=ports.clock.now())


def _promise(ports: Ports, turn: Turn) -> None:
    root = turn.after.root
    promise_in_time(ports, turn.effects, root.key, root.turn_id)


def _process(ports: Ports, instance: Instance) -> Process:
    definition = definitions.get(ports.table, instance.root.definition_key)
    if definition is None:
        raise RuntimeError(
            f"expected definition {instance.root.definition_key} of instance {instance.key}, "
            "found none"
        )
    return definition.process


def _no_such(command: Command, key: int) -> Rejected:
    """Return the rejection of a command whose key belongs to no instance."""
    match command:
        case CompleteJob(job_key=named, kind=kind):
            noun = NOUNS[kind]
        case FailJob(job_key=named):
            noun = "job"
        case ChangeTask(task_key=named):
            noun = NOUNS[USER_TASK]
        case FireTimer(timer_key=named):
            noun = "timer"
        case Correlate(subscription_key=named):
            noun = "subscription"
        case ResolveIncident(incident_key=named) | MarkIncident(incident_key=named):
            noun = "incident"
        case _:
            noun, named = "process instance", key
    return lifecycle.no_such(noun, named)
