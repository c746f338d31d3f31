"""Subprocesses of an instance, as clients of ZenBPM see them: instances under their scope's key.

A scope that is live is part of the root; one that ended is told by the history alone, which is
asked only for keys and lists that can mean one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from chalicelib.bpmn.model import SCOPES, EventType, Kind, Process
from chalicelib.engine.state import Instance, RecordKey, Variables
from chalicelib.errors import Reason, Rejected
from chalicelib.ports import Ports
from chalicelib.store import definitions, instances, lists, rows
from chalicelib.store.definitions import Definition
from chalicelib.store.lists import LIST_MAX, QUERY_COSTS
from chalicelib.store.rows import ScopeRow

UNDOING = frozenset({EventType.COMPENSATION, EventType.CANCEL})
THROWING = frozenset({Kind.INTERMEDIATE_THROW_EVENT, Kind.END_EVENT})
PARTS_LOOKS_MAX = LIST_MAX // QUERY_COSTS  # instances that one answer is read from


@dataclass(frozen=True, slots=True)
class Found:
    """An instance as it is, or one scope of it, with its definition.

    Shapes: `ended` is the scope if it is over.
    """

    key: int
    instance: Instance
    definition: Definition
    ended: ScopeRow | None = None

    @property
    def scope(self) -> int | None:
        """The scope that is meant; None for all of the instance."""
        return None if self.key == self.instance.key else self.key


def find(ports: Ports, key: int) -> Found | None:
    """Return the instance or the subprocess of a key, with its variables; None if it names none."""
    instance = instances.load(ports.table, key, [RecordKey(Variables, key)])
    if instance is None:
        return None
    definition = definition_of(ports, instance)
    if key == instance.key or is_live(instance, key, definition.process):
        return Found(key, instance, definition)
    row = _rows(ports, instance, definition.process).get(key)
    return None if row is None else Found(key, instance, definition, row)


def require(ports: Ports, key: int) -> Found:
    """Return the instance or the subprocess of a key. Raises: Rejected(NOT_FOUND)."""
    found = find(ports, key)
    if found is None:
        raise not_found(key)
    return found


def not_found(key: int) -> Rejected:
    """Return the refusal of a key that names no process instance."""
    return Rejected(Reason.NOT_FOUND, f"process instance {key} was not found")


def children(ports: Ports, key: int) -> list[Found]:
    """Return the subprocesses directly in an instance, or in one scope of it, live and ended, and
    the instances that were called there."""
    instance = instances.load(ports.table, key)
    if instance is None:
        return []
    whole = Found(instance.key, instance, definition_of(ports, instance))
    scopes = _inside(ports, whole, key)
    return scopes + _called(ports, instance, key, whole.definition.process)


def with_scopes(ports: Ports, found: Iterable[Found]) -> list[Found]:
    """Return instances, each with all that are shown as its children and are scopes of it."""
    return [each for whole in found for each in (whole, *_inside(ports, whole, None))]


def _inside(ports: Ports, whole: Found, key: int | None) -> list[Found]:
    """Return the scopes of an instance, live and ended: those directly in one, or all."""
    instance, definition = whole.instance, whole.definition
    found = _rows(ports, instance, definition.process).values()
    wanted = [row for row in found if key in (None, row.scope)]
    live = [row.key for row in wanted if row.key in instance.root.live]
    read = instances.read_more(ports.table, instance, [RecordKey(Variables, each) for each in live])
    return [Found(row.key, read, definition, None if row.key in live else row) for row in wanted]


def _called(ports: Ports, instance: Instance, key: int, process: Process) -> list[Found]:
    """Return the instances that were called directly in an instance, or in one scope of it."""
    if not any(element.called or element.many for element in process.elements.values()):
        return []
    found = rows.child_rows(ports.table, instance.key)
    whole = lists.whole(ports.table, [child for child, scope in found.items() if scope == key])
    return [Found(each.key, each, definition_of(ports, each)) for each in whole]


def parts(ports: Ports, found: Found) -> tuple[list[Instance], bool]:
    """Return the instances that do parts of the bodies in an instance, and in these, or, for the
    key of a body, of that alone; at most PARTS_LOOKS_MAX, and whether there are more."""
    if not any(element.many for element in found.definition.process.elements.values()):
        return [], False
    parted, bound, scope = [found.instance], PARTS_LOOKS_MAX, found.scope
    for each in parted:  # which grows by what has parts of its own
        called = rows.child_rows(ports.table, each.key)
        wanted = [child for child, around in called.items() if scope in (None, around)]
        parted += [one for one in lists.whole(ports.table, wanted) if one.root.is_part]
        if len(parted) - 1 > bound:
            return parted[1 : bound + 1], True
        if scope is not None:
            break
    return parted[1:], False


def is_live(instance: Instance, key: int, process: Process) -> bool:
    """Say whether a key is that of a subprocess which goes on."""
    root = instance.root
    element = root.live.get(key)
    if element is None or element.loop:
        return False
    around = root.live.get(element.scope)
    is_iteration = around is not None and (
        around.loop > 0 or around.element_id == element.element_id
    )
    return _owns_scope(process, element.element_id, is_iteration)


def definition_of(ports: Ports, instance: Instance) -> Definition:
    """Return the definition that an instance follows."""
    key = instance.root.definition_key
    definition = definitions.get(ports.table, key)
    if definition is None:
        raise RuntimeError(f"instance {instance.key}: definition {key} is missing")
    return definition


def _rows(ports: Ports, instance: Instance, process: Process) -> dict[int, ScopeRow]:
    """Return the scopes of an instance; a process without subprocesses is not asked."""
    if not any(_owns_scope(process, id_, False) for id_ in process.elements):
        return {}
    return rows.scope_rows(ports.table, instance.key, partial(_owns_scope, process))


def _owns_scope(process: Process, element_id: str, is_iteration: bool) -> bool:
    """Say whether an element has others inside: a subprocess, the body of many or of rounds, or
    what asks for compensation, where handlers run."""
    element = process.elements[element_id]
    is_body = element.many is not None or element.loop is not None
    undoes = element.event_type in UNDOING and element.kind in THROWING
    return element.kind in SCOPES or undoes or (is_body and not is_iteration)


def is_body(found: Found) -> bool:
    """Say whether what was found is the body of a multi-instance activity."""
    key, live = found.key, found.instance.root.live
    if found.ended is not None:
        element_id, is_iteration = found.ended.element_id, found.ended.is_iteration
    elif key in live:
        around = live.get(live[key].scope)
        element_id, is_iteration = live[key].element_id, around is not None and around.loop > 0
    else:
        return False
    return found.definition.process.elements[element_id].many is not None and not is_iteration
