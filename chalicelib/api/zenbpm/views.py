"""Our records as ZenBPM's clients see them.

An embedded subprocess is a scope of its instance in storage; under `/v1` it is a process instance
of its own, a child, under the scope's own key (contracts/zenbpm.md section 9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.bpmn.model import Process
from chalicelib.engine.element_types import ELEMENT_TYPES, SEQUENCE_FLOW
from chalicelib.engine.state import (
    ElementInstance,
    Instance,
    InstanceState,
    RecordKey,
    Root,
    Variables,
)
from chalicelib.json_text import JsonObject
from chalicelib.operations.scopes import Found, is_body
from chalicelib.store.rows import HistoryRow, ScopeRow

DEFAULT, CALL_ACTIVITY = "default", "callActivity"
SUBPROCESS, MULTI_INSTANCE = "subprocess", "multiInstance"
ACTIVE, COMPLETED, TERMINATED, FAILED = "active", "completed", "terminated", "failed"
TOKEN_WAITS, TOKEN_FAILED = "TokenStateWaiting", "TokenStateFailed"

_ENDED = {
    InstanceState.COMPLETED: COMPLETED,
    InstanceState.TERMINATING: TERMINATED,
    InstanceState.TERMINATED: TERMINATED,
}


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A process instance, or a scope of one that is shown as its child."""

    key: int
    root: Root
    created_at: datetime
    state: str
    variables: JsonObject
    waiting: tuple[ElementInstance, ...]
    version_tag: str | None = None
    process_type: str = DEFAULT
    parent_key: int | None = None

    @property
    def incident_count(self) -> int:
        """Unresolved incidents directly on it."""
        return sum(element.incident is not None for element in self.waiting)


def view(found: Found) -> InstanceView:
    """Return what is shown of an instance, or of a subprocess in it, live or ended."""
    key, root = found.key, found.instance.root
    waiting = tuple(
        element
        for element in root.inside(key)
        if not element.is_listening or element.incident is not None
    )
    shown = InstanceView(
        key=key,
        root=root,
        created_at=root.created_at,
        state=_state(root, waiting),
        variables=variables_of(found.instance, key),
        waiting=waiting,
        version_tag=found.definition.process.version_tag,
    )
    scope: ScopeRow | ElementInstance | None = found.ended or root.live.get(key)
    if scope is None and root.parent is not None:
        process_type = MULTI_INSTANCE if root.is_part else CALL_ACTIVITY
        return replace(shown, process_type=process_type, parent_key=root.parent.scope)
    if scope is None:
        return shown
    process_type = MULTI_INSTANCE if is_body(found) else SUBPROCESS
    parent = root.shown_scope(scope.scope)
    child = replace(
        shown, created_at=scope.created_at, process_type=process_type, parent_key=parent
    )
    if found.ended is None:
        return child
    state = TERMINATED if found.ended.was_terminated else COMPLETED
    return replace(child, state=state, variables=found.ended.variables)


def variables_of(instance: Instance, scope: int) -> JsonObject:
    """Return the variables that a scope owns, as far as they were read."""
    record = instance.records.get(RecordKey(Variables, scope))
    return record.values if isinstance(record, Variables) else {}


def token_state(element: ElementInstance) -> str:
    """Say how an element's token is; one whose job failed keeps waiting (section 2.2)."""
    return TOKEN_FAILED if element.is_stuck else TOKEN_WAITS


def _state(root: Root, waiting: Iterable[ElementInstance]) -> str:
    if root.state is not InstanceState.ACTIVE:
        return _ENDED[root.state]
    return FAILED if any(element.is_stuck for element in waiting) else ACTIVE


# What a state of ZenBPM's asks of a root: our states, and whether a token at the top is stuck.
ASKED_STATES: Mapping[str | None, tuple[frozenset[InstanceState] | None, bool | None]] = {
    None: (None, None),
    ACTIVE: (frozenset({InstanceState.ACTIVE}), False),
    FAILED: (frozenset({InstanceState.ACTIVE}), True),
    COMPLETED: (frozenset({InstanceState.COMPLETED}), None),
    TERMINATED: (frozenset({InstanceState.TERMINATING, InstanceState.TERMINATED}), None),
}


# The orders of a list of views, by the names of our fields.
SORT_KEYS: Mapping[str, Callable[[InstanceView], Any]] = {
    "created_at": lambda shown: (shown.created_at, shown.key),
    "key": lambda shown: shown.key,
    "state": lambda shown: ([ACTIVE, COMPLETED, FAILED, TERMINATED].index(shown.state), shown.key),
    "business_key": lambda shown: (shown.root.business_key or "", shown.key),
    "bpmn_process_id": lambda shown: (shown.root.bpmn_process_id, shown.key),
}


def is_asked(shown: InstanceView, asked: Mapping[str, Any]) -> bool:
    """Say whether a child is what a question about instances asks for."""
    root = shown.root
    return (
        asked.get("state") in (None, shown.state)
        and asked.get("processDefinitionKey") in (None, root.definition_key)
        and asked.get("bpmnProcessId") in (None, root.bpmn_process_id)
        and asked.get("businessKey") in (None, root.business_key)
        and asked.get("activityId") in (None, *(each.element_id for each in shown.waiting))
        and asked.get("createdFrom", shown.created_at) <= shown.created_at
        and asked.get("createdTo", shown.created_at) >= shown.created_at
    )


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A row of the history, with what the model says of its element."""

    row: HistoryRow
    process: Process

    @property
    def element_type(self) -> str:
        """The kind of the element, or that it is a flow."""
        if self.row.is_flow:
            return SEQUENCE_FLOW
        return ELEMENT_TYPES[self.process.elements[self.row.element_id].kind]

    @property
    def completed_at(self) -> datetime | None:
        """When it was left; what was interrupted or cancelled never was."""
        return None if self.row.was_terminated else self.row.ended_at
