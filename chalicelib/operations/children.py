"""Child instances: started, ended and heard of on account of the instance that waits for them.

Each of these may happen twice or in another order. The start and the cancel of a child both demand
that its root does not exist, so whichever comes second loses; so does the turn of its parent that
finds nothing to start, which puts its own alias there. What a child says is taken by the turn of
its parent that ends the child wait. Design sections 4 and 7.
"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from chalicelib.bpmn.model import Binding
from chalicelib.delivery.children import Kin
from chalicelib.engine.commands import (
    CancelChild,
    CancelInstance,
    CreateInstance,
    EndChild,
    FailChild,
    HearEnd,
    HearEscalation,
    HearIteration,
    Retire,
    StartChild,
)
from chalicelib.engine.effects import Send
from chalicelib.engine.keys import block_of
from chalicelib.engine.state import (
    ChildWait,
    Instance,
    InstanceState,
    Parent,
    Part,
    RecordKey,
    Root,
    Thrown,
    Variables,
)
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.operations.attempts import attempts
from chalicelib.operations.turns import put, take_start_at, take_turns
from chalicelib.ports import Ports
from chalicelib.store import definitions, instances
from chalicelib.store.definitions import Definition


def do(ports: Ports, key: int, command: Kin, until: datetime) -> list[Turn]:
    """Do what an instance is to do on account of its parent or a child of it.

    Raises: Rejected, also TooLarge; Conflict.
    """
    match command:
        case StartChild(parent):
            return start_child(ports, key, parent, until)
        case CancelChild(parent):
            return cancel_child(ports, key, parent, until)
        case HearEnd(child):
            return hear_end(ports, key, child, until)
        case HearEscalation() | HearIteration():
            return [take_turns(ports, key, command, until)]
        case _ as never:
            assert_never(never)


def start_child(ports: Ports, child_key: int, parent_key: int, until: datetime) -> list[Turn]:
    """Start the instance that an element of another waits for, unless it is there already.

    A child that is over says so once more. What cannot be called is an incident of the parent.
    Raises: Conflict.
    """
    parent = instances.load(ports.table, parent_key, [RecordKey(ChildWait, child_key)])
    wait = None if parent is None else parent.records.get(RecordKey(ChildWait, child_key))
    if parent is None or not isinstance(wait, ChildWait):
        return []
    if instances.root_version(ports.table, child_key) is not None:
        return hear_end(ports, parent_key, child_key, until)
    definition, problem = _called(ports, parent, wait), "has no start event without a trigger"
    if definition is None:
        problem = "was not found"
    elif wait.first or definition.process.start is not None:
        try:
            turn = take_start_at(
                ports, definition, _command(parent, wait, definition), block_of(child_key)
            )
        except TooLarge as refusal:
            problem = f"cannot start: {refusal.message}"
        else:
            return [] if turn is None else [turn]
    message = f"called process {wait.process_id} ({_bound(wait)}) {problem}"
    return [take_turns(ports, parent_key, FailChild(child_key, message), until)]


def _bound(wait: ChildWait) -> str:
    """Say which version is called."""
    return f"version tag {wait.version_tag}" if wait.version_tag else f"{wait.binding} version"


def _command(parent: Instance, wait: ChildWait, definition: Definition) -> CreateInstance:
    return CreateInstance(
        definition_key=definition.key,
        definition_version=definition.version,
        profile=definition.profile,
        variables=wait.variables,
        business_key=wait.business_key,
        time_to_live=parent.root.time_to_live,
        parent=Parent(
            parent.key,
            wait.scope,
            wait.depth,
            wait.errors,
            wait.escalations,
            first=wait.first,
        ),
        part=Part(wait.element_id, wait.count, wait.items) if wait.first else None,
    )


def _called(ports: Ports, parent: Instance, wait: ChildWait) -> Definition | None:
    """Return the definition that is called, by its binding."""
    table, profile = ports.table, parent.root.profile
    if wait.first:
        return definitions.get(table, parent.root.definition_key)
    match wait.binding:
        case Binding.VERSION_TAG:
            return definitions.tagged(table, wait.process_id, profile, wait.version_tag or "")
        case Binding.DEPLOYMENT:
            caller = parent.root.definition_key
            return definitions.deployed_with(table, caller, wait.process_id)
        case _:
            return definitions.latest_of(table, wait.process_id, profile)


def cancel_child(ports: Ports, child_key: int, parent_key: int, until: datetime) -> list[Turn]:
    """End an instance whose parent was interrupted; one that is not there yet is put as ended.

    One that has ended, or is ending, has said so or will; one that cannot be called never begins.
    Raises: Conflict.
    """
    for _ in attempts(ports, until):
        child = instances.load(ports.table, child_key)
        if child is None:
            turn = _ended(ports, child_key, parent_key)
            if turn is None:
                return []
            if put(ports, turn):
                return [turn]
            continue
        if child.key != child_key or child.root.state is not InstanceState.ACTIVE:
            return []
        try:
            return [take_turns(ports, child_key, CancelInstance(), until)]
        except Rejected as rejected:
            if rejected.reason is not Reason.INVALID_STATE:
                raise
            return []  # it ended meanwhile
    raise Conflict(f"process instance {child_key} could not be ended until the deadline")


def _ended(ports: Ports, child_key: int, parent_key: int) -> Turn | None:
    """Return the turn that puts an instance which has ended before it began."""
    key, now = RecordKey(ChildWait, child_key), ports.clock.now()
    parent = instances.load(ports.table, parent_key, [key])
    if parent is None:
        return None
    wait = parent.records.get(key)
    first = wait.first if isinstance(wait, ChildWait) else 0
    above = parent.root
    depth = 1 if above.parent is None else above.parent.depth + 1
    root = Root(
        key=child_key,
        definition_key=above.definition_key,
        bpmn_process_id=above.bpmn_process_id,
        definition_version=above.definition_version,
        profile=above.profile,
        created_at=now,
        version=1,
        state=InstanceState.TERMINATED,
        ended_at=now,
        time_to_live=above.time_to_live,
        blocks=(block_of(child_key),),
        parent=Parent(parent_key, parent_key, depth, first=first),
    )
    owed = [Send(parent_key, HearEnd(child_key), 1)]
    if root.retires_at_end:
        owed.append(Send(child_key, Retire(), 1))
    return Turn(None, Instance(root), now, tuple(owed)).stamped(ports.chance.id())


def hear_end(ports: Ports, parent_key: int, child_key: int, until: datetime) -> list[Turn]:
    """Tell an instance how a child of it ended; nothing to tell while it goes on.

    Raises: Conflict.
    """
    top, thrown = RecordKey(Variables, child_key), RecordKey(Thrown, child_key)
    child = instances.load(ports.table, child_key, [top, thrown])
    if child is None or child.key != child_key or child.root.ended_at is None:
        return []
    variables, error = child.records.get(top), child.records.get(thrown)
    state, parent = child.root.state, child.root.parent
    escalated = 0 if parent is None else parent.escalated
    if isinstance(error, Thrown):
        command = EndChild(child_key, state, error.variables, error.code, escalated)
    else:
        values = variables.values if isinstance(variables, Variables) else {}
        command = EndChild(child_key, state, values, escalated=escalated)
    try:
        return [take_turns(ports, parent_key, command, until)]
    except Rejected as rejected:
        if rejected.reason is not Reason.NOT_FOUND:
            raise
        return []  # nobody is left to be told
