"""The pure rooms touch no clock, environment, randomness or files."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.rooms import IMPURE_CALLS, ROOMS, room_of
from tests.house.source import SHIPPED, Module, modules

PURE = [
    module
    for module in modules(*SHIPPED)
    if module.name != "chalicelib" and ROOMS.get(room_of(module.name), ROOMS["errors"]).pure
]
LAST_NAMES = frozenset(call.split(".")[-1] for call in IMPURE_CALLS)


def impurities(module: Module) -> Iterator[str]:
    """Yield a complaint for each name in the module that reads the world outside."""
    for node in ast.walk(module.tree):
        named = node.func if isinstance(node, ast.Call) else node
        if not isinstance(named, ast.Attribute | ast.Name) or last_name(named) not in LAST_NAMES:
            continue
        name = ast.unparse(named)
        is_called = isinstance(node, ast.Call) or isinstance(named, ast.Attribute)
        if is_called and any(name == each or name.endswith(f".{each}") for each in IMPURE_CALLS):
            yield f"{module.path}:{named.lineno}: {name}"


def last_name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def test_the_pure_rooms_read_nothing_of_the_world() -> None:
    assert [] == sorted({complaint for module in PURE for complaint in impurities(module)})


@pytest.mark.parametrize(
    "line", ["x = datetime.now(UTC)", "x = dt.datetime.utcnow()", "open('x')", "y = date.today()"]
)
def test_an_impure_call_is_found(line: str) -> None:
    assert [] != list(impurities(Module("chalicelib/engine/jobs.py", line)))
