"""Sweep messages: "look at a part of the live table", each with the cursor it goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from chalicelib import json_text
from chalicelib.delivery import bodies
from chalicelib.errors import Reason, Rejected
from chalicelib.ports import Attribute
from chalicelib.store.moments import to_ms
from chalicelib.store.sweeping import Of

SWEEP = "sweep"


@dataclass(frozen=True, slots=True)
class Part:
    """What is left to look at `of` something in one segment; `began` is when the sweep did.

    Shapes: `cursor` is the key of the last item looked at, None at the segment's begin;
        `instances` and `jobs` are what the parts before it found open (`store/census.py`).
    """

    segment: int
    segments: int
    began: datetime
    cursor: Mapping[str, Attribute] | None = None
    instances: int = 0
    jobs: int = 0
    of: Of = Of.ALL


def is_sweep(text: str) -> bool:
    """Say whether a message of the commands queue is for the sweeper."""
    return bodies.parse(text).get("do") == SWEEP


def to_text(part: Part) -> str:
    """Write a part as a message body."""
    return json_text.dumps(
        {
            "do": SWEEP,
            "segment": part.segment,
            "segments": part.segments,
            "sent": to_ms(part.began),
            "cursor": None if part.cursor is None else dict(part.cursor),
            "instances": part.instances,
            "jobs": part.jobs,
            "of": part.of.value,
        }
    )


def from_text(text: str) -> Part:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is not a sweep message."""
    body = bodies.parse(text)
    cursor = body.get("cursor")
    if not isinstance(cursor, dict | None):
        raise Rejected(Reason.INVALID_ARGUMENT, f"expected the key of an item, found {cursor!r}")
    return Part(
        segment=bodies.integer(body, "segment"),
        segments=bodies.integer(body, "segments"),
        began=bodies.moment(body, "sent"),
        cursor=cursor,
        instances=bodies.integer(body, "instances"),
        jobs=bodies.integer(body, "jobs"),
        of=Of(bodies.text(body, "of")) if "of" in body else Of.ALL,
    )
