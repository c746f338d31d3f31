"""FEEL's parser: text to tree, in one pass.

Theory of operation
-------------------
Operators are read by precedence climbing: `expression(power)` reads an operand and then every
operator that binds more tightly than `power`. An operand is what its first token says (the table
`OPERANDS`, filled from `grammar`), followed by any number of paths, filters, calls and
`instance of`, which bind tightest of all.

Four things make FEEL harder than that:

* Where a name ends depends on the scope: `a-b` may be one name, and `Monthly Salary` is one only
  if somebody called something so. Tokens are therefore read one at a time, and at a name the
  parser asks for the longest one that is known: what the caller gave, what the text itself has
  introduced so far, then the built-in functions.
* `[` begins a list or a range where an operand is due, and a filter after one; in `[1..10[` it
  ends a range. There it is a filter only if an operand follows.
* `(` may begin a range, a test such as `(< 10)`, and after `in` a list of tests.
* Chains of one operator, and of `else if`, are common and long. They become one flat node each,
  so that only real nesting costs depth, in the parser, the compiler and the evaluation alike.

Depth is counted, so a text nested too deeply is a syntax error and never exhausts the stack. Time
is linear in the length of the text: nothing is read twice but a name and the token after it.

Source: DMN 1.5 section 10.3.1.2; unary minus binds more tightly than `**`, which associates to
the left, as the compatibility kit fixes.
"""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.feel import grammar, names
from chalicelib.feel.errors import FeelSyntaxError
from chalicelib.feel.limits import DEPTH_MAX, TEXT_MAX
from chalicelib.feel.names import Trie
from chalicelib.feel.profile import Profile
from chalicelib.feel.tokens import KEYWORDS, Tokens
from chalicelib.feel.tree import (
    Arithmetic,
    Between,
    Call,
    Comparison,
    Filter,
    In,
    InstanceOf,
    Junction,
    Name,
    Node,
    Path,
    Tests,
    UnaryComparison,
    UnaryTests,
)

_NAMES = frozenset(("name", "quoted"))
COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_OR, _AND, _COMPARES, _ADDS, _MULTIPLIES, _RAISES = 1, 2, 3, 4, 5, 6
_POWERS = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(COMPARISONS, _COMPARES),
    "between": _COMPARES,
    "in": _COMPARES,
    "+": _ADDS,
    "-": _ADDS,
    "*": _MULTIPLIES,
    "/": _MULTIPLIES,
    "**": _RAISES,
}


