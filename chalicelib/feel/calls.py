"""What an expression says in its calls of one function, without being evaluated.

A model may tag a value for others by a function that gives it back unchanged, such as `fromAi`:
what the tag says is read off the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chalicelib.feel import builtins
from chalicelib.feel.compiler import compile_tree
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.names import Names
from chalicelib.feel.parser import Parser
from chalicelib.feel.profile import Profile
from chalicelib.feel.tree import Call, Name, Path
from chalicelib.feel.values import Value

_NO_NAMES = Names()


def calls_of(text: str, function: str, parameters: Sequence[str]) -> list[dict[str, Value]]:
    """Return the arguments of each call of a function, by their parameters, in the text's order.

    Shapes: of the first parameter the last name of the path that is given for it, None if it is
        none; of the others what they are if they are constant, else null.
    Raises: FeelSyntaxError.
    """
    tree = Parser(text, Profile.ZEEBE, _NO_NAMES.trie, builtins.TRIE).whole()
    found = []
    for call in _calls(tree, function):
        names = call.names or parameters[: len(call.arguments)]
        given = dict(zip(names, call.arguments, strict=False))
        first = given.pop(parameters[0], None)
        values: dict[str, Value] = {parameters[0]: _last_name(first)}
        found.append(values | {name: _constant(node) for name, node in given.items()})
    return found


def _calls(node: Any, function: str) -> Iterator[Call]:
    """Yield the calls in a part of a tree, the outer ones first; a tree is as deep as the parser
    lets it be."""
    if isinstance(node, Call) and isinstance(node.callee, Name) and node.callee.name == function:
        yield node
    if isinstance(node, tuple | list):
        inner = list(node)
    else:
        inner = [getattr(node, name) for name in getattr(type(node), "__slots__", ())]
    for part in inner:
        if isinstance(part, tuple | list) or type(part).__module__ == Call.__module__:
            yield from _calls(part, function)


def _last_name(node: Any) -> str | None:
    return node.name if isinstance(node, Name | Path) else None


def _constant(node: Any) -> Value:
    compiled = compile_tree(node, Profile.ZEEBE, _NO_NAMES.types)
    return compiled.closure(Evaluation({}, [None] * compiled.size, None, None, None))
