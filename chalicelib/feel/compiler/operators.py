"""Operators: arithmetic, three-valued logic, comparisons and tests.

Source: DMN 1.5 tables 50 to 55 (logic, equality, order, `in`) and 57 to 61 (arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from chalicelib.feel import arithmetic, comparison
from chalicelib.feel.arithmetic import NUMERIC, OPERATIONS
from chalicelib.feel.comparison import ORDERS, PLAIN
from chalicelib.feel.compiler.scope import Scope
from chalicelib.feel.errors import WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.tree import (
    Arithmetic,
    Between,
    Comparison,
    In,
    Junction,
    Literal,
    Name,
    Negation,
    Node,
    UnaryComparison,
    UnaryTests,
)
from chalicelib.feel.values import ITEMS_PER_STEP, Value, kind_of

# A test, given the value that is tested.
Test = Callable[[Evaluation, Value], bool | None]


def build_negation(node: Negation, scope: Scope) -> Closure:
    """`-operand` of a number or a duration."""
    scope.unit.computes = True
    operand, offset = scope.build(node.operand), node.offset

    def run_negation(run: Evaluation) -> Value:
        value = operand(run)
        result = arithmetic.negate(value)
        if result is None:
            run.warn(WarningType.INVALID_TYPE, f"a {kind_of(value)} has no negative", offset)
        return result

    return run_negation


def build_arithmetic(node: Arithmetic, scope: Scope) -> Closure:
    """A row of operations, each on the result of the one before."""
    scope.unit.computes = True
    closure = scope.build(node.first)
    if len(node.rest) == 1:
        operator, operand, offset = node.rest[0]
        return _build_operation(operator, closure, scope.build(operand), offset)
    rest = [(operator, scope.build(operand), offset) for operator, operand, offset in node.rest]

    def run_arithmetic(run: Evaluation) -> Value:
        value = closure(run)
        for operator, operand, offset in rest:
            value = operate(run, operator, value, operand(run), offset)
        return value

    return run_arithmetic


def _build_operation(operator: str, left: Closure, right: Closure, offset: int) -> Closure:
    """One operation, which is mostly one of numbers that has a result."""
    compute = NUMERIC.get(operator)
    if compute is None:
        return lambda run: operate(run, operator, left(run), right(run), offset)

    def run_operation(run: Evaluation) -> Value:
        first, second = left(run), right(run)
        if type(first) is Decimal and type(second) is Decimal:
            try:
                return compute(first, second)
            except ArithmeticError:
                pass  # that is told below
        return operate(run, operator, first, second, offset)

    return run_operation


def operate(run: Evaluation, operator: str, left: Value, right: Value, offset: int) -> Value:
    """Do one operation; null and a warning for kinds or magnitudes it has no result for."""
    try:
        value = OPERATIONS[operator](left, right)
    except ArithmeticError:
        value = None
    if type(value) is str:
        run.spend(len(value) // ITEMS_PER_STEP)
    if value is None:
        kinds = f"{kind_of(left)} {operator} {kind_of(right)}"
        run.warn(WarningType.INVALID_TYPE, f"{kinds} has no result here", offset)
    return value


def build_junction(node: Junction, scope: Scope) -> Closure:
    """`and` and `or` of three values: null gives way to the operand that decides alone."""
    decides = node.operator == "or"
    operands = [scope.build(operand) for operand in node.operands]
    if len(operands) == 2:
        return _build_pair(operands[0], operands[1], decides)

    def run_junction(run: Evaluation) -> Value:
        result: bool | None = not decides
        for operand in operands:
            value = operand(run)
            if value is decides:
                return decides
            if type(value) is not bool:
                result = None
        return result

    return run_junction


def _build_pair(left: Closure, right: Closure, decides: bool) -> Closure:
    otherwise = not decides

    def run_pair(run: Evaluation) -> Value:
        first = left(run)
        if first is decides:
            return decides
        second = right(run)
        if second is decides:
            return decides
        return otherwise if first is otherwise and second is otherwise else None

    return run_pair


def build_comparison(node: Comparison, scope: Scope) -> Closure:
    """`=`, `!=` and the four orders."""
    left = scope.build(node.left)
    right, offset = node.right, node.offset
    if node.operator not in ORDERS:
        return _build_equality(left, scope.build(right), node.operator == "!=", offset)
    if isinstance(right, Literal) and type(right.value) in PLAIN:
        return _build_order_to(node.operator, left, right.value, offset)
    return _build_order(node.operator, left, scope.build(right), offset)


def _build_order(operator: str, left: Closure, right: Closure, offset: int) -> Closure:
    compare = ORDERS[operator]

    def run_order(run: Evaluation) -> bool | None:
        first, second = left(run), right(run)
        if type(first) is Decimal and type(second) is Decimal:
            return compare(first, second)
        return order(run, operator, first, second, offset)

    return run_order


def _build_order_to(operator: str, left: Closure, constant: Value, offset: int) -> Closure:
    compare, kind = ORDERS[operator], type(constant)

    def run_order(run: Evaluation) -> bool | None:
        value = left(run)
        if type(value) is kind:
            return compare(value, constant)
        return order(run, operator, value, constant, offset)

    return run_order


def _build_equality(left: Closure, right: Closure, is_negated: bool, offset: int) -> Closure:
    def run_equality(run: Evaluation) -> bool | None:
        first, second = left(run), right(run)
        if type(first) is type(second) and type(first) in PLAIN:
            return bool(first == second) is not is_negated
        verdict = equate(run, first, second, offset)
        return None if verdict is None else verdict is not is_negated

    return run_equality


def equate(run: Evaluation, left: Value, right: Value, offset: int) -> bool | None:
    """Compare for equality; a warning where kinds differ."""
    verdict = comparison.equal(left, right, run.spend)
    if verdict is None:
        _warn_not_comparable(run, left, right, offset)
    return verdict


def order(run: Evaluation, operator: str, left: Value, right: Value, offset: int) -> bool | None:
    """Compare in order; a warning where the two have none."""
    verdict = comparison.ordered(operator, left, right)
    if verdict is None:
        _warn_not_comparable(run, left, right, offset)
    return verdict


def _warn_not_comparable(run: Evaluation, left: Value, right: Value, offset: int) -> None:
    kinds = f"{kind_of(left)} and {kind_of(right)}"
    run.warn(WarningType.NOT_COMPARABLE, f"{kinds} do not compare", offset)


def build_between(node: Between, scope: Scope) -> Closure:
    """`value between low and high`."""
    value, low, high = scope.build(node.value), scope.build(node.low), scope.build(node.high)
    offset = node.offset

    def run_between(run: Evaluation) -> bool | None:
        middle = value(run)
        above = order(run, ">=", middle, low(run), offset)
        below = order(run, "<=", middle, high(run), offset)
        return None if above is None or below is None else above and below

    return run_between


def build_in(node: In, scope: Scope) -> Closure:
    """`value in tests`: whether any of them holds; null if none does and one is unknown."""
    value = scope.build(node.value)
    tests = [_build_test(test, scope) for test in node.tests]
    if len(tests) == 1:
        only = tests[0]
        return lambda run: only(run, value(run))

    def run_in(run: Evaluation) -> bool | None:
        tested = value(run)
        return _any(test(run, tested) for test in tests)

    return run_in


def build_unary_tests(node: UnaryTests, scope: Scope) -> Closure:
    """The tests of an input cell on `?`; always true or false."""
    if not node.tests:
        return lambda run: True
    tests = [
        _build_test(test, scope, reads)
        for test, reads in zip(node.tests, node.reads_input, strict=True)
    ]
    tested = scope.build(Name("?", 0))
    is_negated = node.is_negated

    def run_tests(run: Evaluation) -> bool:
        value = tested(run)
        verdict = _any(test(run, value) for test in tests)
        return verdict is False if is_negated else verdict is True

    return run_tests


def _any(verdicts: Iterator[bool | None]) -> bool | None:
    result: bool | None = False
    for verdict in verdicts:
        if verdict is True:
            return True
        if verdict is None:
            result = None
    return result


def _build_test(node: Node, scope: Scope, reads_input: bool | None = None) -> Test:
    """One test of `in`, or of an input cell, where a boolean may be the verdict itself.

    Shapes: `reads_input` is None for `in`; for a cell it says whether the test reads `?`.
    """
    is_cell = reads_input is not None
    if isinstance(node, UnaryComparison):
        return _build_comparing_test(node, scope)
    closure = scope.build(node)

    def run_test(run: Evaluation, value: Value) -> bool | None:
        wanted = closure(run)
        if type(wanted) is bool and is_cell and (reads_input or type(value) is not bool):
            return wanted
        return comparison.satisfies(value, wanted, run.spend)

    return run_test


def _build_comparing_test(node: UnaryComparison, scope: Scope) -> Test:
    operator, offset = node.operator, node.offset
    operand = scope.build(node.operand)
    if operator in ORDERS:
        return lambda run, value: order(run, operator, value, operand(run), offset)
    is_negated = operator == "!="

    def run_test(run: Evaluation, value: Value) -> bool | None:
        verdict = equate(run, value, operand(run), offset)
        return None if verdict is None else verdict is not is_negated

    return run_test
