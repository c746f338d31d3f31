"""One evaluation of a decision under way: FEEL's, and what there is to tell of it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from chalicelib.dmn.errors import DecisionWarning
from chalicelib.dmn.limits import RECORDS_MAX
from chalicelib.feel import DateAndTime, Value, WarningType
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.limits import WARNINGS_MAX


class EvaluatedInput(NamedTuple):
    """What an input column of a table was given."""

    id: str
    name: str
    expression: str
    value: Value


class EvaluatedOutput(NamedTuple):
    """What an output column of a matched rule says."""

    id: str
    name: str
    value: Value


class MatchedRule(NamedTuple):
    """A rule that decided; `number` counts from 1."""

    id: str
    number: int
    outputs: tuple[EvaluatedOutput, ...]


class EvaluatedDecision(NamedTuple):
    """One decision that was made on the way, with its value.

    Shapes: `kind` is the tag of its expression in DMN's XML, None without one; `inputs` and
        `rules` are of the decision table that it is; none for other kinds.
    """

    id: str
    name: str
    kind: str | None
    value: Value
    inputs: tuple[EvaluatedInput, ...] = ()
    rules: tuple[MatchedRule, ...] = ()


class Run(Evaluation):
    """What all steps of one evaluation share.

    Shapes: `located` holds the warnings with their elements, `audit` the decisions in the order
        they were made, `table` what the last table that was evaluated says.
    """

    __slots__ = ("audit", "located", "matched", "table")

    def __init__(
        self, now: DateAndTime | None, random_bits: Callable[[int], int] | None = None
    ) -> None:
        super().__init__({}, [], [], now, random_bits)
        self.located: list[DecisionWarning] = []
        self.audit: list[EvaluatedDecision] = []
        self.table: tuple[tuple[EvaluatedInput, ...], tuple[MatchedRule, ...]] = ((), ())
        self.matched = 0

    def locate(self, element: str) -> None:
        """Say of the warnings left since the last time that they are of an element."""
        warnings = self.warnings
        if not warnings:
            return
        for type_, message, offset in warnings[: WARNINGS_MAX - len(self.located)]:
            self.located.append(DecisionWarning(element, type_.value, message, offset))
        warnings.clear()

    def tell(
        self, element: str, message: str, type_: WarningType = WarningType.INVALID_TYPE
    ) -> None:
        """Leave a reason for a null that is none of an expression's own."""
        self.locate(element)
        self.warn(type_, message)
        self.locate(element)

    def record(self, decision: EvaluatedDecision) -> None:
        """Note a decision that was made, while there are not too many."""
        if len(self.audit) < RECORDS_MAX:
            self.audit.append(decision)

    def note(self, inputs: tuple[EvaluatedInput, ...], rules: tuple[MatchedRule, ...]) -> None:
        """Note what a table was given and which of its rules decided."""
        self.matched += len(rules)
        kept = rules if self.matched <= RECORDS_MAX else ()
        self.table = inputs, kept
