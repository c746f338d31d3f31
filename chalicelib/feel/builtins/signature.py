"""How a built-in function is declared, and how the arguments of a call meet its parameters.

A row names a signature as the standard prints it, such as
`substring(string: string, start position: number, length?: number)`, and the Python function
behind it. `name?` may be left out, `type?` may be null, `list...` is one list or any number of
items, `item*` any number of items, and `a|b` either of two types. A row whose types do not fit
gives way to the next of the same name; null, where no row takes it, makes null.
Source: DMN 1.5 section 10.3.4, contract section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from chalicelib.feel.errors import FeelError, WarningType
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.limits import STRING_MAX
from chalicelib.feel.values import ITEMS_PER_STEP, KINDS, Function, Kind, Value, kind_of

_TYPES: dict[str, frozenset[type]] = {kind: frozenset((type_,)) for type_, kind in KINDS.items()}
_CALLABLE: frozenset[type] = frozenset((Function,))
_LONG = frozenset((list, str, dict))
_ANY = "any"


class Parameter:
    """One parameter of a built-in function.

    Shapes: written as in a signature; `types` is empty if it takes anything, `many` the sign
        for any number of items.
    """

    __slots__ = ("is_nullable", "is_optional", "kind", "many", "name", "types")

    def __init__(self, text: str) -> None:
        name, _, kind = (part.strip() for part in text.partition(":"))
        self.many = "..." if name.endswith("...") else "*" if name.endswith("*") else ""
        self.is_optional = name.endswith("?")
        self.name = name.rstrip("?.*")
        self.is_nullable = kind.endswith("?")
        self.kind = kind.rstrip("?") or _ANY
        self.types: frozenset[type] = frozenset()
        if self.kind != _ANY:
            kinds = self.kind.split("|")
            self.types = frozenset().union(*(_TYPES.get(part, _CALLABLE) for part in kinds))


class Builtin:
    """One row: a signature and what computes it.

    Shapes: the function takes the arguments in order, after the evaluation under way if
        `needs_run`; parameters left out at the end are not passed. None is null.
    """

    def __init__(
        self,
        signature: str,
        function: Callable[..., Value],
        *,
        needs_run: bool = False,
        only_zeebe: bool = False,
    ) -> None:
        self.signature = signature
        self.name = signature.partition("(")[0]
        self.function = function
        self.needs_run = needs_run
        self.only_zeebe = only_zeebe

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, read from the signature when they are first wanted."""
        inside = self.signature[len(self.name) + 1 : -1]
        return tuple(Parameter(part) for part in inside.split(",") if part)


# How the arguments of one call, by their number and names, go to one row: the row, for each
# parameter in turn the place of its argument, and the parameters if that is their own order.
Plan = tuple[Builtin, tuple[int, ...], tuple[Parameter, ...] | None]


COUNT_KEPT = 8  # arguments of a call whose plans are kept: more are rare, and without end


