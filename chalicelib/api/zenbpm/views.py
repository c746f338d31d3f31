"""Our records as ZenBPM's clients see them.

An embedded subprocess is a scope of its instance in storage; under `/v1` it is a process instance
of its own, a child, under the scope's own key (contracts/zenbpm.md section 9).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from chalicelib.bpmn.model import Kind, Process
from chalicelib.engine.state import (
    ElementInstance,
    Instance,
    InstanceState,
    RecordKey,
    Root,
    Variables,
)
from chalicelib.json_text import JsonObject

DEFAULT, SUBPROCESS = "default", "subprocess"
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


def view(instance: Instance, key: int, process: Process) -> InstanceView | None:
    """Return what a key of an instance shows: the whole, a live subprocess, or nothing."""
    root = instance.root
    waiting = tuple(element for element in root.live.values() if element.scope == key)
    if key == root.key:
        return InstanceView(
            key=key,
            root=root,
            created_at=root.created_at,
            state=_state(root, waiting),
            variables=variables_of(instance, key),
            waiting=waiting,
            version_tag=process.version_tag,
        )
    scope = root.live.get(key)
    if scope is None or process.elements[scope.element_id].kind is not Kind.SUB_PROCESS:
        return None
    return InstanceView(
        key=key,
        root=root,
        created_at=scope.created_at,
        state=_state(root, waiting),
        variables=variables_of(instance, key),
        waiting=waiting,
        version_tag=process.version_tag,
        process_type=SUBPROCESS,
        parent_key=scope.scope,
    )


def variables_of(instance: Instance, scope: int) -> JsonObject:
    """Return the variables that a scope owns, as far as they were read."""
    record = instance.records.get(RecordKey(Variables, scope))
    return record.values if isinstance(record, Variables) else {}


def token_state(element: ElementInstance) -> str:
    """Say how an element's token is; one whose job failed keeps waiting (section 2.2)."""
    return TOKEN_FAILED if _is_stuck(element) else TOKEN_WAITS


def _state(root: Root, waiting: Iterable[ElementInstance]) -> str:
    if root.state is not InstanceState.ACTIVE:
        return _ENDED[root.state]
    return FAILED if any(map(_is_stuck, waiting)) else ACTIVE


def _is_stuck(element: ElementInstance) -> bool:
    return element.incident is not None and element.job is None
