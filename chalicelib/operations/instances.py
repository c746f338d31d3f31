"""Process instances: started, read, listed, changed and cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from chalicelib.bpmn.model import Process
from chalicelib.engine.commands import (
    ActivateElements,
    CancelInstance,
    CreateInstance,
    DeleteVariable,
    ModifyInstance,
    SetVariables,
)
from chalicelib.engine.state import Incident
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import scopes
from chalicelib.operations.advance import advance, start_once
from chalicelib.operations.definitions import not_found
from chalicelib.operations.repeats import done_before
from chalicelib.operations.retention import time_to_live
from chalicelib.operations.scopes import Found
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions, lists, rows
from chalicelib.store.definitions import Definition
from chalicelib.store.lists import LIST_MAX, QUERY_COSTS, Cut, Listed, WantedInstances
from chalicelib.store.marks import Once
from chalicelib.store.rows import HistoryRow

SCOPES_LOOKS_MAX = LIST_MAX // QUERY_COSTS  # instances of one list whose history is read
PRIOR = " (prior loaded into the engine)"  # upstream's words of starts elsewhere
UNKNOWN_PROCESS = -1  # what upstream's message names for a process id nobody deployed


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start: a definition by key, else the latest of a process id in a profile.

    Shapes: without `starting_elements` it begins at the none start event, else at those; a
        `time_to_live` of 0 keeps it for ever, None as long as the setting says.
    """

    definition_key: int | None = None
    bpmn_process_id: str | None = None
    profile: Profile
    variables: JsonObject = field(default_factory=dict)
    business_key: str | None = None
    time_to_live: timedelta | None = None
    starting_elements: tuple[str, ...] = ()


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
    if definition.process.start is None and not wanted.starting_elements:
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
        time_to_live=time_to_live(ports, wanted.time_to_live),
        starting_elements=wanted.starting_elements,
    )
    turn = start_once(ports, definition, command, once)
    return None if turn is None else Found(turn.after.key, turn.after, definition)


def get_process_instance(ports: Ports, key: int) -> Found:
    """Return an instance by its key, or by that of a scope within it, with its variables.

    Raises: Rejected(NOT_FOUND).
    """
    return scopes.require(ports, key)


def get_whole_instance(ports: Ports, key: int) -> Found:
    """Return an instance by its own key alone, with its variables. Raises: Rejected(NOT_FOUND)."""
    found = scopes.find(ports, key)
    if found is None or found.scope is not None:
        raise scopes.not_found(key)
    return found


def get_process_instances(
    ports: Ports, wanted: WantedInstances, bpmn_process_id: str | None, cut: Cut
) -> Listed[Found]:
    """Return a page of whole instances, those of a process id if one is named."""
    if bpmn_process_id is not None:
        infos = definitions.list_all(ports.table, with_deleted=True)
        keys = {info.key for info in infos if info.bpmn_process_id == bpmn_process_id}
        named = keys if wanted.definition_keys is None else keys & wanted.definition_keys
        wanted = replace(wanted, definition_keys=frozenset(named))
    listed = lists.list_instances(ports.table, wanted, cut)
    found = [Found(each.key, each, scopes.definition_of(ports, each)) for each in listed.items]
    return Listed(found, listed.total, listed.is_floor)


def get_process_instances_with_scopes(
    ports: Ports, wanted: WantedInstances, bpmn_process_id: str | None
) -> Listed[Found]:
    """Return whole instances and all that are shown as children in them, the newest first.

    Shapes: of the newest SCOPES_LOOKS_MAX instances; `is_floor` says that there are more.
    """
    bound = Cut(0, SCOPES_LOOKS_MAX, looks_max=SCOPES_LOOKS_MAX)
    listed = get_process_instances(ports, wanted, bpmn_process_id, bound)
    found = scopes.with_scopes(ports, listed.items)
    return Listed(found, len(found), listed.is_floor)


def get_process_instance_history(
    ports: Ports, key: int, cut: Cut
) -> tuple[Listed[HistoryRow], Process | None]:
    """Return a page of what happened in an instance, and the process it followed.

    Shapes: the key of a subprocess asks for what happened directly in it; one that names
        nothing has an empty history.
    """
    found = scopes.find(ports, key)
    if found is None:
        return Listed([], 0), None
    listed = rows.list_history(ports.table, found.instance.key, cut, found.scope)
    return listed, found.definition.process


