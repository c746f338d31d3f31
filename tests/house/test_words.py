"""Names say what things are, and no note is left for later."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.house.source import SHIPPED, WRITTEN, Module, modules

NAMES_BANNED = frozenset(
    {"utils", "util", "common", "helpers", "helper", "manager", "base", "impl"}
)
NOTES_BANNED = re.compile(rf"\b({'|'.join(('TO' + 'DO', 'FIX' + 'ME', 'X' * 3, 'HA' + 'CK'))})\b")
SILENT = [
    module
    for module in modules(*SHIPPED)
    if not module.name.startswith(("chalicelib.local", "chalicelib.cli", "infra"))
]


def vague_names(module: Module) -> Iterator[str]:
    """Yield a complaint for each part of a module's name, or class, that says nothing."""
    for part in module.name.split("."):
        if part.strip("_") in NAMES_BANNED:
            yield f"{module.path}: a module is not called {part}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and re.search(
            r"(Manager|Helper|Impl|^Abstract|^I[A-Z][a-z])", node.name
        ):
            yield f"{module.path}:{node.lineno}: a class is not called {node.name}"


def notes(module: Module) -> Iterator[str]:
    """Yield a complaint for each comment or docstring that leaves something for later."""
    if not NOTES_BANNED.search(module.text):
        return
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) and NOTES_BANNED.search(token.string):
            yield f"{module.path}:{token.start[0]}: {token.string.strip()[:80]}"


def prints(module: Module) -> Iterator[str]:
    """Yield a complaint for each call of print; only the command line talks."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield f"{module.path}:{node.lineno}: print"


def test_names_tell_what_things_are() -> None:
    assert [] == [complaint for module in modules(*WRITTEN) for complaint in vague_names(module)]


def test_no_note_is_left_for_later() -> None:
    assert [] == [complaint for module in modules(*WRITTEN) for complaint in notes(module)]


def test_only_the_command_line_prints() -> None:
    assert [] == [complaint for module in SILENT for complaint in prints(module)]


def test_every_module_says_what_it_is_for() -> None:
    told = [module for module in modules(*SHIPPED) if module.text.strip()]
    assert [] == [module.path for module in told if not ast.get_docstring(module.tree)]


def test_what_is_banned_is_found() -> None:
    assert 1 == len(list(vague_names(Module("chalicelib/store/utils.py", ""))))
    assert 1 == len(list(vague_names(Module("a.py", "class JobManager: ..."))))
    assert 1 == len(list(notes(Module("a.py", f"x = 1  # {'TO'}{'DO'} later"))))
    assert 1 == len(list(prints(Module("a.py", "print(1)"))))
