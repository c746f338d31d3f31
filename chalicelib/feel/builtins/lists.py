"""Built-in functions that make lists of lists.

Source: DMN 1.5 section 10.3.4.4; Camunda's documentation for the last three.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cmp_to_key

from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.comparison import ITEMS_FOUND_PER_STEP, PLAIN, same
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.values import Function, Value


def list_contains(run: Evaluation, items: list[Value], element: Value) -> bool:
    """Tell whether an item equals the element."""
    return _find(run, items, element) is not None


def sublist(items: list[Value], start: Decimal, length: Decimal | None = None) -> Value:
    """Give the part from a position: 1 is the first item, -1 the last; null outside."""
    begin = _place(items, start)
    if begin is None or (length is not None and length < 0):
        return None
    if length is None:
        return items[begin:]
    end = begin + int(length)
    return items[begin:end] if end <= len(items) else None


def append(items: list[Value], *more: Value) -> list[Value]:
    """Put more items at the end."""
    return [*items, *more]


def concatenate(run: Evaluation, *lists: list[Value]) -> list[Value]:
    """Put lists one after the other."""
    run.measure(sum(map(len, lists)))
    return [item for items in lists for item in items]


def insert_before(items: list[Value], position: Decimal, new: Value) -> Value:
    """Put an item before the one at a position."""
    place = _place(items, position)
    if place is None and int(position) != len(items) + 1:
        return None
    place = len(items) if place is None else place
    return [*items[:place], new, *items[place:]]


def remove(items: list[Value], position: Decimal) -> Value:
    """Leave out the item at a position."""
    place = _place(items, position)
    return None if place is None else [*items[:place], *items[place + 1 :]]


def replace_at(items: list[Value], position: Decimal, new: Value) -> Value:
    """Put an item in the place of the one at a position."""
    place = _place(items, position)
    return None if place is None else [*items[:place], new, *items[place + 1 :]]


def replace_matching(run: Evaluation, items: list[Value], match: Function, new: Value) -> Value:
    """Put an item in the place of each for which the function says so; null if it ever does not."""
    replaced = []
    for item in items:
        verdict = match.invoke(run, (item, new))
        if type(verdict) is not bool:
            return None
        replaced.append(new if verdict else item)
    return replaced


def union(run: Evaluation, *lists: list[Value]) -> list[Value]:
    """Put lists one after the other and keep the first of equal items."""
    return distinct_values(run, concatenate(run, *lists))


def distinct_values(run: Evaluation, items: list[Value]) -> list[Value]:
    """Keep the first of equal items."""
    kept: list[Value] = []
    known: set[tuple[type, Value]] = set()
    for item in items:
        if type(item) in PLAIN:
            mark = (type(item), item)
            if mark not in known:
                known.add(mark)
                kept.append(item)
        elif _find(run, kept, item) is None:
            kept.append(item)
    return kept


def duplicate_values(run: Evaluation, items: list[Value]) -> list[Value]:
    """List the items that occur more than once, each once."""
    doubled: list[Value] = []
    for index, item in enumerate(items):
        first = _find(run, items, item)
        if first is not None and first < index and _find(run, doubled, item) is None:
            doubled.append(item)
    return doubled


def index_of(run: Evaluation, items: list[Value], match: Value) -> list[Decimal]:
    """List the positions of the items that equal the match."""
    run.spend(len(items) // ITEMS_FOUND_PER_STEP)
    spend = run.spend
    return [Decimal(place) for place, item in enumerate(items, 1) if same(item, match, spend)]


def flatten(run: Evaluation, items: list[Value]) -> list[Value]:
    """Put the items of all lists inside into one list."""
    flat: list[Value] = []
    waiting = [iter(items)]
    while waiting:
        for item in waiting[-1]:
            run.spend()
            if type(item) is list:
                waiting.append(iter(item))
                break
            flat.append(item)
        else:
            waiting.pop()
    return flat


def sort(run: Evaluation, items: list[Value], precedes: Function) -> list[Value]:
    """Order a list by a function that tells which of two comes first; equal ones keep theirs."""

    def compare(left: Value, right: Value) -> int:
        if precedes.invoke(run, (left, right)) is True:
            return -1
        return 1 if precedes.invoke(run, (right, left)) is True else 0

    return sorted(items, key=cmp_to_key(compare))


def partition(items: list[Value], size: Decimal) -> Value:
    """Cut a list into lists of a size; the last may be shorter."""
    step = int(size)
    if step < 1:
        return None
    return [items[start : start + step] for start in range(0, len(items), step)]


def _place(items: list[Value], position: Decimal) -> int | None:
    """Turn a position, from 1 or from -1 at the end, into an index; None outside."""
    place = int(position)
    if 1 <= place <= len(items):
        return place - 1
    return len(items) + place if -len(items) <= place <= -1 else None


def _find(run: Evaluation, items: list[Value], wanted: Value) -> int | None:
    """Give the index of the first item that equals another."""
    run.spend(1 + len(items) // ITEMS_FOUND_PER_STEP)
    for index, item in enumerate(items):
        if same(item, wanted, run.spend):
            return index
    return None


FUNCTIONS = (
    Builtin("list contains(list: list, element: any)", list_contains, needs_run=True),
    Builtin("sublist(list: list, start position: number, length?: number)", sublist),
    Builtin("sublist(list: list, start: number, length?: number)", sublist),
    Builtin("append(list: list, item*)", append),
    Builtin("concatenate(list*: list)", concatenate, needs_run=True),
    Builtin("union(list*: list)", union, needs_run=True),
    Builtin("insert before(list: list, position: number, newItem: any)", insert_before),
    Builtin("remove(list: list, position: number)", remove),
    Builtin("list replace(list: list, position: number, newItem: any)", replace_at),
    Builtin(
        "list replace(list: list, match: function, newItem: any)",
        replace_matching,
        needs_run=True,
    ),
    Builtin("reverse(list: list)", lambda items: items[::-1]),
    Builtin("index of(list: list, match: any)", index_of, needs_run=True),
    Builtin("distinct values(list: list)", distinct_values, needs_run=True),
    Builtin("flatten(list: list)", flatten, needs_run=True),
    Builtin("sort(list: list, precedes: function)", sort, needs_run=True),
    Builtin("duplicate values(list: list)", duplicate_values, needs_run=True),
    Builtin("is empty(list: list)", lambda items: not items),
    Builtin("partition(list: list, size: number)", partition),
)
