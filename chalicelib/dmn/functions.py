"""Functions that a model defines in boxes: knowledge models, boxed functions, decision services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from chalicelib.dmn import model
from chalicelib.dmn.place import Place, Step
from chalicelib.dmn.run import Run
from chalicelib.dmn.steps import typed
from chalicelib.feel import Value, WarningType
from chalicelib.feel.compiler.calls import bind
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.types import FeelType, coerce
from chalicelib.feel.values import Function, Kind

_FEEL = "FEEL"
_Builder = Callable[[model.Expression | None, Place], Step]


class Signature(NamedTuple):
    """The element that a function is, its parameters with their types, and its result's type."""

    element: str
    parameters: tuple[str, ...]
    wanted: tuple[FeelType | None, ...]
    result: FeelType | None


class ModelFunction(Function):
    """A function of the model, together with the variables of the place it was made at."""

    __slots__ = ("body", "result", "signature", "types", "variables")

    def __init__(self, signature: Signature, body: Step, variables: dict[str, Value]) -> None:
        super().__init__("function", signature.parameters)
        self.types = signature.wanted
        self.result = signature.result
        self.signature = signature
        self.body = body
        self.variables = variables

    def invoke(
        self, run: Evaluation, arguments: Sequence[Value], names: Sequence[str] | None = None
    ) -> Value:
        """Evaluate the body with the arguments; null and a warning if they do not fit."""
        element, parameters, wanted, result = self.signature
        bound = bind(run, parameters, wanted, arguments, names)
        if bound is None:
            message = f"{element}: expected {len(parameters)} fitting arguments: {parameters}"
            run.warn(WarningType.FUNCTION_INVOCATION_FAILURE, message)
            return None
        given = dict(zip(parameters, bound, strict=True))
        run.enter(len(self.variables), 1)
        # What the body warns of is located in it; what the caller did before is the caller's.
        pending, run.warnings = run.warnings, []
        try:
            value = self.body(cast(Run, run), {**self.variables, **given})
        finally:
            run.warnings = pending
            run.calls -= 1
        fits, value = coerce(run, value, result)
        if not fits:
            run.warn(WarningType.INVALID_TYPE, f"{element}: the result is of another type")
        return value


def result_type(type_: FeelType | None) -> FeelType | None:
    """Give the type of a function's results, where either that or its own type is named."""
    if type_ is None or type_.name != Kind.FUNCTION:
        return type_
    return type_.of[-1] if type_.of else None


def build_function(
    node: model.FunctionDefinition, place: Place, build: _Builder, own: FeelType | None = None
) -> Step:
    """Compile a boxed function, of its own type or one with such results; one of Java or PMML is
    null, and a problem.
    """
    if node.kind != _FEEL:
        return _build_foreign(node, place)
    wanted = tuple(place.type(parameter.type_ref) for parameter in node.parameters)
    for parameter, type_ in zip(node.parameters, wanted, strict=True):
        place.know(parameter.name, type_)
    result = result_type(place.type(node.type_ref))
    body = typed(build(node.body, place), result, node.id)
    names = tuple(parameter.name for parameter in node.parameters)
    signature = Signature(node.id, names, wanted, result_type(own) or result)
    return lambda run, variables: ModelFunction(signature, body, variables)


def _build_foreign(node: model.FunctionDefinition, place: Place) -> Step:
    message = f"expected a function of kind FEEL, found {node.kind}, which nothing here can call"
    place.problem(message)

    def run_foreign(run: Run, variables: dict[str, Value]) -> Value:
        run.tell(node.id, message, WarningType.NO_FUNCTION_FOUND)
        return None

    return run_foreign
