"""Built-in functions that make values of one kind from another.

Those that make temporal values are in `temporal`.
Source: DMN 1.5 section 10.3.4.1; Camunda's documentation for JSON.
"""

from __future__ import annotations

import re
from decimal import Decimal

from chalicelib.feel import comparison, names, numbers, parser, temporal_text, text
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.errors import FeelError
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.profile import Profile
from chalicelib.feel.tree import Call, Literal, Name, Node, RangeLiteral
from chalicelib.feel.values import Range, Value

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPINGS = frozenset((" ", ",", "."))
_POINTS = frozenset((",", "."))

_LITERALS = {
    "date": temporal_text.parse_date,
    "time": temporal_text.parse_time,
    "date and time": temporal_text.parse_date_and_time,
    "duration": temporal_text.parse_duration,
}


def number(source: str, grouping: str | None = None, point: str | None = None) -> Decimal | None:
    """Read a number with the separators named; null if they are no separators or the same."""
    if grouping is not None:
        if grouping not in _GROUPINGS or grouping == point:
            return None
        source = source.replace(grouping, "")
    if point is not None:
        if point not in _POINTS or (point == "," and "." in source):
            return None
        source = source.replace(point, ".")
    return numbers.read_number(source) if _NUMBER.fullmatch(source) else None


def string(run: Evaluation, value: Value) -> str | None:
    """Write a value as text; null stays null."""
    return None if value is None else text.to_string(value, run.spend)


def range_of(source: str) -> Range | None:
    """Read a range of two literal ends of one kind that ascend."""
    try:
        node = parser.Parser(source.strip(), Profile.DMN, {}, _WORDS).whole()
    except FeelError:
        return None
    if not isinstance(node, RangeLiteral):
        return None
    start, end = _literal(node.start), _literal(node.end)
    if start is None or end is None:
        return None
    return comparison.make_range(start, end, node.start_included, node.end_included)


def _literal(node: Node) -> Value:
    """Give the value of a literal, or of a temporal function of one string; null of others."""
    if isinstance(node, Literal):
        return node.value
    if not isinstance(node, Call) or not isinstance(node.callee, Name) or node.names:
        return None
    read = _LITERALS.get(node.callee.name)
    argument = node.arguments[0] if len(node.arguments) == 1 else None
    if read is None or not isinstance(argument, Literal) or type(argument.value) is not str:
        return None
    return read(argument.value)


_WORDS = names.Names(["date and time"]).trie

FUNCTIONS = (
    Builtin("number(from: string)", number),
    Builtin("number(from: string, grouping separator: string?)", number),
    Builtin(
        "number(from: string, grouping separator: string?, decimal separator: string?)", number
    ),
    Builtin("string(from: any)", string, needs_run=True),
    Builtin("range(from: string)", range_of),
    Builtin("from json(json: string)", text.from_json_text),
    Builtin("from json(value: string)", text.from_json_text),
    Builtin("to json(value: any)", text.to_json_text, needs_run=True),
)