class BuiltinFunction(Function):
    """All the rows of one name."""

    __slots__ = ("_by_place", "rows")

    def __init__(self, name: str, rows: Sequence[Builtin]) -> None:
        super().__init__(name, ())
        self.rows = rows
        self._by_place: dict[int, list[Plan]] = {}  # for so many arguments without names

    def invoke(
        self, run: Evaluation, arguments: Sequence[Value], names: Sequence[str] | None = None
    ) -> Value:
        """Call it as a value, as `sort(list, before)` may do."""
        return self.apply(run, self.plans(len(arguments), names), list(arguments), 0)

    def takes(self, count: int) -> bool:
        """Tell whether any row may be called with so many arguments."""
        return bool(self.plans(count, None))

    def plans(self, count: int, names: Sequence[str] | None) -> list[Plan]:
        """Tell which rows so many arguments, or arguments of such names, could be for."""
        if names is not None or count > COUNT_KEPT:
            return self._plans(count, names)
        plans = self._by_place.get(count)
        if plans is None:
            plans = self._by_place[count] = self._plans(count, None)
        return plans

    def _plans(self, count: int, names: Sequence[str] | None) -> list[Plan]:
        plans = (_plan(row, count, names) for row in self.rows)
        return [plan for plan in plans if plan is not None]

    def apply(self, run: Evaluation, plans: list[Plan], values: list[Value], offset: int) -> Value:
        """Give the result of the first row that takes the values; null and a warning if none."""
        work = 1
        for value in values:
            if type(value) in _LONG:
                work += len(value) // ITEMS_PER_STEP
        run.spend(work)
        for row, order, direct in plans:
            if direct is not None:
                bound = _bind_directly(direct, values)
            else:
                bound = _bind(row.parameters, order, values)
            if bound is not None:
                return self._compute(run, row, bound, offset)
        kinds = ", ".join(kind_of(value) for value in values)
        expected = " or ".join(row.signature for row in self.rows)
        message = f"expected {expected}, found {self.name}({kinds})"
        run.warn(WarningType.FUNCTION_INVOCATION_FAILURE, message, offset)
        return None

    def _compute(self, run: Evaluation, row: Builtin, bound: list[Value], offset: int) -> Value:
        try:
            result = row.function(run, *bound) if row.needs_run else row.function(*bound)
        except ArithmeticError:
            result = None
        if type(result) is list:
            run.measure(len(result))
        elif type(result) is str:
            if len(result) > STRING_MAX:
                raise FeelError(f"a string would have more than {STRING_MAX} characters")
            run.spend(len(result) // ITEMS_PER_STEP)
        elif type(result) is dict:
            run.spend(len(result))
        elif result is None:
            message = f"{self.name} has no result for these arguments"
            run.warn(WarningType.FUNCTION_INVOCATION_FAILURE, message, offset)
        return result


def _plan(row: Builtin, count: int, names: Sequence[str] | None) -> Plan | None:
    parameters = row.parameters
    if names is None:
        least = sum(not parameter.is_optional for parameter in parameters)
        if count < least or (count > len(parameters) and not _is_open(parameters)):
            return None
        is_direct = not any(parameter.many for parameter in parameters)
        return row, tuple(range(count)), parameters[:count] if is_direct else None
    places = {name: place for place, name in enumerate(names)}
    if len(places) != count or not places.keys() <= {parameter.name for parameter in parameters}:
        return None
    order = [places.get(parameter.name, -1) for parameter in parameters]
    for place, parameter in zip(order, parameters, strict=True):
        if place < 0 and not parameter.is_optional:
            return None
    while order and order[-1] < 0:
        order.pop()
    return row, tuple(order), None


def _is_open(parameters: Sequence[Parameter]) -> bool:
    return bool(parameters) and bool(parameters[-1].many)


def _bind_directly(parameters: tuple[Parameter, ...], values: list[Value]) -> list[Value] | None:
    """Fit the values to as many parameters, in place; None if one of them does not fit."""
    bound = values
    for index, parameter in enumerate(parameters):
        types = parameter.types
        if types and type(values[index]) not in types:
            value = _fit(parameter, values[index])
            if value is _UNFIT:
                return None
            if bound is values:
                bound = values.copy()  # the next row may want them as they were
            bound[index] = value
    return bound


def _bind(
    parameters: Sequence[Parameter], order: tuple[int, ...], values: list[Value]
) -> list[Value] | None:
    """Fit the values to the parameters; None if one of them does not fit."""
    bound: list[Value] = []
    for index, place in enumerate(order):
        parameter = parameters[index] if index < len(parameters) else parameters[-1]
        if parameter.many:
            return _bind_many(parameter, bound, [values[place] for place in order[index:]])
        if place < 0:
            bound.append(None)  # left out between others; optional, and only names can do it
            continue
        value = _fit(parameter, values[place])
        if value is _UNFIT:
            return None
        bound.append(value)
    return bound


def _bind_many(parameter: Parameter, bound: list[Value], values: list[Value]) -> list[Value] | None:
    if parameter.many == "...":
        if len(values) == 1:
            if values[0] is None:
                return None
            values = values[0] if type(values[0]) is list else values
        return [*bound, values]
    fitted = [_fit(parameter, value) for value in values]
    return None if any(value is _UNFIT for value in fitted) else [*bound, *fitted]


_UNFIT: Any = object()


def _fit(parameter: Parameter, value: Value) -> Value:
    """Fit one value: as it is, out of a list of one, or into one; `_UNFIT` if it cannot."""
    types = parameter.types
    if not types or type(value) in types:
        return value
    if value is None:
        return None if parameter.is_nullable else _UNFIT
    if type(value) is list and len(value) == 1 and type(value[0]) in types:
        return value[0]
    if parameter.kind == Kind.LIST:
        return [value]
    if Function in types and isinstance(value, Function):
        return value
    return _UNFIT
