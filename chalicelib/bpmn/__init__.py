"""BPMN: XML to compiled processes, and these to JSON and back.

Whoever only runs compiled processes imports `model`, `codec` and `timers`, and never reads XML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chalicelib.bpmn.model import Process
    from chalicelib.bpmn.refusals import Refused
    from chalicelib.profile import Profile


def parse(xml: bytes, profile: Profile) -> list[Process]:
    """Compile every executable process of a BPMN file. Raises: Rejected."""
    from chalicelib.bpmn.parser import parse as parse_file  # noqa: PLC0415 - only deployments read XML

    return parse_file(xml, profile)


def located(xml: bytes, problems: Iterable[tuple[str, str, str]]) -> Refused:
    """Return the refusal of elements, each with its id, name and line (`placed_faults.py`)."""
    from chalicelib.bpmn.placed_faults import located as in_file  # noqa: PLC0415 - as above

    return in_file(xml, problems)
