"""Literals, ranges, lists, contexts, `if` and `instance of`.

Source: DMN 1.5 sections 10.3.2.3 to 10.3.2.9.
"""

from __future__ import annotations

from chalicelib.feel import comparison, types
from chalicelib.feel.compiler.scope import Scope
from chalicelib.feel.errors import WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.tree import (
    Conditional,
    ContextLiteral,
    FunctionLiteral,
    InstanceOf,
    ListLiteral,
    Literal,
    RangeLiteral,
    UnaryComparison,
)
from chalicelib.feel.values import Range, Value


def build_literal(node: Literal, scope: Scope) -> Closure:
    """A value that is written out."""
    value = node.value
    return lambda run: value


def build_list(node: ListLiteral, scope: Scope) -> Closure:
    """`[a, b]`."""
    items = [scope.build(item) for item in node.items]

    def run_list(run: Evaluation) -> Value:
        run.spend(len(items))
        return [item(run) for item in items]

    return run_list


def build_context(node: ContextLiteral, scope: Scope) -> Closure:
    """`{key: value}`: each entry sees those before it, and a function itself; no key twice."""
    entries: list[tuple[str, Closure, int]] = []
    inner = scope.inner()
    for key, value in node.entries:
        if key in inner.slots:
            return _build_twice(key)
        if isinstance(value, FunctionLiteral) and value.body is not None:
            slot = inner.declare(key)
            entries.append((key, _build_recursive(inner.build(value), slot), slot))
        else:
            entries.append((key, inner.build(value), inner.declare(key)))

    def run_context(run: Evaluation) -> Value:
        context: dict[str, Value] = {}
        slots = run.slots
        for key, entry, slot in entries:
            context[key] = slots[slot] = entry(run)
        run.spend(len(entries))
        return context

    return run_context


def _build_recursive(literal: Closure, slot: int) -> Closure:
    """Let a function see itself under the key it is made for."""

    def make(run: Evaluation) -> Value:
        function = literal(run)
        function.captured[slot] = function
        return function

    return make


def _build_twice(key: str) -> Closure:
    def run_context(run: Evaluation) -> None:
        run.warn(WarningType.INVALID_TYPE, f"a context has two entries '{key}'")

    return run_context


def build_range(node: RangeLiteral, scope: Scope) -> Closure:
    """`[start..end]`; null unless its ends are of one ordered kind and ascend."""
    start, end = scope.build(node.start), scope.build(node.end)
    start_included, end_included, offset = node.start_included, node.end_included, node.offset
    if isinstance(node.start, Literal) and isinstance(node.end, Literal):
        constant = comparison.make_range(
            node.start.value, node.end.value, start_included, end_included
        )
        if constant is not None:
            return lambda run: constant

    def run_range(run: Evaluation) -> Value:
        span = comparison.make_range(start(run), end(run), start_included, end_included)
        if span is None:
            message = "a range needs two ends of one kind, the lower one first"
            run.warn(WarningType.INVALID_TYPE, message, offset)
        return span

    return run_range


def build_unary_comparison(node: UnaryComparison, scope: Scope) -> Closure:
    """`(< end)` as a value: the range of all that compare so."""
    operand, operator = scope.build(node.operand), node.operator
    ends_there = operator in ("<", "<=")
    starts_there = operator in (">", ">=")
    included = operator in ("<=", ">=", "=")

    def run_unary(run: Evaluation) -> Value:
        value = operand(run)
        return Range(
            None if ends_there else value,
            None if starts_there else value,
            included and not ends_there,
            included and not starts_there,
            operator,
        )

    return run_unary


def build_conditional(node: Conditional, scope: Scope) -> Closure:
    """`if`: what is not true, null too, takes the next branch."""
    branches = [(scope.build(test), scope.build(result)) for test, result in node.branches]
    otherwise = scope.build(node.otherwise)

    def run_conditional(run: Evaluation) -> Value:
        for condition, result in branches:
            if condition(run) is True:
                return result(run)
        return otherwise(run)

    return run_conditional


def build_instance_of(node: InstanceOf, scope: Scope) -> Closure:
    """`value instance of type`; null for a type that nobody has defined."""
    value, wanted = scope.build(node.value), types.resolve(node.type, scope.unit.types)
    if wanted is not None:
        return lambda run: types.is_instance(run, value(run), wanted)

    def run_unknown(run: Evaluation) -> None:
        run.warn(WarningType.INVALID_TYPE, f"no type '{node.type.name}'")

    return run_unknown
