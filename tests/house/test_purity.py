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


def impurities(module: Module) -> Iterator[str]:
    """Yield a complaint for each name in the module that reads the world outside."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Attribute | ast.Call):
            continue
        name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
        if any(name == call or name.endswith(f".{call}") for call in IMPURE_CALLS):
            yield f"{module.path}:{node.lineno}: {name}"


@pytest.mark.parametrize("module", PURE, ids=lambda module: module.path)
def test_a_pure_module_reads_nothing_of_the_world(module: Module) -> None:
    assert [] == sorted(set(impurities(module)))


@pytest.mark.parametrize(
    "line", ["x = datetime.now(UTC)", "x = dt.datetime.utcnow()", "open('x')", "y = date.today()"]
)
def test_an_impure_call_is_found(line: str) -> None:
    assert [] != list(impurities(Module("chalicelib/engine/jobs.py", line)))
