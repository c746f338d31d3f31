"""The values of FEEL: what they are in Python, what kind each has, and the way in and out.

Shapes: null is `None`, a number `Decimal`, a list `list`, a context `dict`; the rest are our own
    immutable classes. Nothing ever changes a list or a context that it did not make itself.
Source: DMN 1.5 section 10.3.2 and table 41.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from chalicelib.feel import numbers, temporal_text
from chalicelib.feel.errors import FeelError
from chalicelib.feel.limits import JSON_MAX
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Time,
    YearMonthDuration,
    of_python,
)

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Evaluation
    from chalicelib.feel.types import FeelType

# Recursive, so a checker could not follow it: every branch asks `type(value)` first.
Value = Any


class Range(NamedTuple):
    """The values between two ends, or those that compare with one value.

    Shapes: `operator` is empty for `[a..b]`; for `(< b)` it is the operator, and the end that
        the comparison lacks is null.
    Source: DMN 1.5 section 10.3.2.7.
    """

    start: Value
    end: Value
    start_included: bool
    end_included: bool
    operator: str = ""


class Function:
    """What an expression can call: a user's function or a built-in one.

    Shapes: `types` are those of the parameters and `result` that of what it gives, as far as it
        says them; None stands for any.
    """

    __slots__ = ("name", "parameters")

    types: Sequence[FeelType | None] = ()
    result: FeelType | None = None

    def __init__(self, name: str, parameters: Sequence[str]) -> None:
        self.name = name
        self.parameters = tuple(parameters)

    def takes(self, count: int) -> bool:
        """Tell whether it may be called with so many arguments."""
        return len(self.parameters) == count

    def invoke(
        self, run: Evaluation, arguments: Sequence[Value], names: Sequence[str] | None = None
    ) -> Value:
        """Give the function's result; null if the arguments are not its own."""
        raise NotImplementedError


class Kind:
    """The words for the kinds of value, as `instance of` and messages say them."""

    NULL = "null"
    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    LIST = "list"
    CONTEXT = "context"
    DATE = "date"
    TIME = "time"
    DATE_AND_TIME = "date and time"
    DAY_TIME_DURATION = "days and time duration"
    YEAR_MONTH_DURATION = "years and months duration"
    RANGE = "range"
    FUNCTION = "function"


KINDS: dict[type, str] = {
    type(None): Kind.NULL,
    Decimal: Kind.NUMBER,
    str: Kind.STRING,
    bool: Kind.BOOLEAN,
    list: Kind.LIST,
    dict: Kind.CONTEXT,
    Date: Kind.DATE,
    Time: Kind.TIME,
    DateAndTime: Kind.DATE_AND_TIME,
    DayTimeDuration: Kind.DAY_TIME_DURATION,
    YearMonthDuration: Kind.YEAR_MONTH_DURATION,
    Range: Kind.RANGE,
}
TEMPORAL = frozenset((Date, Time, DateAndTime, DayTimeDuration, YearMonthDuration))

# What a variable may hold that needs no look inside.
READY = frozenset((Decimal, str, bool, type(None), Range, *TEMPORAL))

# Items of a list, entries of a context or characters of a text that are looked at in one step.
ITEMS_PER_STEP = 32
LOOKS_AT_ONCE = 1_024  # that are counted together

_TEXT = frozenset((str,))

_JSON_ALREADY = frozenset((bool, type(None)))
_ITEM_SIZE = 8  # characters that an item or entry counts for, beside its text


def kind_of(value: Value) -> str:
    """Give the word for the kind of a value."""
    kind = KINDS.get(type(value))
    if kind is None:
        return Kind.FUNCTION if isinstance(value, Function) else type(value).__name__
    return kind


def free(steps: int) -> None:
    """Count nothing: what is done outside of an evaluation."""


