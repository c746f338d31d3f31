"""Process instances: started, read, changed and cancelled by their own key."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from chalicelib.engine.commands import (
    CancelInstance,
    CreateInstance,
    DeleteVariable,
    SetVariables,
)
from chalicelib.engine.state import Instance, RecordKey, Variables
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance, start
from chalicelib.operations.definitions import not_found
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions, instances
from chalicelib.store.definitions import Definition

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


def create_process_instance(ports: Ports, wanted: Start) -> Found:
    """Start an instance and let it run until all its tokens wait.

    Raises: Rejected if nothing is named, the definition is unknown or has no plain start;
        TooLarge; Conflict.
    """
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
    instance = start(ports, definition, command).after
    return Found(instance.key, instance, definition)


def get_process_instance(ports: Ports, key: int) -> Found:
    """Return an instance by its key, or by that of a scope within it, with its variables.

    Raises: Rejected(NOT_FOUND).
    """
    instance = instances.load(ports.table, key, [RecordKey(Variables, key)])
    if instance is None or (key != instance.key and key not in instance.root.live):
        raise instance_not_found(key)
    definition = definitions.get(ports.table, instance.root.definition_key)
    if definition is None:
        raise RuntimeError(f"instance {key}: definition {instance.root.definition_key} is missing")
    return Found(key, instance, definition)


def cancel_process_instance(ports: Ports, key: int) -> None:
    """End an instance and all that is open in it. Raises: Rejected; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, CancelInstance())


def update_variables(ports: Ports, key: int, variables: JsonObject) -> None:
    """Merge variables into an instance's own. Raises: Rejected, also TooLarge; Conflict."""
    _require_whole(ports, key)
    advance(ports, key, SetVariables(variables))


def delete_variable(ports: Ports, key: int, name: str) -> None:
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
