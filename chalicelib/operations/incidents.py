"""Incidents: what waits for an operator, and the operator's word that it is mended."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.engine.commands import ResolveIncident
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


def get_open_incidents(ports: Ports, bpmn_process_id: str | None, cut: Cut) -> Listed[OpenIncident]:
    """Return a page of the open incidents of all instances, the newest first."""
    return incidents.list_open(ports.table, bpmn_process_id, cut)
