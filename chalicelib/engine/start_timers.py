"""Timer start events: when they fire, from the deployment of their process on.

They are evaluated once, when the process is deployed, with nothing but the moment to go by; what
has no sensible value is refused there. A cycle goes on by its grid: after one firing, and after
now, so those that were missed fire once.

Source: BPMN 2.0.2 section 10.5.2 (start events); contracts/bpmn.md 3.1 (timer start).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.model import Element, Process
from chalicelib.bpmn.timers import Firing, first_firing, next_firing
from chalicelib.engine.expressions import compile_value, extract_text
from chalicelib.engine.stuck import Stuck
from chalicelib.errors import Reason, Rejected
from chalicelib.feel.moment import Moment

CYCLE = "cycle"
TIMER = "timer"  # what messages call it
STARTS_MAX = 100  # timer start events of a process: their state is one attribute, of 50 kB at most


@dataclass(frozen=True, slots=True)
class StartTimer:
    """A timer start event that waits for its due second, with what is left of its cycle.

    Shapes: as of a `Timer`.
    """

    due: datetime
    anchor: datetime
    remaining: int | None = 0
    interval: str | None = None


class NeverStarts(Rejected):
    """Timer start events of a process have no sensible value.

    Shapes: `problems` are the ids of each element, or of the process, and what is wrong with it.
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        told = (f'"{element_id}": {problem}' for element_id, problem in problems)
        super().__init__(Reason.INVALID_ARGUMENT, "\n".join(told))
        self.problems = tuple(problems)


def first_starts(process: Process, moment: Moment) -> Mapping[str, StartTimer]:
    """Say when the timer start events of a process that is deployed now fire first, by names.

    One that never fires, such as a cycle whose end is past, is left out.
    Raises: NeverStarts with all of them that could not be planned.
    """
    elements = process.timer_starts()
    if len(elements) > STARTS_MAX:
        found = f"expected at most {STARTS_MAX} timer start events, found {len(elements)}"
        raise NeverStarts([(process.id, found)])
    planned: dict[str, StartTimer] = {}
    refused = []
    for name, element in elements.items():
        try:
            timer = _first(element, moment)
        except (Stuck, InvalidTime) as error:
            refused.append((element.id, _why(error)))
        else:
            planned |= {} if timer is None else {name: timer}
    if refused:
        raise NeverStarts(refused)
    return planned


def next_start(timer: StartTimer, now: datetime) -> StartTimer | None:
    """Say when a timer start event fires after a firing; None if that was its last."""
    if timer.interval is None:
        return None
    fired = Firing(timer.due, timer.remaining, timer.anchor)
    following = next_firing(timer.interval, fired, now)
    return None if following is None else _timer(following, timer.interval)


def _first(element: Element, moment: Moment) -> StartTimer | None:
    """Plan one timer. Raises: Stuck, InvalidTime."""
    assert element.timer is not None
    kind, compute = element.timer.kind, compile_value(element.timer.value)
    text = extract_text(compute, {}, moment, TIMER)
    firing = first_firing(kind, text, moment.now)
    return None if firing is None else _timer(firing, text if kind == CYCLE else None)


def _why(error: Stuck | InvalidTime) -> str:
    if isinstance(error, Stuck):
        return f"{error.message}; it is evaluated at deployment, where there are no variables"
    return f"{TIMER}: {error}"


def _timer(firing: Firing, interval: str | None) -> StartTimer:
    return StartTimer(firing.due, firing.anchor, firing.remaining, interval)
