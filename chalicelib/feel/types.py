"""FEEL's types as `instance of` and parameters name them, and which values conform to them.

Source: DMN 1.5 sections 10.3.2.9 (conformance) and 10.3.2.9.4 (conversions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.feel.temporal import Date, DateAndTime
from chalicelib.feel.values import Function, Kind, Range, Value, kind_of

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Evaluation


class FeelType(NamedTuple):
    """One type.

    Shapes: `name` is a kind's word, `Any`, or a name of the model; `of` holds the element type of
        a list or range, a function's parameter types and last its result; `entries` the entry
        types of a context; `allows` tells which of its values a model allows.
    """

    name: str
    of: tuple[FeelType, ...] = ()
    entries: tuple[tuple[str, FeelType], ...] = ()
    allows: Callable[[Evaluation, Value], bool] | None = None


ANY = "Any"

# Every spelling of a simple type; the last three are Camunda's.
SIMPLE_TYPES: dict[str, str] = {
    ANY: ANY,
    Kind.NUMBER: Kind.NUMBER,
    Kind.STRING: Kind.STRING,
    Kind.BOOLEAN: Kind.BOOLEAN,
    Kind.DATE: Kind.DATE,
    Kind.TIME: Kind.TIME,
    Kind.LIST: Kind.LIST,
    Kind.CONTEXT: Kind.CONTEXT,
    Kind.RANGE: Kind.RANGE,
    Kind.FUNCTION: Kind.FUNCTION,
    "Null": Kind.NULL,
    "null": Kind.NULL,
    Kind.DATE_AND_TIME: Kind.DATE_AND_TIME,
    "dateTime": Kind.DATE_AND_TIME,
    "date time": Kind.DATE_AND_TIME,
    Kind.DAY_TIME_DURATION: Kind.DAY_TIME_DURATION,
    "dayTimeDuration": Kind.DAY_TIME_DURATION,
    "day-time-duration": Kind.DAY_TIME_DURATION,
    Kind.YEAR_MONTH_DURATION: Kind.YEAR_MONTH_DURATION,
    "yearMonthDuration": Kind.YEAR_MONTH_DURATION,
    "year-month-duration": Kind.YEAR_MONTH_DURATION,
}
_KNOWN = frozenset(SIMPLE_TYPES.values())


def resolve(wanted: FeelType, types: Mapping[str, FeelType]) -> FeelType | None:
    """Put the types that a model defines in the place of their names; None if one is unknown."""
    if wanted.name in types:
        return types[wanted.name]
    if wanted.name not in _KNOWN:
        return None
    of = [resolve(part, types) for part in wanted.of]
    entries = [(key, resolve(part, types)) for key, part in wanted.entries]
    if None in of or None in dict(entries).values():
        return None
    return wanted._replace(
        of=tuple(part for part in of if part is not None),
        entries=tuple((key, part) for key, part in entries if part is not None),
    )


def is_instance(run: Evaluation, value: Value, wanted: FeelType) -> bool:
    """Tell whether a value is of a type; null is of none but `Null`, and not of `Any`."""
    if wanted.name == ANY:
        fits = value is not None
    else:
        fits = kind_of(value) == wanted.name and _holds(run, value, wanted)
    return fits and (wanted.allows is None or wanted.allows(run, value))


def conforms(run: Evaluation, value: Value, wanted: FeelType) -> bool:
    """Tell whether a value may stand where the type is asked: it is of it, or null."""
    return value is None or is_instance(run, value, wanted)


def coerce(run: Evaluation, value: Value, wanted: FeelType | None) -> tuple[bool, Value]:
    """Fit a value to a type: as it is, taken out of a list of one, put into one, or a date as
    its first moment, in UTC.

    Returns: whether it fits, and the value that does.
    Source: DMN 1.5 section 10.3.2.9.4.
    """
    if wanted is None or conforms(run, value, wanted):
        return True, value
    if type(value) is list and len(value) == 1 and conforms(run, value[0], wanted):
        return True, value[0]
    if wanted.name == Kind.LIST and type(value) is not list and conforms(run, [value], wanted):
        return True, [value]
    if wanted.name == Kind.DATE_AND_TIME and type(value) is Date:
        return True, DateAndTime(value, 0, 0)
    return False, None


def _holds(run: Evaluation, value: Value, wanted: FeelType) -> bool:
    """Tell whether what is inside of a list, context, range or function is of the types asked."""
    if wanted.entries:
        run.spend(1 + len(wanted.entries) // 8)
        return all(
            key in value and conforms(run, value[key], entry) for key, entry in wanted.entries
        )
    if not wanted.of:
        return True
    inside = wanted.of[0]
    if type(value) is list:
        run.spend(1 + len(value) // 8)
        return all(conforms(run, item, inside) for item in value)
    if type(value) is Range:
        return conforms(run, value.start, inside) and conforms(run, value.end, inside)
    return isinstance(value, Function) and _is_callable_as(value, wanted)


def _is_callable_as(function: Function, wanted: FeelType) -> bool:
    """Tell whether a function takes all that the type says and gives nothing else, as far as
    the function says what it takes and gives.
    """
    *parameters, result = wanted.of
    if not function.takes(len(parameters)):
        return False
    takes = all(
        own is None or _is_within(given, own, set())
        for own, given in zip(function.types, parameters, strict=False)
    )
    return takes and (function.result is None or _is_within(function.result, result, set()))


def _is_within(narrow: FeelType, wide: FeelType, seen: set[tuple[int, int]]) -> bool:
    """Tell whether all values of one type are of another (DMN 1.5 section 10.3.2.9.2).

    Types share their parts, so each pair is looked at once.
    """
    pair = (id(narrow), id(wide))
    if ANY in (wide.name, narrow.name) or pair in seen:
        return True
    seen.add(pair)
    if narrow.name != wide.name or len(narrow.of) < len(wide.of):
        return False
    if not all(
        _is_within(own, other, seen) for own, other in zip(narrow.of, wide.of, strict=False)
    ):
        return False
    entries = dict(narrow.entries)
    return all(
        key in entries and _is_within(entries[key], entry, seen) for key, entry in wide.entries
    )