def get_process_instance_incidents(
    ports: Ports, key: int, is_resolved: bool | None, cut: Cut
) -> Listed[Incident]:
    """Return a page of an instance's incidents, the newest first: all, or those of one scope, also
    those of instances that do parts of its multi-instance bodies."""
    named = scopes.find(ports, key)
    if named is None:
        return Listed([], 0)
    parts, is_floor = scopes.parts(ports, named)
    homes = [named.instance.key, *(part.key for part in parts)]
    asked = None if named.scope is None else {key, *homes[1:]}
    found = [
        incident
        for home in homes
        for incident in lists.incidents_of(ports.table, home)
        if (asked is None or (incident.scope or incident.instance_key) in asked)
        and is_resolved in (None, incident.resolved_at is not None)
    ]
    found.sort(key=lambda incident: incident.key, reverse=not cut.ascending)
    return cut.page_of(found, is_floor=is_floor)


def cancel_process_instance(ports: Ports, key: int) -> None:
    """End an instance and all that is open in it. Raises: Rejected; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, CancelInstance())


def modify_process_instance(
    ports: Ports, key: int, command: ModifyInstance, once: Once | None = None
) -> Found:
    """Move tokens of an instance, or in a subprocess of it; return what is named as it is then.

    Raises: Rejected, also TooLarge; Conflict.
    """
    if done_before(ports, once) is None:
        found = scopes.require(ports, key)
        home = found.instance.key
        if found.ended is not None:
            raise Rejected(
                Reason.INVALID_STATE, f"subprocess {key} of process instance {home} has ended"
            )
        advance(ports, home, replace(command, scope=found.scope), once)
    return scopes.require(ports, key)


def activate_ad_hoc_sub_process_activities(
    ports: Ports, command: ActivateElements, once: Once | None = None
) -> None:
    """Activate elements of an ad-hoc subprocess. Raises: Rejected, also TooLarge; Conflict."""
    if done_before(ports, once) is None:
        advance(ports, command.key, command, once)


def update_process_instance_variables(ports: Ports, key: int, variables: JsonObject) -> None:
    """Merge variables into an instance's own, or into a subprocess's.

    Raises: Rejected, also TooLarge; Conflict.
    """
    _require_open(ports, key, "Can update")
    advance(ports, key, SetVariables(variables, key))


def delete_process_instance_variable(ports: Ports, key: int, name: str) -> None:
    """Remove one of an instance's own variables, or of a subprocess's.

    Raises: Rejected; Conflict.
    """
    _require_open(ports, key, "can delete")
    advance(ports, key, DeleteVariable(name, key))


def _require_whole(ports: Ports, key: int) -> None:
    """Refuse keys of what belongs to an instance: `advance` would take them for it."""
    found = scopes.require(ports, key)
    if found.scope is not None:
        raise Rejected(
            Reason.INVALID_STATE,
            f"process instance {key} is a child of {found.instance.key}, "
            "which is to be asked instead",
        )
    parent = found.instance.root.parent
    if parent is not None:
        raise Rejected(
            Reason.INVALID_STATE,
            f"process instance {key} is a child of {parent.instance_key}, which is to be asked "
            "instead",
        )


def _require_open(ports: Ports, key: int, what: str) -> None:
    """Refuse keys that name no instance and no subprocess, or a subprocess that has ended."""
    if scopes.require(ports, key).ended is not None:
        raise Rejected(
            Reason.INVALID_STATE,
            f"{what} variables only for process instances in active or failed state",
        )


def _definition(ports: Ports, wanted: Start) -> Definition:
    if wanted.definition_key is not None:
        now = ports.clock.now()
        named = definitions.startable(ports.table, wanted.definition_key, now)
    elif wanted.bpmn_process_id:
        named = definitions.latest_of(ports.table, wanted.bpmn_process_id, wanted.profile)
    else:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            "expected a process definition key or a BPMN process id, found neither",
        )
    if named is None:
        key = UNKNOWN_PROCESS if wanted.definition_key is None else wanted.definition_key
        raise not_found(key, PRIOR if wanted.starting_elements else "")
    return named
