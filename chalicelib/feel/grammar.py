"""What each first token of an operand begins: literals, ranges, lists, contexts, `if`, `for`.

Every function here takes the parser at that token and leaves it behind the operand.
Source: DMN 1.5 section 10.3.1.2, by the names of its grammar rules.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib.feel import names, numbers, temporal_text
from chalicelib.feel.limits import DEPTH_MAX
from chalicelib.feel.tree import (
    Conditional,
    ContextLiteral,
    For,
    FunctionLiteral,
    Iterator,
    ListLiteral,
    Literal,
    Negation,
    Node,
    Parameter,
    Quantified,
    RangeLiteral,
    Span,
    Tests,
)
from chalicelib.feel.types import ANY, SIMPLE_TYPES, FeelType
from chalicelib.feel.values import Kind

if TYPE_CHECKING:
    from chalicelib.feel.parser import Parser

# Properties of FEEL's own values whose names have a space.
PROPERTY_WORDS: names.Trie = {}
for _name in ("time offset", "start included", "end included"):
    names.add(PROPERTY_WORDS, _name)

_TYPE_WORDS: names.Trie = {}
for _name in SIMPLE_TYPES:
    names.add(_TYPE_WORDS, _name)


def inside(parser: Parser) -> Node:
    """Read an expression inside brackets of any form, where no range of outside can end."""
    ends_range, parser.ends_range = parser.ends_range, False
    node = parser.expression(0)
    parser.ends_range = ends_range
    return node


def read_type(parser: Parser) -> FeelType:
    """Read a type: a simple one, `list<T>`, `range<T>`, `context<…>`, `function<…> -> T`."""
    parser.depth += 1
    if parser.depth > DEPTH_MAX:
        parser.fail("a type nested less deeply")
    name = _type_name(parser)
    of: tuple[FeelType, ...] = ()
    entries: tuple[tuple[str, FeelType], ...] = ()
    if parser.kind == "<" and name in (Kind.LIST, Kind.RANGE):
        parser.advance()
        of = (read_type(parser),)
        _close_type(parser)
    elif parser.kind == "<" and name == Kind.CONTEXT:
        entries = _entry_types(parser)
    elif parser.kind == "<" and name == Kind.FUNCTION:
        of = _function_types(parser)
    parser.depth -= 1
    return FeelType(name, of, entries)


def _type_name(parser: Parser) -> str:
    if parser.word in _TYPE_WORDS and not parser.longest_name() > parser.end:
        end = names.longest(_TYPE_WORDS, parser.text, parser.start)
        if end:
            name = names.normalized(parser.text[parser.start : end])
            parser.rewind(end)
            return SIMPLE_TYPES[name]
    name = parser.name()
    while parser.kind == ".":
        parser.advance()
        name = f"{name}.{parser.name()}"
    return name


def _close_type(parser: Parser) -> None:
    """Go past `>`, which with a following `=` is one token."""
    if parser.kind == ">=":
        parser.rewind(parser.start + 1)
    else:
        parser.expect(">")


def _entry_types(parser: Parser) -> tuple[tuple[str, FeelType], ...]:
    entries: list[tuple[str, FeelType]] = []
    parser.advance()
    while parser.kind != ">":
        if entries:
            parser.separate(">")
        key = parser.key()
        if key is None:
            parser.fail("a name and ':'")
        parser.introduce(key)
        entries.append((key, read_type(parser)))
        if parser.kind == ">=":
            break
    _close_type(parser)
    return tuple(entries)


def _function_types(parser: Parser) -> tuple[FeelType, ...]:
    types: list[FeelType] = []
    parser.advance()
    while parser.kind != ">":
        if types:
            parser.separate(">")
        types.append(read_type(parser))
    parser.advance()
    if parser.kind == "-":
        parser.advance()
        parser.expect(">")
        return (*types, read_type(parser))
    return (*types, FeelType(ANY))


def _number(parser: Parser) -> Node:
    value = numbers.read_number(parser.word)
    parser.advance()
    return Literal(value)


def _string(parser: Parser) -> Node:
    value = parser.literal()
    parser.advance()
    return Literal(value)


def _at_literal(parser: Parser) -> Node:
    value = temporal_text.parse_temporal(parser.literal())
    parser.advance()
    return Literal(value)


def _constant(value: bool | None) -> Callable[[Parser], Node]:
    def read(parser: Parser) -> Node:
        parser.advance()
        return Literal(value)

    return read


def _negation(parser: Parser) -> Node:
    offset = parser.start
    signs = 0
    while parser.kind == "-":
        parser.advance()
        signs += 1
    node = parser.operand()
    if isinstance(node, Literal) and isinstance(node.value, Decimal):
        return Literal(numbers.CONTEXT.minus(node.value)) if signs % 2 else node
    node = Negation(node, offset)
    return node if signs % 2 else Negation(node, offset)


def _parenthesized(parser: Parser) -> Node:
    offset = parser.start
    holds_tests = offset == parser.tests_at
    parser.advance()
    ends_range, parser.ends_range = parser.ends_range, False
    node = parser.test()
    if parser.kind == "..":
        node = _range(parser, node, offset, start_included=False)
    elif holds_tests and parser.kind == ",":
        parser.advance()
        node = Tests((node, *parser.tests()))
        parser.expect(")")
        if parser.kind in _TAKES_A_VALUE:
            parser.fail("the end of the tests")
    else:
        parser.expect(")")
    parser.ends_range = ends_range
    return node


# What would go on from the value before it, which several tests in parentheses do not have.
_TAKES_A_VALUE = frozenset((".", "[", "(", "instance", "**", "*", "/", "+", "-"))


def _bracketed(parser: Parser) -> Node:
    offset = parser.start
    parser.advance()
    items: list[Node] = []
    while parser.kind != "]":
        if items:
            parser.separate("]")
        items.append(inside(parser))
        if parser.kind == ".." and len(items) == 1:
            return _range(parser, items[0], offset, start_included=True)
    parser.advance()
    if all(isinstance(item, Literal) for item in items):
        return Literal([item.value for item in items if isinstance(item, Literal)])
    return ListLiteral(tuple(items))


def _open_range(parser: Parser) -> Node:
    """Read `]start..end[`, whose first bracket leaves the start out."""
    offset = parser.start
    parser.advance()
    start = inside(parser)
    if parser.kind != "..":
        parser.fail("'..'")
    return _range(parser, start, offset, start_included=False)


def _range(parser: Parser, start: Node, offset: int, *, start_included: bool) -> Node:
    parser.advance()
    ends_range, parser.ends_range = parser.ends_range, True
    end = parser.expression(0)
    parser.ends_range = ends_range
    if parser.kind not in ("]", ")", "["):
        parser.fail("']', ')' or '['")
    end_included = parser.kind == "]"
    parser.advance()
    return RangeLiteral(start, end, start_included, end_included, offset)


def _context(parser: Parser) -> Node:
    parser.advance()
    entries: list[tuple[str, Node]] = []
    while parser.kind != "}":
        if entries:
            parser.separate("}")
        key = parser.key()
        if key is None:
            parser.fail("a key and ':'")
        parser.introduce(key)
        entries.append((key, inside(parser)))
    parser.advance()
    return ContextLiteral(tuple(entries))


def _conditional(parser: Parser) -> Node:
    branches: list[tuple[Node, Node]] = []
    while parser.kind == "if":
        parser.advance()
        condition = parser.expression(0)
        parser.expect("then")
        branches.append((condition, parser.expression(0)))
        parser.expect("else")
    return Conditional(tuple(branches), parser.expression(0))


def _iterators(parser: Parser) -> tuple[Iterator, ...]:
    iterators: list[Iterator] = []
    while True:
        parser.advance()
        offset = parser.start
        name = parser.new_name()
        parser.expect("in")
        source = parser.expression(0)
        if parser.kind == "..":
            parser.advance()
            source = Span(source, parser.expression(0), offset)
        iterators.append(Iterator(name, source, offset))
        if parser.kind != ",":
            return tuple(iterators)


def _for(parser: Parser) -> Node:
    iterators = _iterators(parser)
    parser.expect("return")
    return For(iterators, parser.expression(0))


def _quantified(parser: Parser) -> Node:
    is_every = parser.kind == "every"
    iterators = _iterators(parser)
    parser.expect("satisfies")
    return Quantified(is_every, iterators, parser.expression(0))


def _function(parser: Parser) -> Node:
    parser.advance()
    parser.expect("(")
    parameters: list[Parameter] = []
    while parser.kind != ")":
        if parameters:
            parser.separate(")")
        name = parser.new_name()
        wanted = None
        if parser.kind == ":":
            parser.advance()
            wanted = read_type(parser)
        parameters.append(Parameter(name, wanted))
    parser.advance()
    if parser.kind == "external":
        parser.advance()
        parser.expression(0)  # the mapping to Java or PMML, which no host here can call
        return FunctionLiteral(tuple(parameters), None)
    return FunctionLiteral(tuple(parameters), parser.expression(0))


OPERANDS: dict[str, Callable[[Parser], Node]] = {
    "number": _number,
    "string": _string,
    "at": _at_literal,
    "true": _constant(True),
    "false": _constant(False),
    "null": _constant(None),
    "-": _negation,
    "(": _parenthesized,
    "[": _bracketed,
    "]": _open_range,
    "{": _context,
    "if": _conditional,
    "for": _for,
    "some": _quantified,
    "every": _quantified,
    "function": _function,
}
