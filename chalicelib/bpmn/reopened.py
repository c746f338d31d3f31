"""Scopes that are opened again so that what was done in them is undone.

No tag of the model stands for one: an element is made for it, beside each subprocess that has
something inside which can be undone.

Source: BPMN 2.0.2 section 13.5.5 (compensation).
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bpmn.model import NAME_MAX, REOPENED, SCOPES, Element, EventType, Kind

UNDOING = frozenset({Kind.BOUNDARY_EVENT, Kind.START_EVENT})


def with_reopened(elements: Mapping[str, Element]) -> dict[str, Element]:
    """Add what is opened again; one whose id would be too long is left out."""
    made = dict(elements)
    for event in elements.values():
        if event.event_type is not EventType.COMPENSATION or event.kind not in UNDOING:
            continue
        around = elements.get(event.scope)
        while around is not None and around.kind in SCOPES:
            id_ = around.id + REOPENED
            if not around.triggered_by_event and len(id_) <= NAME_MAX:
                made[id_] = Element(id_, Kind.REOPENED, around.scope, name=around.name)
            around = elements.get(around.scope)
    return made
