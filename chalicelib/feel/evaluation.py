"""One evaluation under way: its variables, what it has spent, and the warnings it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.feel.deadline import NEVER, Deadline
from chalicelib.feel.errors import FeelError, FeelWarning, WarningType
from chalicelib.feel.limits import (
    CALLS_MAX,
    LIST_MAX,
    MESSAGE_MAX,
    POLL_STEPS,
    STEPS_MAX,
    WARNINGS_MAX,
)
from chalicelib.feel.temporal import DateAndTime
from chalicelib.feel.values import ITEMS_PER_STEP, Value, from_python

# A closure: what an expression is compiled to.
Closure = Callable[["Evaluation"], Value]


class Evaluation:
    """What the closures of one evaluation share.

    `slots` holds the values of the names that the expression itself binds, at the places the
    compiler gave them. A call swaps `slots`, `variables` and `taken` for those of the function
    and back, so a scope is never copied per iteration.
    """

    __slots__ = (
        "calls",
        "deadline",
        "look_at",
        "now",
        "random_bits",
        "slots",
        "steps",
        "taken",
        "variables",
        "warnings",
    )

    def __init__(
        self,
        variables: Mapping[str, Any],
        slots: list[Value],
        warnings: list[FeelWarning] | None,
        now: DateAndTime | None,
        random_bits: Callable[[int], int] | None,
    ) -> None:
        self.variables = variables
        self.slots = slots
        self.warnings = warnings
        self.now = now
        self.random_bits = random_bits
        self.deadline: Deadline = NEVER  # whoever has a clock sets another one
        self.steps = 0
        self.look_at = POLL_STEPS  # steps at which the limits are looked at
        self.calls = 0
        self.taken: dict[int, tuple[Any, Value]] | None = None

    def warn(self, type_: WarningType, message: str, offset: int = 0) -> None:
        """Leave a reason for a null, if anybody wants to know and there are not too many."""
        warnings = self.warnings
        if warnings is not None and len(warnings) < WARNINGS_MAX:
            warnings.append(FeelWarning(type_, message[:MESSAGE_MAX], offset))

    def spend(self, steps: int = 1) -> None:
        """Count work done: a step is about a microsecond of it.

        Raises: FeelError past STEPS_MAX or the deadline.
        """
        self.steps += steps
        if self.steps >= self.look_at:
            self._look()

    def _look(self) -> None:
        if self.steps > STEPS_MAX:
            raise FeelError(f"the evaluation takes more than {STEPS_MAX} steps")
        self.deadline.check()
        self.look_at = min(self.steps + POLL_STEPS, STEPS_MAX + 1)

    def measure(self, items: int) -> None:
        """Count a list about to be made. Raises: FeelError past LIST_MAX or as `spend`."""
        self.bound(items)
        self.spend(items)

    def bound(self, items: int) -> None:
        """Raises: FeelError for more items of one list than LIST_MAX."""
        if items > LIST_MAX:
            raise FeelError(f"a list would have more than {LIST_MAX} items")

    def enter(self, slots: int, steps: int) -> None:
        """Count a call that begins, the slots it copies and the steps of its body.

        Raises: FeelError past CALLS_MAX nested ones.
        """
        self.calls += 1
        if self.calls > CALLS_MAX:
            raise FeelError(f"functions call each other more than {CALLS_MAX} levels deep")
        self.spend(steps + slots // ITEMS_PER_STEP)

    def take(self, value: Any) -> Value:
        """Take in a list, context or foreign number of the variables, each only once."""
        taken = self.taken
        if taken is None:
            taken = self.taken = {}
        known = taken.get(id(value))
        if known is None:
            # The original is kept beside the result, so its id cannot be given to another.
            known = taken[id(value)] = (value, from_python(value, self.spend))
        return known[1]
