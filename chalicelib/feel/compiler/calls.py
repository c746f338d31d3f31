"""Functions: literals, which keep the scope they were made in, and calls.

Source: DMN 1.5 sections 10.3.2.13 (functions) and 10.3.2.13.2 (named parameters).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.feel import builtins, types
from chalicelib.feel.builtins.signature import BuiltinFunction
from chalicelib.feel.compiler.scope import Scope
from chalicelib.feel.errors import WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.tree import Call, FunctionLiteral, Literal, Name, Parameter
from chalicelib.feel.types import FeelType
from chalicelib.feel.values import Function, Value, kind_of

SLOTS_PER_STEP = 8  # that a function keeps: as long as it lives, so they are dearer than others


class Body:
    """What a function literal is compiled to.

    Shapes: `places` are the slots of the parameters; `steps` are those that one call takes.
    """

    __slots__ = ("closure", "names", "places", "steps", "types")

    def __init__(
        self, parameters: Sequence[Parameter], places: Sequence[int], closure: Closure, steps: int
    ) -> None:
        self.names = [parameter.name for parameter in parameters]
        self.types = [parameter.type for parameter in parameters]
        self.places = places
        self.closure = closure
        self.steps = steps


class UserFunction(Function):
    """A function literal together with the values of the scope it was made in."""

    __slots__ = ("body", "captured", "types", "variables")

    def __init__(self, body: Body, captured: list[Value], variables: Mapping[str, Any]) -> None:
        super().__init__("function", body.names)
        self.types = body.types
        self.body = body
        self.captured = captured
        self.variables = variables

    def invoke(
        self, run: Evaluation, arguments: Sequence[Value], names: Sequence[str] | None = None
    ) -> Value:
        """Evaluate the body with the arguments in their places; null if they do not fit."""
        bound = bind(run, self.parameters, self.types, arguments, names)
        if bound is None:
            message = f"expected {len(self.parameters)} fitting arguments: {self.parameters}"
            run.warn(WarningType.FUNCTION_INVOCATION_FAILURE, message)
            return None
        run.enter(len(self.captured), self.body.steps)
        outside = run.slots, run.variables
        run.slots, run.variables = self.captured.copy(), self.variables
        for place, value in zip(self.body.places, bound, strict=True):
            run.slots[place] = value
        try:
            return self.body.closure(run)
        finally:
            run.slots, run.variables = outside
            run.calls -= 1


def bind(
    run: Evaluation,
    parameters: Sequence[str],
    wanted: Sequence[FeelType | None],
    arguments: Sequence[Value],
    names: Sequence[str] | None,
) -> list[Value] | None:
    """Give the arguments in the order of the parameters, fitted to their types; None if one of
    them does not fit, or they are too many or too few.
    """
    if len(arguments) != len(parameters):
        return None
    if names is not None:
        if set(names) != set(parameters):
            return None
        by_name = dict(zip(names, arguments, strict=True))
        arguments = [by_name[name] for name in parameters]
    bound = []
    for value, type_ in zip(arguments, wanted, strict=True):
        fits, coerced = types.coerce(run, value, type_)
        if not fits:
            return None
        bound.append(coerced)
    return bound


def build_function(node: FunctionLiteral, scope: Scope) -> Closure:
    """`function(a, b) body`, which keeps what it can see; an external one is null here."""
    if node.body is None:
        return _build_external()
    inner = scope.inner()
    places = [inner.declare(parameter.name) for parameter in node.parameters]
    parameters = [_resolved(parameter, scope) for parameter in node.parameters]
    nodes = scope.unit.nodes
    body = Body(parameters, places, inner.build(node.body), scope.steps_since(nodes))

    def make(run: Evaluation) -> Value:
        run.spend(1 + len(run.slots) // SLOTS_PER_STEP)
        return UserFunction(body, run.slots.copy(), run.variables)

    return make


def _resolved(parameter: Parameter, scope: Scope) -> Parameter:
    if parameter.type is None:
        return parameter
    return Parameter(parameter.name, types.resolve(parameter.type, scope.unit.types))


def _build_external() -> Closure:
    def run_external(run: Evaluation) -> None:
        run.warn(WarningType.NO_FUNCTION_FOUND, "external functions are not supported")

    return run_external


def build_call(node: Call, scope: Scope) -> Closure:
    """A call: of a function value if the name is one, else of the built-in function."""
    scope.unit.computes = True
    arguments = [scope.build(argument) for argument in node.arguments]
    if isinstance(node.callee, Name):
        name = node.callee.name
        builtin = builtins.find(name, scope.unit.profile)
        if builtin is not None and scope.find(name)[1] < 0:
            return _build_builtin_call(builtin, name, arguments, node)
    callee = scope.build(node.callee)
    names, offset = node.names, node.offset

    def run_call(run: Evaluation) -> Value:
        function = callee(run)
        values = [argument(run) for argument in arguments]
        return call(run, function, values, names, offset)

    return run_call


def call(
    run: Evaluation,
    function: Value,
    values: list[Value],
    names: Sequence[str] | None,
    offset: int,
) -> Value:
    """Call whatever value stands before the parentheses; null if it is no function."""
    if isinstance(function, Function):
        return function.invoke(run, values, names)
    run.warn(WarningType.NO_FUNCTION_FOUND, f"a {kind_of(function)} cannot be called", offset)
    return None


def _build_builtin_call(
    builtin: BuiltinFunction, name: str, arguments: list[Closure], node: Call
) -> Closure:
    """The commonest call. A variable that holds a function goes before a built-in one."""
    names, offset = node.names, node.offset
    plans = builtin.plans(len(arguments), names)
    constant = _constant(builtin, node)

    def run_builtin(run: Evaluation) -> Value:
        values = [argument(run) for argument in arguments]
        known = run.variables.get(name)
        if known is not None and isinstance(known, Function):
            return known.invoke(run, values, names)
        if constant is not None:
            return constant
        return builtin.apply(run, plans, values, offset)

    return run_builtin


# Functions that read one text, which is mostly written out: then it is read once.
_READERS = frozenset(("date", "time", "date and time", "duration"))


def _constant(builtin: BuiltinFunction, node: Call) -> Value:
    """Give what a call reads from a literal; None if it has to be asked each time."""
    if builtin.name not in _READERS or node.names or len(node.arguments) != 1:
        return None
    argument = node.arguments[0]
    if not isinstance(argument, Literal) or type(argument.value) is not str:
        return None
    return builtin.rows[0].function(argument.value)
