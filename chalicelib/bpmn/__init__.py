"""BPMN: XML to compiled processes, and these to JSON and back.

Whoever only runs compiled processes imports `model`, `codec` and `timers`, and never reads XML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.bpmn.model import Process
    from chalicelib.bpmn.process import Judge
    from chalicelib.profile import Profile


def parse(xml: bytes, profile: Profile, judge: Judge | None = None) -> list[Process]:
    """Compile every executable process of a BPMN file. Raises: Rejected."""
    from chalicelib.bpmn.parser import parse as parse_file  # noqa: PLC0415 - only deployments read XML

    return parse_file(xml, profile, judge)
