"""Built-in functions that make one value of a list.

Source: DMN 1.5 section 10.3.4.4.
"""

from __future__ import annotations

from decimal import Decimal

from chalicelib.feel import comparison
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.comparison import ITEMS_FOUND_PER_STEP
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.numbers import ONE, ZERO
from chalicelib.feel.values import Value

_NUMBER = frozenset((Decimal,))


def count(items: list[Value]) -> Decimal:
    """Count the items."""
    return Decimal(len(items))


def least(run: Evaluation, items: list[Value]) -> Value:
    """Give the lowest item; null of an empty list or of items without an order."""
    return _extreme(run, items, "<")


def greatest(run: Evaluation, items: list[Value]) -> Value:
    """Give the highest item; null of an empty list or of items without an order."""
    return _extreme(run, items, ">")


def total(items: list[Value]) -> Decimal | None:
    """Add numbers; null of an empty list."""
    return sum(items, ZERO) if items and _are_numbers(items) else None


def mean(items: list[Value]) -> Decimal | None:
    """Give the average; null of an empty list."""
    return sum(items, ZERO) / len(items) if items and _are_numbers(items) else None


def product(items: list[Value]) -> Decimal | None:
    """Multiply numbers; null of an empty list."""
    if not items or not _are_numbers(items):
        return None
    result = ONE
    for item in items:
        result *= item
    return result


def median(items: list[Value]) -> Decimal | None:
    """Give the middle number, or the mean of the two in the middle."""
    if not items or not _are_numbers(items):
        return None
    ranked = sorted(items)
    middle = len(ranked) // 2
    if len(ranked) % 2:
        return Decimal(ranked[middle])
    return Decimal((ranked[middle - 1] + ranked[middle]) / 2)


def standard_deviation(items: list[Value]) -> Decimal | None:
    """Give the sample's standard deviation; null of fewer than two numbers."""
    average = mean(items)
    if average is None or len(items) < 2:
        return None
    squares = sum(((item - average) ** 2 for item in items), ZERO)
    return (squares / (len(items) - 1)).sqrt()


def mode(items: list[Value]) -> list[Decimal] | None:
    """List the commonest numbers, the lowest first."""
    if not _are_numbers(items):
        return None
    counts: dict[Decimal, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    most = max(counts.values(), default=0)
    return sorted(item for item, times in counts.items() if times == most)


def every(items: list[Value]) -> bool | None:
    """Give the `and` of three values over a list; true of an empty one."""
    return _junction(items, decides=False)


def some(items: list[Value]) -> bool | None:
    """Give the `or` of three values over a list; false of an empty one."""
    return _junction(items, decides=True)


def _junction(items: list[Value], *, decides: bool) -> bool | None:
    if any(item is decides for item in items):
        return decides
    return not decides if all(type(item) is bool for item in items) else None


def _are_numbers(items: list[Value]) -> bool:
    return _NUMBER.issuperset(map(type, items))


def _extreme(run: Evaluation, items: list[Value], operator: str) -> Value:
    if not items or not comparison.is_ordered_kind(items[0]):
        return None
    best = items[0]
    for index, item in enumerate(items):
        if index % ITEMS_FOUND_PER_STEP == 0:
            run.spend()
        verdict = comparison.ordered(operator, item, best)
        if verdict is None:
            return None
        if verdict:
            best = item
    return best


FUNCTIONS = (
    Builtin("count(list: list)", count),
    Builtin("min(list...)", least, needs_run=True),
    Builtin("max(list...)", greatest, needs_run=True),
    Builtin("sum(list...)", total),
    Builtin("mean(list...)", mean),
    Builtin("product(list...)", product),
    Builtin("median(list...)", median),
    Builtin("stddev(list...)", standard_deviation),
    Builtin("mode(list...)", mode),
    Builtin("all(list...)", every),
    Builtin("any(list...)", some),
    Builtin("and(list...)", every),
    Builtin("or(list...)", some),
)
