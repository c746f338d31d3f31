"""The smallest steps: a text of FEEL, and the check of what a step gives against a type.

Source: DMN 1.5 section 10.3.2.9.4 (what does not conform and cannot be converted is null).
"""

from __future__ import annotations

from chalicelib.dmn.place import Place, Step
from chalicelib.dmn.run import Run
from chalicelib.feel import Value, kind_of
from chalicelib.feel.types import FeelType, coerce


def typed(step: Step, wanted: FeelType | None, element: str) -> Step:
    """Fit what a step gives to a type; null and a warning if it does not fit."""
    if wanted is None:
        return step

    def run_typed(run: Run, variables: dict[str, Value]) -> Value:
        return fitted(run, step(run, variables), wanted, element)

    return run_typed


def fitted(run: Run, value: Value, wanted: FeelType | None, element: str) -> Value:
    """Fit a value to a type; null and a warning if it does not fit."""
    fits, converted = coerce(run, value, wanted)
    if not fits and wanted is not None:
        run.tell(
            element, f"expected an allowed value of type {wanted.name}, found {kind_of(value)}"
        )
    return converted


def text_step(text: str, place: Place) -> Step:
    """Compile a text of FEEL; one that is empty or does not parse is null, and a problem."""
    element = place.element
    if not text:
        place.problem("expected an expression, found none")
    expression = place.expression(text) if text else None
    if expression is None:
        return null_step(element, "the expression does not parse" if text else "no expression")

    def run_text(run: Run, variables: dict[str, Value]) -> Value:
        value = expression.within(run, variables)
        if run.warnings:
            run.locate(element)
        return value

    return run_text


def null_step(element: str, message: str) -> Step:
    """Give null, and say why."""

    def run_null(run: Run, variables: dict[str, Value]) -> Value:
        run.tell(element, message)
        return None

    return run_null
