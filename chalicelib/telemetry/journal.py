"""The journal on AWS and on the laptop: who is told what, and when it is written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chalicelib import logs
from chalicelib.engine.facts import Fact
from chalicelib.logs import Answered
from chalicelib.telemetry import lines, metrics, spans
from chalicelib.telemetry.metrics import Point
from chalicelib.telemetry.spans import Span

POINTS_MAX = 10_000  # kept for one invocation; a turn makes far fewer


@dataclass(slots=True)
class LinesAndMore:
    """Writes lines at once, and hands metrics and spans on if there is somebody to take them.

    Shapes: `write` gets the metrics of a whole invocation, together; `send` one span at a time.
    """

    write: Callable[[Sequence[Point]], None] | None = None
    send: Callable[[Span], None] | None = None
    _points: list[Point] = field(default_factory=list)

    def tell(self, facts: Sequence[Fact]) -> None:
        """Take note of what is committed."""
        for fact in facts:
            logs.note(**lines.subject_of(fact))
            line = lines.line_of(fact)
            if line is not None:
                logs.line(line.level, line.message, **line.fields)
            if self.write is not None and len(self._points) < POINTS_MAX:
                self._points += metrics.points_of(fact)
            if self.send is not None:
                for span in spans.spans_of(fact):
                    self.send(span)

    def end(self, answered: Answered | None) -> None:
        """Take note of the answer to a request, if it was one, and write all that was counted."""
        if answered is not None and self.write is not None:
            self._points += metrics.points_of_answer(answered)
        if answered is not None and self.send is not None:
            self.send(spans.span_of_answer(answered))
        self.flush()

    def flush(self) -> None:
        """Write the metrics that were counted since the last time."""
        points, self._points = self._points, []
        if self.write is not None and points:
            self.write(points)
