"""The syntax tree of FEEL, one class per form of expression.

The classes are written out, since making two dozen named tuples costs some milliseconds of every
cold start.

Units: every `offset` is where in the text the part begins that a warning would point at.
Source: DMN 1.5 section 10.3.1.2, whose grammar rules the classes are named after.
"""

from __future__ import annotations

from typing import Union

from chalicelib.feel.types import FeelType
from chalicelib.feel.values import Value


class Literal:
    """A value that is written out."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Name:
    """A variable, a built-in function, or `?`."""

    __slots__ = ("name", "offset")

    def __init__(self, name: str, offset: int) -> None:
        self.name = name
        self.offset = offset


class Path:
    """`base.name`."""

    __slots__ = ("base", "name", "offset")

    def __init__(self, base: Node, name: str, offset: int) -> None:
        self.base = base
        self.name = name
        self.offset = offset


class Filter:
    """`base[condition]`, where the condition may be an index."""

    __slots__ = ("base", "condition", "offset")

    def __init__(self, base: Node, condition: Node, offset: int) -> None:
        self.base = base
        self.condition = condition
        self.offset = offset


class Call:
    """`callee(arguments)`; `names` holds the names of named arguments, else None."""

    __slots__ = ("arguments", "callee", "names", "offset")

    def __init__(
        self, callee: Node, arguments: tuple[Node, ...], names: tuple[str, ...] | None, offset: int
    ) -> None:
        self.callee = callee
        self.arguments = arguments
        self.names = names
        self.offset = offset


class Negation:
    """`-operand`."""

    __slots__ = ("offset", "operand")

    def __init__(self, operand: Node, offset: int) -> None:
        self.operand = operand
        self.offset = offset


class Arithmetic:
    """Operations of one precedence, from left to right: `first (operator operand)*`."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Node, rest: tuple[tuple[str, Node, int], ...]) -> None:
        self.first = first
        self.rest = rest


class Junction:
    """`a and b and c`, or the same with `or`."""

    __slots__ = ("operands", "operator")

    def __init__(self, operator: str, operands: tuple[Node, ...]) -> None:
        self.operator = operator
        self.operands = operands


class Comparison:
    """`left = right` and its five relatives."""

    __slots__ = ("left", "offset", "operator", "right")

    def __init__(self, operator: str, left: Node, right: Node, offset: int) -> None:
        self.operator = operator
        self.left = left
        self.right = right
        self.offset = offset


class Between:
    """`value between low and high`, both ends included."""

    __slots__ = ("high", "low", "offset", "value")

    def __init__(self, value: Node, low: Node, high: Node, offset: int) -> None:
        self.value = value
        self.low = low
        self.high = high
        self.offset = offset


class In:
    """`value in test`, or in any of several tests."""

    __slots__ = ("offset", "tests", "value")

    def __init__(self, value: Node, tests: tuple[Node, ...], offset: int) -> None:
        self.value = value
        self.tests = tests
        self.offset = offset


class Tests:
    """`(test, test)` to the right of `in`."""

    __slots__ = ("tests",)

    def __init__(self, tests: tuple[Node, ...]) -> None:
        self.tests = tests


class UnaryComparison:
    """`< operand`: a test, and in parentheses a range."""

    __slots__ = ("offset", "operand", "operator")

    def __init__(self, operator: str, operand: Node, offset: int) -> None:
        self.operator = operator
        self.operand = operand
        self.offset = offset


class RangeLiteral:
    """`[start..end]` with its ends in or out."""

    __slots__ = ("end", "end_included", "offset", "start", "start_included")

    def __init__(
        self, start: Node, end: Node, start_included: bool, end_included: bool, offset: int
    ) -> None:
        self.start = start
        self.end = end
        self.start_included = start_included
        self.end_included = end_included
        self.offset = offset


class Span:
    """`start..end` without brackets, which only `for`, `some` and `every` have."""

    __slots__ = ("end", "offset", "start")

    def __init__(self, start: Node, end: Node, offset: int) -> None:
        self.start = start
        self.end = end
        self.offset = offset


class ListLiteral:
    """`[a, b]`."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Node, ...]) -> None:
        self.items = items


class ContextLiteral:
    """`{key: value}`; later entries see earlier ones."""

    __slots__ = ("entries",)

    def __init__(self, entries: tuple[tuple[str, Node], ...]) -> None:
        self.entries = entries


class Conditional:
    """`if a then b else if c then d else e`, its branches in a row."""

    __slots__ = ("branches", "otherwise")

    def __init__(self, branches: tuple[tuple[Node, Node], ...], otherwise: Node) -> None:
        self.branches = branches
        self.otherwise = otherwise


class Iterator:
    """`name in source`."""

    __slots__ = ("name", "offset", "source")

    def __init__(self, name: str, source: Node, offset: int) -> None:
        self.name = name
        self.source = source
        self.offset = offset


class For:
    """`for iterators return body`."""

    __slots__ = ("body", "iterators")

    def __init__(self, iterators: tuple[Iterator, ...], body: Node) -> None:
        self.iterators = iterators
        self.body = body


class Quantified:
    """`some` or `every` iterators `satisfies` body."""

    __slots__ = ("body", "is_every", "iterators")

    def __init__(self, is_every: bool, iterators: tuple[Iterator, ...], body: Node) -> None:
        self.is_every = is_every
        self.iterators = iterators
        self.body = body


class Parameter:
    """One parameter of a function literal."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: FeelType | None) -> None:
        self.name = name
        self.type = type


class FunctionLiteral:
    """`function(parameters) body`; an external one has no body."""

    __slots__ = ("body", "parameters")

    def __init__(self, parameters: tuple[Parameter, ...], body: Node | None) -> None:
        self.parameters = parameters
        self.body = body


class InstanceOf:
    """`value instance of type`."""

    __slots__ = ("type", "value")

    def __init__(self, value: Node, type: FeelType) -> None:
        self.value = value
        self.type = type


class UnaryTests:
    """The tests of one input cell; none at all is `-`, which everything passes."""

    __slots__ = ("is_negated", "reads_input", "tests")

    def __init__(
        self, tests: tuple[Node, ...], is_negated: bool, reads_input: tuple[bool, ...]
    ) -> None:
        self.tests = tests
        self.is_negated = is_negated
        self.reads_input = reads_input


Node = Union[  # noqa: UP007 - the classes above name it before it exists
    Literal,
    Name,
    Path,
    Filter,
    Call,
    Negation,
    Arithmetic,
    Junction,
    Comparison,
    Between,
    In,
    Tests,
    UnaryComparison,
    RangeLiteral,
    Span,
    ListLiteral,
    ContextLiteral,
    Conditional,
    For,
    Quantified,
    FunctionLiteral,
    InstanceOf,
    UnaryTests,
]


def constants_of(node: Node) -> tuple[Value, ...] | None:
    """Give the values that unary tests let pass, if all they do is compare with literals."""
    if not isinstance(node, UnaryTests) or node.is_negated or not node.tests:
        return None
    literals = [test.value for test in node.tests if isinstance(test, Literal)]
    return tuple(literals) if len(literals) == len(node.tests) else None
