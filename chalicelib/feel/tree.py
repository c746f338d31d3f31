"""The syntax tree of FEEL, one class per form of expression.

Units: every `offset` is where in the text the part begins that a warning would point at.
Source: DMN 1.5 section 10.3.1.2, whose grammar rules the classes are named after.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from chalicelib.feel.types import FeelType
from chalicelib.feel.values import Value


class Literal(NamedTuple):
    """A value that is written out."""

    value: Value


class Name(NamedTuple):
    """A variable, a built-in function, or `?`."""

    name: str
    offset: int


class Path(NamedTuple):
    """`base.name`."""

    base: Node
    name: str
    offset: int


class Filter(NamedTuple):
    """`base[condition]`, where the condition may be an index."""

    base: Node
    condition: Node
    offset: int


class Call(NamedTuple):
    """`callee(arguments)`; `names` holds the names of named arguments, else None."""

    callee: Node
    arguments: tuple[Node, ...]
    names: tuple[str, ...] | None
    offset: int


class Negation(NamedTuple):
    """`-operand`."""

    operand: Node
    offset: int


class Arithmetic(NamedTuple):
    """Operations of one precedence, from left to right: `first (operator operand)*`."""

    first: Node
    rest: tuple[tuple[str, Node, int], ...]


class Junction(NamedTuple):
    """`a and b and c`, or the same with `or`."""

    operator: str
    operands: tuple[Node, ...]


class Comparison(NamedTuple):
    """`left = right` and its five relatives."""

    operator: str
    left: Node
    right: Node
    offset: int


class Between(NamedTuple):
    """`value between low and high`, both ends included."""

    value: Node
    low: Node
    high: Node
    offset: int


class In(NamedTuple):
    """`value in test`, or in any of several tests."""

    value: Node
    tests: tuple[Node, ...]
    offset: int


class Tests(NamedTuple):
    """`(test, test)` to the right of `in`."""

    tests: tuple[Node, ...]


class UnaryComparison(NamedTuple):
    """`< operand`: a test, and in parentheses a range."""

    operator: str
    operand: Node
    offset: int


class RangeLiteral(NamedTuple):
    """`[start..end]` with its ends in or out."""

    start: Node
    end: Node
    start_included: bool
    end_included: bool
    offset: int


class Span(NamedTuple):
    """`start..end` without brackets, which only `for`, `some` and `every` have."""

    start: Node
    end: Node
    offset: int


class ListLiteral(NamedTuple):
    """`[a, b]`."""

    items: tuple[Node, ...]


class ContextLiteral(NamedTuple):
    """`{key: value}`; later entries see earlier ones."""

    entries: tuple[tuple[str, Node], ...]


class Conditional(NamedTuple):
    """`if a then b else if c then d else e`, its branches in a row."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node


class Iterator(NamedTuple):
    """`name in source`."""

    name: str
    source: Node
    offset: int


class For(NamedTuple):
    """`for iterators return body`."""

    iterators: tuple[Iterator, ...]
    body: Node


class Quantified(NamedTuple):
    """`some` or `every` iterators `satisfies` body."""

    is_every: bool
    iterators: tuple[Iterator, ...]
    body: Node


class Parameter(NamedTuple):
    """One parameter of a function literal."""

    name: str
    type: FeelType | None


class FunctionLiteral(NamedTuple):
    """`function(parameters) body`; an external one has no body."""

    parameters: tuple[Parameter, ...]
    body: Node | None


class InstanceOf(NamedTuple):
    """`value instance of type`."""

    value: Node
    type: FeelType


class UnaryTests(NamedTuple):
    """The tests of one input cell; none at all is `-`, which everything passes."""

    tests: tuple[Node, ...]
    is_negated: bool
    reads_input: tuple[bool, ...]


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
