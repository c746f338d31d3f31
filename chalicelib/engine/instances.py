"""Instances: how one starts and is cancelled, and its own variables."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import START, Process
from chalicelib.engine import (
    execution_listeners,
    lifecycle,
    listeners,
    modification,
    parts,
    tokens,
    variables,
)
from chalicelib.engine.commands import CancelInstance, CreateInstance, DeleteVariable, SetVariables
from chalicelib.engine.draft import Draft
from chalicelib.engine.keys import Keys, first_key
from chalicelib.engine.state import InstanceState, Join, Move, Purge, Root, Variables
from chalicelib.engine.turn import Changed, Entered, Left
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


class Beginning(NamedTuple):
    """Where an instance begins: at the elements that are named, at the event that caught something
    and with what came, of a message its name too, or at the none start event."""

    elements: tuple[str, ...]
    caught_at: str | None
    payload: JsonObject
    message: str | None = None

    def written(self) -> JsonObject:
        """Return it as it is kept while the listeners of the process are at work."""
        return {
            "elements": list(self.elements),
            "caughtAt": self.caught_at,
            "payload": self.payload,
            "message": self.message,
        }

    @classmethod
    def read(cls, kept: JsonObject) -> Beginning:
        """Read what was kept."""
        elements, payload = kept.get("elements"), kept.get("payload")
        caught_at, message = kept.get("caughtAt"), kept.get("message")
        return cls(
            tuple(map(str, elements)) if isinstance(elements, list) else (),
            None if caught_at is None else str(caught_at),
            payload if isinstance(payload, dict) else {},
            None if message is None else str(message),
        )


def new_root(process: Process, command: CreateInstance, now: datetime, keys: Keys) -> Root:
    """Return the root of an instance that is about to start; its key is its block's first."""
    return Root(
        key=first_key(keys.block),
        definition_key=command.definition_key,
        bpmn_process_id=process.id,
        definition_version=command.definition_version,
        profile=command.profile,
        created_at=now,
        business_key=command.business_key,
        time_to_live=command.time_to_live,
        start_lock=command.start_lock,
        tokens=1,
        blocks=(keys.block,),
        parent=command.parent,
    )


def start(draft: Draft, command: CreateInstance) -> None:
    """Give the instance its variables and a token at the none start event.

    Raises: Rejected(INVALID_ARGUMENT) if the process has no such event, or a named element
        cannot be started; Rejected(NOT_FOUND) if there is none of that name.
    """
    if command.part is not None:
        parts.start(draft, command)
        return
    process, caught_at = draft.plan.process, command.caught_at
    draft.signals = [] if command.broadcast is None else [(0, command.broadcast)]
    modification.check(draft, command.starting_elements)
    if process.start is None and caught_at is None and not command.starting_elements:
        raise Rejected(
            Reason.INVALID_ARGUMENT, f"process {process.id} has no none start event to start at"
        )
    payload = {} if caught_at is None else command.variables
    given = command.variables if caught_at is None else {}
    draft.open_scope(draft.key, {**dict.fromkeys(process.data), **given} if process.data else given)
    beginning = Beginning(command.starting_elements, caught_at, payload, command.message)
    key = draft.keys.next()
    if execution_listeners.hear_process(draft, START, key):
        draft.put(Variables(key, beginning.written()))
    else:
        begin(draft, beginning)


def begin(draft: Draft, beginning: Beginning) -> None:
    """Put the instance's token where it begins, once its process's listeners were heard.

    Raises: Rejected, as `modification.start_at` does.
    """
    process = draft.plan.process
    if beginning.elements:
        modification.start_at(draft, beginning.elements)
        return
    listeners.listen(draft, draft.key, process.id, beginning.payload)
    if beginning.caught_at is not None:
        node = draft.plan.nodes[beginning.caught_at]
        if node.element.is_parallel:
            _note_first(draft, node, beginning.message)
        _start_caught(draft, node, beginning.payload)
    else:
        assert process.start is not None
        draft.agenda.append(Move(process.start, draft.key, None))


def _note_first(draft: Draft, node: Node, message: str | None) -> None:
    """Note which of the messages that a start event needs came first: it waits for the others."""
    names = [part.element.event_name for part in node.parts]
    first = next((n for n, each in enumerate(names) if each and each.name.text == message), None)
    if first is not None:
        draft.joins[draft.key, node.id] = Join(0, used=1 << first)


def _start_caught(draft: Draft, node: Node, payload: JsonObject) -> None:
    """Put a token at the event that started the instance, with what came.

    Behind an event-based gateway it comes through that; of a parallel one all other events are
    waited for from now on.
    """
    key = draft.keys.next()
    draft.put(Variables(key, payload))
    if node.gateway is None:
        draft.agenda.append(Move(node.id, draft.key, None, key=key))
        return
    passed = draft.keys.next()
    draft.history += [Entered(passed, node.gateway.id, draft.key), Left(passed, None)]
    draft.element_count += 1
    moves = {flow.target: Move(flow.target, draft.key, flow.id) for flow in node.gateway.outgoing}
    first = moves.pop(node.id)._replace(key=key)
    if node.gateway.element.waits_for_all:
        draft.count(draft.key, len(moves))
        draft.agenda.extend(reversed(moves.values()))
    draft.agenda.append(first)


def cancel(draft: Draft, command: CancelInstance) -> None:
    """End the instance and all that is open in it, whatever is on the agenda.

    Raises: Rejected(INVALID_STATE) if it ended, or is being ended, already.
    """
    lifecycle.require_active(
        draft.state,
        f"cannot cancel process instance {draft.key}: it is not in correct state, "
        f"expected={lifecycle.ACTIVITY_STATES[InstanceState.ACTIVE]}, "
        f"actual={lifecycle.ACTIVITY_STATES[draft.state]}",
    )
    parts.save_all(draft)
    draft.state = InstanceState.TERMINATING
    draft.purges.clear()
    tokens.start_purge(draft, Purge(draft.key))


def set_variables(draft: Draft, command: SetVariables) -> None:
    """Merge variables into a scope's own. Raises: Rejected(INVALID_STATE, NOT_FOUND)."""
    lifecycle.require_active(
        draft.state,
        "Can update variables only for process instances in active or failed state",
    )
    draft.assign(variables.live_scope(draft, command.scope), command.variables)


def delete_variable(draft: Draft, command: DeleteVariable) -> None:
    """Remove one of a scope's own variables.

    Raises: Rejected(NOT_FOUND), which is checked first, then Rejected(INVALID_STATE).
    """
    name, scope = command.name, variables.live_scope(draft, command.scope)
    if name not in draft.values(scope):
        raise lifecycle.no_such("variable", name)
    lifecycle.require_active(
        draft.state,
        "can delete variables only for process instances in active or failed state",
    )
    del draft.own_values(scope)[name]
    draft.history.append(Changed(scope, {}, (name,)))