def from_python(value: Any, spend: Callable[[int], None] = free) -> Value:
    """Take a value in: numbers of any type become decimals, Python's dates become FEEL's.

    A list or context in which nothing has to change is given back as it is, not copied.
    Shapes: `spend` counts the steps that it takes to look at a list or context.
    Raises: FeelError if it holds something FEEL has no value for; as `spend`.
    """
    kind = type(value)
    if kind in READY or isinstance(value, Function):
        return value
    if kind is dict or kind is list:
        return value if _is_ready(value, spend) else _copied(value)
    return _scalar_from(value)


def to_json(value: Value, spend: Callable[[int], None] = free) -> Any:
    """Take a value out as JSON: temporal values as text, functions and ranges as null.

    Shapes: numbers stay `Decimal`, without trailing zeros or an exponent; `spend` counts the
        steps that it takes.
    Raises: FeelError if it is nested too deeply for Python, or larger than JSON_MAX: a few
        expressions can make a list that holds one other a billion times; as `spend`.
    Source: the documented behaviour of Zeebe's FEEL (contract section 5.10).
    """
    try:
        return _json(value, _Room(spend))
    except RecursionError:
        raise FeelError("a value is nested too deeply") from None


class _Room:
    """The characters that are left for a value as JSON."""

    __slots__ = ("left", "spend")

    def __init__(self, spend: Callable[[int], None]) -> None:
        self.left = JSON_MAX
        self.spend = spend

    def take(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise FeelError(f"a value would have more than {JSON_MAX} characters as JSON")
        self.spend(characters // _ITEM_SIZE)


def _json(value: Value, room: _Room) -> Any:
    """Loops, not comprehensions, which would take two of Python's frames per level."""
    kind = type(value)
    if kind is str:
        room.take(len(value))
        return value
    if kind in _JSON_ALREADY:
        return value
    if kind is Decimal:
        number = numbers.plain(value)
        room.take(abs(number.adjusted()))
        return number
    if kind is dict:
        context = {}
        room.take(_ITEM_SIZE * (1 + len(value)))
        for key, entry in value.items():
            context[key] = _json(entry, room)
        return context
    if kind is list:
        items = []
        room.take(_ITEM_SIZE * (1 + len(value)))
        for item in value:
            items.append(_json(item, room))
        return items
    return _json_text(value) if kind in TEMPORAL else None


def _json_text(value: Value) -> str:
    """Write a temporal value for JSON, where a named zone is written as its offset."""
    if type(value) is DateAndTime and isinstance(value.zone, str):
        value = value._replace(zone=value.offset)
    elif type(value) is Time and isinstance(value.zone, str):
        value = value._replace(zone=(value.nanos - value.instant) // 1_000_000_000)
    return temporal_text.format_temporal(value)


def _is_ready(value: list[Any] | dict[str, Any], spend: Callable[[int], None]) -> bool:
    """Tell whether nothing inside has to change, however deep it is."""
    waiting: list[Any] = [value]
    seen: set[int] = set()  # values made by expressions may share their parts
    looked = 0
    while waiting:
        inside = waiting.pop()
        if id(inside) in seen:
            continue
        seen.add(id(inside))
        looked += _ITEM_SIZE + len(inside)
        if looked > LOOKS_AT_ONCE:
            spend(looked // ITEMS_PER_STEP)
            looked = 0
        if type(inside) is dict:
            if not _TEXT.issuperset(map(type, inside)):
                return False
            inside = inside.values()
        if READY.issuperset(map(type, inside)):
            continue
        for item in inside:
            kind = type(item)
            if kind is list or kind is dict:
                waiting.append(item)
            elif kind not in READY and not isinstance(item, Function):
                return False
    return True


def _copied(value: list[Any] | dict[Any, Any]) -> Value:
    if isinstance(value, list):
        return [from_python(item) for item in value]
    if not all(isinstance(key, str) for key in value):
        raise FeelError("expected text for every key of a context")
    return {str(key): from_python(entry) for key, entry in value.items()}


def _scalar_from(value: Any) -> Value:
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return numbers.of_float(value)
    if isinstance(value, date | time | timedelta):
        return of_python(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return _copied(dict(value))
    if isinstance(value, tuple | Sequence):
        return _copied(list(value))
    raise FeelError(f"expected a value of JSON or FEEL, found {type(value).__name__}")
