"""The house's own source as syntax trees, for rules that read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("app.py", "chalicelib", "infra")
WRITTEN = (*SHIPPED, "tests", "bench", "examples")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file: its path from the project's root, its dotted name, text and tree."""

    path: str
    text: str

    @property
    def name(self) -> str:
        parts = Path(self.path).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def tree(self) -> ast.Module:
        return _parse(self.path, self.text)

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")


@cache
def _parse(path: str, text: str) -> ast.Module:
    return ast.parse(text, path)


@cache
def modules(*places: str) -> tuple[Module, ...]:
    """Return every Python module of these files and folders, in the order of their paths."""
    return tuple(
        Module(str(path.relative_to(ROOT)), path.read_text())
        for place in places
        for path in _files(ROOT / place)
    )


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from sorted(place.rglob("*.py"))


@cache
def imports(module: Module) -> tuple[tuple[str, int, bool], ...]:
    """Return what a module imports: dotted name, line, and whether only for the type checker.

    Shapes: `from a import b` gives `a.b`, so that a module of a package is told from a name.
    """
    return tuple(_imports(module))


def _imports(module: Module) -> Iterator[tuple[str, int, bool]]:
    typing_only = _for_types(module) if "TYPE_CHECKING" in module.text else frozenset()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) in typing_only
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:
                yield f"{base}.{alias.name}", node.lineno, id(node) in typing_only


def _for_types(module: Module) -> frozenset[int]:
    """Return the statements that run for the type checker only, by their ids."""
    return frozenset(
        id(inner)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.If) and _names_type_checking(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    )


def _names_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test).split(".")[-1] == "TYPE_CHECKING"


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".")
    package = package if module.is_package else package[:-1]
    parents = package[: len(package) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


def functions(module: Module) -> Iterator[FUNCTION]:
    """Yield every function and method of a module, nested ones too."""
    return (node for node in ast.walk(module.tree) if isinstance(node, FUNCTION))


def lines_of(function: FUNCTION) -> int:
    """Return how many lines a function has, its decorators and its docstring not counted."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total
