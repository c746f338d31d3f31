"""What an ad-hoc subprocess activates, as JSON and back (see `codec.py`)."""

from __future__ import annotations

from typing import Any

from chalicelib.bpmn.codec_values import optional_from, optional_to
from chalicelib.bpmn.model import AdHocDefinition


def ad_hoc_to(definition: AdHocDefinition) -> dict[str, Any]:
    """Write a definition without what has its default."""
    row = {
        "active": optional_to(definition.active_elements),
        "results": definition.output_collection,
        "result": optional_to(definition.output_element),
        "completion": optional_to(definition.completion),
        "cancels": None if definition.cancels_remaining else False,
        "sequential": definition.is_sequential or None,
        "activatable": list(definition.activatable),
        "activation": definition.activation,
    }
    return {name: value for name, value in row.items() if value is not None}


def ad_hoc_from(row: dict[str, Any]) -> AdHocDefinition:
    """Read what `ad_hoc_to` wrote."""
    return AdHocDefinition(
        active_elements=optional_from(row.get("active")),
        output_collection=row.get("results"),
        output_element=optional_from(row.get("result")),
        completion=optional_from(row.get("completion")),
        cancels_remaining=row.get("cancels", True),
        is_sequential=row.get("sequential", False),
        activatable=tuple(row["activatable"]),
        activation=row["activation"],
    )
