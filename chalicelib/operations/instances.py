"""Process instances: started, read, listed, changed and cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from chalicelib.bpmn.model import Kind, Process
from chalicelib.engine.commands import (
    CancelInstance,
    CreateInstance,
    DeleteVariable,
    SetVariables,
)
from chalicelib.engine.state import Incident, Instance, RecordKey, Variables
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance, start_once
from chalicelib.operations.definitions import not_found
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions, instances, lists, rows
from chalicelib.store.definitions import Definition
from chalicelib.store.lists import Cut, Listed, WantedInstances
from chalicelib.store.marks import Once
from chalicelib.store.rows import HistoryRow

UNKNOWN_PROCESS = -1  # what upstream's message names for a process id nobody deployed


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start: a definition by key, else the latest of a process id in a profile."""

    definition_key: int | None = None
    bpmn_process_id: str | None = None
    profile: Profile
    variables: JsonObject = field(default_factory=dict)
    business_key: str | None = None
    time_to_live: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """An instance as it is, or one scope of it, with its definition."""

    key: int
    instance: Instance
    definition: Definition


def create_process_instance(ports: Ports, wanted: Start, once: Once | None = None) -> Found:
    """Start an instance and let it run until all its tokens wait.

    Returns, for a request that was done before, the instance that it started, as it is now.
    Raises: Rejected if nothing is named, the definition is unknown or has no plain start;
        TooLarge; Conflict.
    """
    key = done_before(ports, once)
    if key is None:
        started = _start(ports, wanted, once)
        if started is not None:
            return started
        key = done_before(ports, once)
        assert key is not None, "a start is refused without an end only when it is marked"
    return get_process_instance(ports, key)


def _start(ports: Ports, wanted: Start, once: Once | None) -> Found | None:
    """Start an instance; None if the same request did so meanwhile."""
    definition = _definition(ports, wanted)
    if definition.process.start is None:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"process {definition.bpmn_process_id} has no start event without a trigger",
        )
    command = CreateInstance(
        definition_key=definition.key,
        definition_version=definition.version,
        profile=definition.profile,
        variables=wanted.variables,
        business_key=wanted.business_key,
        time_to_live=wanted.time_to_live or _time_to_live(ports),
    )
    turn = start_once(ports, definition, command, once)
    return None if turn is None else Found(turn.after.key, turn.after, definition)


def get_process_instance(ports: Ports, key: int) -> Found:
    """Return an instance by its key, or by that of a scope within it, with its variables.

    Raises: Rejected(NOT_FOUND).
    """
    instance = instances.load(ports.table, key, [RecordKey(Variables, key)])
    if instance is None or (key != instance.key and key not in instance.root.live):
        raise instance_not_found(key)
    return Found(key, instance, _definition_of(ports, instance))


def get_process_instances(
    ports: Ports, wanted: WantedInstances, bpmn_process_id: str | None, cut: Cut
) -> Listed[Found]:
    """Return a page of whole instances, those of a process id if one is named."""
    if bpmn_process_id is not None:
        infos = definitions.list_all(ports.table)
        keys = {info.key for info in infos if info.bpmn_process_id == bpmn_process_id}
        named = keys if wanted.definition_keys is None else keys & wanted.definition_keys
        wanted = replace(wanted, definition_keys=frozenset(named))
    listed = lists.list_instances(ports.table, wanted, cut)
    found = [Found(each.key, each, _definition_of(ports, each)) for each in listed.items]
    return Listed(found, listed.total, listed.is_floor)


def get_children(ports: Ports, key: int) -> list[Found]:
    """Return the live subprocesses that are directly in an instance, or in one scope of it."""
    instance = instances.load(ports.table, key)
    if instance is None:
        return []
    definition = _definition_of(ports, instance)
    elements = definition.process.elements
    children = [
        each.key
        for each in instance.root.live.values()
        if each.scope == key and elements[each.element_id].kind is Kind.SUB_PROCESS
    ]
    scopes = [RecordKey(Variables, child) for child in children]
    whole = instances.read_more(ports.table, instance, scopes)
    return [Found(child, whole, definition) for child in children]


def get_process_instance_history(
    ports: Ports, key: int, cut: Cut
) -> tuple[Listed[HistoryRow], Process | None]:
    """Return a page of what happened in an instance, and the process it followed.

    A key that names nothing has an empty history.
    """
    instance = instances.load(ports.table, key)
    if instance is None or key != instance.key:
        return Listed([], 0), None
    process = _definition_of(ports, instance).process
    return rows.list_history(ports.table, key, cut), process


def get_process_instance_incidents(
    ports: Ports, key: int, is_resolved: bool | None, cut: Cut
) -> Listed[Incident]:
    """Return a page of an instance's incidents, the newest first."""
    found = [
        incident
        for incident in lists.incidents_of(ports.table, key)
        if is_resolved in (None, incident.resolved_at is not None)
    ]
    found.sort(key=lambda incident: incident.key, reverse=not cut.ascending)
    return Listed(found[cut.first : cut.first + cut.size], len(found))


def cancel_process_instance(ports: Ports, key: int) -> None:
    """End an instance and all that is open in it. Raises: Rejected; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, CancelInstance())


def update_process_instance_variables(ports: Ports, key: int, variables: JsonObject) -> None:
    """Merge variables into an instance's own. Raises: Rejected, also TooLarge; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, SetVariables(variables))


def delete_process_instance_variable(ports: Ports, key: int, name: str) -> None:
    """Remove one of an instance's own variables. Raises: Rejected; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, DeleteVariable(name))


def instance_not_found(key: int) -> Rejected:
    """Return the refusal of a key that names no process instance."""
    return Rejected(Reason.NOT_FOUND, f"process instance {key} was not found")


def _require_whole(ports: Ports, key: int) -> None:
    """Refuse keys of what belongs to an instance: `advance` would take them for it."""
    instance = instances.load(ports.table, key)
    if instance is None or (key != instance.key and key not in instance.root.live):
        raise instance_not_found(key)
    if key != instance.key:
        raise Rejected(
            Reason.INVALID_STATE,
            f"process instance {key} is a child of {instance.key}, which is to be asked instead",
        )


def _definition_of(ports: Ports, instance: Instance) -> Definition:
    key = instance.root.definition_key
    definition = definitions.get(ports.table, key)
    if definition is None:
        raise RuntimeError(f"instance {instance.key}: definition {key} is missing")
    return definition


def _definition(ports: Ports, wanted: Start) -> Definition:
    if wanted.definition_key is not None:
        named = definitions.get(ports.table, wanted.definition_key)
    elif wanted.bpmn_process_id:
        named = definitions.latest(ports.table, wanted.bpmn_process_id, wanted.profile)
    else:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            "expected a process definition key or a BPMN process id, found neither",
        )
    if named is None:
        raise not_found(UNKNOWN_PROCESS if wanted.definition_key is None else wanted.definition_key)
    return named


def _time_to_live(ports: Ports) -> timedelta | None:
    seconds = ports.settings.history_time_to_live_s
    return timedelta(seconds=seconds) if seconds else None
