"""What an instance did, told by the names that its model gives."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib import bpmn
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile

FLOW = "SEQUENCE_FLOW"


def names_of(xml: bytes) -> dict[str, str]:
    """Return the name of each element of a model, its id where it has none. Raises: Rejected."""
    return {
        element.id: (element.name or element.id).replace("\n", " ")
        for process in bpmn.parse(xml, Profile.ZENBPM)
        for element in process.elements.values()
    }


def completed(history: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the rows of elements that were left, in that order, flows not among them."""
    rows = [row for row in history if row["elementType"] != FLOW and row.get("completedAt")]
    return sorted(rows, key=lambda row: (str(row["completedAt"]), int(row["key"])))
