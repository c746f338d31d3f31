"""A stage whose journal tells everything, to be looked at."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chalicelib.ports import Settings
from chalicelib.telemetry import xray
from chalicelib.telemetry.journal import LinesAndMore
from chalicelib.telemetry.xray import XRay
from tests.operations.stage import Stage

TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
Seen = list[dict[str, Any]]


class Told(Stage):
    """A stage whose journal writes everything: metrics as values, spans as documents."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.points: list[tuple[str, dict[str, str], float]] = []
        self.spans: Seen = []
        self.journal = LinesAndMore(self._count, XRay(Settings(), lambda: "0" * 16, self._span))
        self.ports = replace(self.ports, journal=self.journal)

    def _count(self, points: Any) -> None:
        self.points += [(point.name, dict(point.labels), point.value) for point in points]

    def _span(self, datagram: bytes) -> None:
        self.spans.append(json.loads(datagram.removeprefix(xray.PREAMBLE)))

    def counted(self) -> list[tuple[str, dict[str, str], float]]:
        """Return what was counted since the last time."""
        self.journal.flush()
        points, self.points = self.points, []
        return points

    def clear(self, lines: Seen) -> None:
        """Forget what was told so far."""
        self.counted()
        self.spans.clear()
        lines.clear()
