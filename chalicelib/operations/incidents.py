"""Incidents: what waits for an operator, and the operator's word that it is mended."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import MarkIncident, ResolveIncident
from chalicelib.engine.state import Incident
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance
from chalicelib.ports import Ports
from chalicelib.store import incidents
from chalicelib.store.incidents import OpenIncident
from chalicelib.store.lists import Cut, Listed


@dataclass(frozen=True, slots=True)
class Mended:
    """What an operator says with a resolve.

    Shapes: `retries` and `retry_at` as in the command; `variables` are set in the same turn,
        where the element that stopped sees them.
    """

    retries: int | None = None
    retry_at: datetime | None = None
    variables: JsonObject = field(default_factory=dict)


def resolve_incident(ports: Ports, key: int, mended: Mended) -> None:
    """Close an incident and let its job or element try again, all of it or nothing (R146).

    Raises: Rejected, also TooLarge; Conflict.
    """
    advance(ports, key, ResolveIncident(key, mended.retries, mended.retry_at, mended.variables))


def mark_incident(ports: Ports, key: int) -> Incident:
    """Note that an operator calls an incident resolved, and return it; the instance stays as it is.

    A mark that is there already, or an end, is left alone.
    Raises: Rejected(NOT_FOUND); Conflict.
    """
    found = incidents.read(ports.table, key)
    if found is None:
        raise lifecycle.no_such("incident", key)
    if found.acknowledged_at is not None or found.resolved_at is not None:
        return found
    advance(ports, key, MarkIncident(key))
    return incidents.read(ports.table, key) or found


def get_incidents(
    ports: Ports, instance_key: int | None, is_marked: bool | None, cut: Cut
) -> Listed[Incident]:
    """Return a page of incidents, the newest first: of an instance, or of all.

    Shapes: `is_marked` asks whether they are called resolved, by a mark or by their end.
    """
    return incidents.list_marked(ports.table, instance_key, is_marked, cut)


def get_open_incidents(ports: Ports, bpmn_process_id: str | None, cut: Cut) -> Listed[OpenIncident]:
    """Return a page of the open incidents of all instances, the newest first."""
    return incidents.list_open(ports.table, bpmn_process_id, cut)