class Parser(Tokens):
    """One text on its way to a tree."""

    __slots__ = ("builtins", "depth", "ends_range", "profile", "reads_input", "tests_at")

    def __init__(self, text: str, profile: Profile, scope: Trie, builtins: Trie) -> None:
        if len(text) > TEXT_MAX:
            raise FeelSyntaxError(f"expected at most {TEXT_MAX} characters", text, TEXT_MAX)
        self.profile = profile
        self.builtins = builtins
        self.depth = 0
        self.ends_range = False  # reading the end of a range, which '[' may close
        self.tests_at = -1  # where a '(' may hold several tests
        self.reads_input = False  # '?' was read
        super().__init__(text, scope)

    def whole(self) -> Node:
        """Read the whole text as one expression."""
        node = self.expression(0)
        if self.kind != "end":
            self.fail("an operator or the end")
        return node

    def unary_tests(self) -> UnaryTests:
        """Read the whole text as the tests of an input cell: `-`, `not(…)`, or a list."""
        if self.kind == "-" and self.is_followed_by("", self.end):
            self.advance()
            return UnaryTests((), False, ())
        if self.word == "not" and self.is_followed_by("(", self.end):
            start = self.start
            self.advance()
            self.advance()
            negated = self._tests(is_negated=True)
            if self.kind == ")" and self.is_followed_by("", self.end):
                return negated
            self.rewind(start)  # `not(…) and …`, an expression after all
        tests = self._tests(is_negated=False)
        if self.kind != "end":
            self.fail("',' or the end")
        return tests

    def expression(self, power: int) -> Node:
        """Read an expression of operators that bind more tightly than `power`."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            problem = f"expected at most {DEPTH_MAX} expressions inside each other"
            raise FeelSyntaxError(problem, self.text, self.start)
        left = self.operand()
        while (binds := _POWERS.get(self.kind, 0)) > power:
            left = _INFIX[binds](self, left, binds)
        self.depth -= 1
        return left

    def operand(self) -> Node:
        """Read one operand with the paths, filters and calls behind it."""
        kind = self.kind
        node: Node
        if kind in _NAMES or (kind in KEYWORDS and self.longest_name() > self.end):
            node = self._variable()
        else:
            read = grammar.OPERANDS.get(kind)
            if read is None:
                self.fail("an expression")
            node = read(self)
        while (behind := _POSTFIX.get(self.kind)) is not None:
            if self.kind == "[" and self._closes_range():
                break
            node = behind(self, node)
        return node

    def test(self) -> Node:
        """Read one test: `< operand`, or an expression."""
        if self.kind not in COMPARISONS:
            return self.expression(0)
        operator, offset = self.kind, self.start
        self.advance()
        return UnaryComparison(operator, self.expression(_COMPARES), offset)

    def tests(self) -> tuple[Node, ...]:
        """Read tests between commas."""
        tests = [self.test()]
        while self.kind == ",":
            self.advance()
            tests.append(self.test())
        return tuple(tests)

    def _tests(self, *, is_negated: bool) -> UnaryTests:
        tests: list[Node] = []
        reads: list[bool] = []
        while True:
            self.reads_input = False
            tests.append(self.test())
            reads.append(self.reads_input)
            if self.kind != ",":
                return UnaryTests(tuple(tests), is_negated, tuple(reads))
            self.advance()

    def _variable(self) -> Name:
        offset, word = self.start, self.word
        if self.kind == "name" and word in self.builtins:
            end = names.longest(self.builtins, self.text, offset)
            if end > self.longest_name() and not self._is_conjunction(offset, end):
                self.rewind(end)
                return Name(names.normalized(self.text[offset:end]), offset)
        name = self.name()
        if name == "?":
            self.reads_input = True
        return Name(name, offset)

    def _is_conjunction(self, start: int, end: int) -> bool:
        """Tell whether `date and time` joins two variables: no call follows."""
        return " and " in self.text[start:end] and not self.is_followed_by("(", end)

    def _closes_range(self) -> bool:
        return self.ends_range and not self.starts_operand_at(self.end)


def _junction(parser: Parser, left: Node, power: int) -> Node:
    operator = parser.kind
    operands = [left]
    while parser.kind == operator:
        parser.advance()
        operands.append(parser.expression(power))
    return Junction(operator, tuple(operands))


def _arithmetic(parser: Parser, left: Node, power: int) -> Node:
    rest: list[tuple[str, Node, int]] = []
    while _POWERS.get(parser.kind) == power:
        operator, offset = parser.kind, parser.start
        parser.advance()
        rest.append((operator, parser.expression(power), offset))
    return Arithmetic(left, tuple(rest))


def _comparison(parser: Parser, left: Node, power: int) -> Node:
    operator, offset = parser.kind, parser.start
    parser.advance()
    if operator == "between":
        low = parser.expression(_COMPARES)
        parser.expect("and")
        return Between(left, low, parser.expression(_COMPARES), offset)
    if operator == "in":
        parser.tests_at = parser.start if parser.kind == "(" else -1
        test = parser.test() if parser.kind in COMPARISONS else parser.expression(power)
        return In(left, test.tests if isinstance(test, Tests) else (test,), offset)
    return Comparison(operator, left, parser.expression(power), offset)


_INFIX: dict[int, Callable[[Parser, Node, int], Node]] = {
    _OR: _junction,
    _AND: _junction,
    _COMPARES: _comparison,
    _ADDS: _arithmetic,
    _MULTIPLIES: _arithmetic,
    _RAISES: _arithmetic,
}


def _path(parser: Parser, base: Node) -> Node:
    parser.advance()
    offset = parser.start
    if parser.word in grammar.PROPERTY_WORDS and not parser.longest_name():
        end = names.longest(grammar.PROPERTY_WORDS, parser.text, offset)
        if end:
            parser.rewind(end)
            return Path(base, names.normalized(parser.text[offset:end]), offset)
    return Path(base, parser.name(), offset)


def _filter(parser: Parser, base: Node) -> Node:
    offset = parser.start
    parser.advance()
    condition = grammar.inside(parser)
    parser.expect("]")
    return Filter(base, condition, offset)


def _call(parser: Parser, callee: Node) -> Node:
    offset = callee.offset if isinstance(callee, Name) else parser.start
    parser.advance()
    arguments: list[Node] = []
    keys: list[str] = []
    while parser.kind != ")":
        if arguments:
            parser.separate(")")
        key = parser.key() if parser.kind not in grammar.OPERANDS or keys else None
        if key is not None:
            keys.append(key)
        arguments.append(grammar.inside(parser))
        if keys and len(keys) != len(arguments):
            parser.fail("a name and ':' for every argument, or for none")
    parser.advance()
    return Call(callee, tuple(arguments), tuple(keys) if keys else None, offset)


def _instance_of(parser: Parser, value: Node) -> Node:
    parser.advance()
    if parser.word != "of":
        parser.fail("'of'")
    parser.advance()
    return InstanceOf(value, grammar.read_type(parser))


_POSTFIX: dict[str, Callable[[Parser, Node], Node]] = {
    ".": _path,
    "[": _filter,
    "(": _call,
    "instance": _instance_of,
}
