"""`for`, `some` and `every`.

One closure per iterator, the innermost ending in the body. The names of a loop have their slots
for the whole evaluation, so that an iteration costs one assignment and no copy of a scope.
Source: DMN 1.5 sections 10.3.2.10 to 10.3.2.12.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from chalicelib.feel.compiler.access import PARTIAL
from chalicelib.feel.compiler.scope import Scope
from chalicelib.feel.errors import WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.temporal import Date
from chalicelib.feel.tree import For, Iterator, Quantified, Span
from chalicelib.feel.values import Range, Value, kind_of

# What the iterators inside of one do for each item; False tells it to stop.
_Each = Callable[[Evaluation], bool]
_Source = Callable[[Evaluation], list[Value] | None]


def build_for(node: For, scope: Scope) -> Closure:
    """`for … return`: a list of results; `partial` is what there is of it so far."""
    inner = scope.inner()
    slot = inner.declare(PARTIAL)
    nodes = scope.unit.nodes
    sources = _build_sources(node.iterators, inner)
    body = inner.build(node.body)
    steps = scope.steps_since(nodes)
    if len(sources) == 1:
        return _build_simple_for(*sources[0], slot, body, steps)

    def add(run: Evaluation) -> bool:
        # The body may hold the same loop again, in a function that calls itself: ask each time.
        found = run.slots[slot]
        found.append(body(run))
        run.bound(len(found))
        return True

    each = _nest(sources, add, steps)

    def run_for(run: Evaluation) -> Value:
        found: list[Value] = []
        before, run.slots[slot] = run.slots[slot], found
        try:
            return found if each(run) is not None else None
        finally:
            run.slots[slot] = before

    return run_for


def _build_simple_for(
    source: _Source, item_slot: int, slot: int, body: Closure, steps: int
) -> Closure:
    """A loop of one iterator, by far the commonest: without a call for each item but the body's."""

    def run_for(run: Evaluation) -> Value:
        found: list[Value] = []
        slots = run.slots
        before, slots[slot] = slots[slot], found
        try:
            items = source(run)
            if items is None:
                return None
            run.bound(len(items))
            for item in items:
                run.spend(steps)
                slots[item_slot] = item
                found.append(body(run))
        finally:
            slots[slot] = before
        return found

    return run_for


def build_quantified(node: Quantified, scope: Scope) -> Closure:
    """`some` is the `or` of its conditions, `every` their `and`, with null as these have it."""
    decides = not node.is_every
    inner = scope.inner()
    slot = inner.declare("")  # holds the verdict so far; no name is empty
    nodes = scope.unit.nodes
    sources = _build_sources(node.iterators, inner)
    condition = inner.build(node.body)

    def judge(run: Evaluation) -> bool:
        value = condition(run)
        if value is decides:
            run.slots[slot] = decides
            return False
        if type(value) is not bool:
            run.slots[slot] = None
        return True

    each = _nest(sources, judge, scope.steps_since(nodes))

    def run_quantified(run: Evaluation) -> Value:
        run.slots[slot] = not decides
        return run.slots[slot] if each(run) is not None else None

    return run_quantified


def _build_sources(iterators: tuple[Iterator, ...], scope: Scope) -> list[tuple[_Source, int]]:
    """Compile the iterators, each in the scope of those before it."""
    sources: list[tuple[_Source, int]] = []
    for iterator in iterators:
        source, offset = iterator.source, iterator.offset
        if isinstance(source, Span):
            items = _build_span(scope.build(source.start), scope.build(source.end), offset)
        else:
            items = _build_items(scope.build(source), offset)
        sources.append((items, scope.declare(iterator.name)))
    return sources


def _nest(
    sources: list[tuple[_Source, int]], innermost: _Each, steps: int
) -> Callable[..., bool | None]:
    """Put each iterator's loop around the one after it.

    Shapes: `steps` are those that what is inside takes for one item.
    Returns: a loop that gives False if it was stopped, and None if there was nothing to go over.
    """
    each: Callable[[Evaluation], bool | None] = innermost
    for source, slot in reversed(sources):
        each = _loop(source, slot, each, steps)
    return each


def _loop(
    source: _Source, slot: int, each: Callable[[Evaluation], bool | None], steps: int
) -> Callable[[Evaluation], bool | None]:
    def go(run: Evaluation) -> bool | None:
        items = source(run)
        if items is None:
            return None
        slots = run.slots
        for item in items:
            run.spend(steps)
            slots[slot] = item
            goes_on = each(run)
            if not goes_on:
                return goes_on
        return True

    return go


def _build_items(source: Closure, offset: int) -> _Source:
    return lambda run: items_of(run, source(run), offset)


def items_of(run: Evaluation, value: Value, offset: int) -> list[Value] | None:
    """Give what a loop over a value goes over; None and a warning if it cannot."""
    if type(value) is list:
        return value
    if type(value) is Range:
        return _range_items(run, value, offset)
    if value is None:
        return _nothing(run, value, offset)
    return [value]


def _range_items(run: Evaluation, span: Range, offset: int) -> list[Value] | None:
    if span.operator or type(span.start) is not type(span.end):
        return _nothing(run, span, offset)
    items = _between(run, span.start, span.end)
    if items is None:
        return _nothing(run, span, offset)
    return items[not span.start_included : len(items) - (not span.end_included)]


def _build_span(start: Closure, end: Closure, offset: int) -> _Source:
    def items(run: Evaluation) -> list[Value] | None:
        first, last = start(run), end(run)
        found = _between(run, first, last) if type(first) is type(last) else None
        return _nothing(run, first, offset) if found is None else found

    return items


def _between(run: Evaluation, first: Value, last: Value) -> list[Value] | None:
    """List whole numbers or days from one to another, up or down; None for other kinds."""
    if type(first) is Decimal:
        if first != first.to_integral_value() or last != last.to_integral_value():
            return None
        return [Decimal(number) for number in _integers(run, int(first), int(last))]
    if type(first) is Date:
        return [Date.of_number(number) for number in _integers(run, first.number, last.number)]
    return None


def _integers(run: Evaluation, first: int, last: int) -> range:
    run.measure(abs(last - first) + 1)
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def _nothing(run: Evaluation, value: Value, offset: int) -> list[Value] | None:
    """Give null for what cannot be gone over, and say so."""
    message = f"expected a list, or a range of numbers or dates, found {kind_of(value)}"
    run.warn(WarningType.INVALID_TYPE, message, offset)
    return None
