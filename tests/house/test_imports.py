"""The rooms know only whom they may: design section 2."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.house.rooms import IMPURE, ONLY_IN, ROOMS, is_standard, room_of
from tests.house.source import SHIPPED, Module, imports, modules

OURS = ("chalicelib", "infra", "app")


def foreign_imports(module: Module) -> Iterator[str]:
    """Yield a complaint for each import that the module's room does not allow."""
    room = ROOMS[room_of(module.name)]
    for target, line, _ in imports(module):
        package = target.split(".")[0]
        where = f"{module.path}:{line}"
        if package in OURS:
            other = room_of(target)
            if other not in room.rooms | {room_of(module.name), "chalicelib"}:
                yield f"{where}: {room_of(module.name)} may not import {target}"
        elif is_standard(package):
            if room.pure and package in IMPURE:
                yield f"{where}: {room_of(module.name)} is pure and may not import {target}"
        elif package not in room.packages:
            yield f"{where}: {room_of(module.name)} may not import {target}"


def misplaced_packages(module: Module) -> Iterator[str]:
    """Yield a complaint for each run-time import of a package that belongs elsewhere."""
    for target, line, typing_only in imports(module):
        homes = ONLY_IN.get(target.split(".")[0])
        if homes is None or typing_only:
            continue
        if not any(module.name == home or module.name.startswith(f"{home}.") for home in homes):
            yield f"{module.path}:{line}: only {sorted(homes)} may import {target}"


def test_modules_import_only_what_their_rooms_may_know() -> None:
    known = [module for module in modules(*SHIPPED) if module.name != "chalicelib"]
    assert [] == [complaint for module in known for complaint in foreign_imports(module)]
    assert [] == [complaint for module in known for complaint in misplaced_packages(module)]


def test_every_room_is_in_the_table() -> None:
    found = {room_of(module.name) for module in modules(*SHIPPED)} - {"chalicelib"}
    assert set() == found - ROOMS.keys()


def test_rooms_form_no_circle() -> None:
    edges: dict[str, set[str]] = {}
    for module in modules(*SHIPPED):
        for target, _, typing_only in imports(module):
            other = room_of(target)
            if target.split(".")[0] in OURS and other in ROOMS and not typing_only:
                edges.setdefault(room_of(module.name), set()).add(other)
    assert [] == _circle({room: others - {room} for room, others in edges.items()})


def _circle(edges: dict[str, set[str]]) -> list[str]:
    """Return the rooms that are left when those which import nobody left are taken away."""
    while free := {room for room, others in edges.items() if not others & edges.keys()}:
        edges = {room: others for room, others in edges.items() if room not in free}
    return sorted(edges)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("chalicelib/engine/jobs.py", "import boto3"),
        ("chalicelib/engine/jobs.py", "import time"),
        ("chalicelib/engine/jobs.py", "from chalicelib.store import items"),
        ("chalicelib/operations/jobs.py", "from chalicelib.api import http"),
        ("chalicelib/operations/jobs.py", "from chalicelib import wiring"),
        ("chalicelib/api/http.py", "import boto3"),
        ("chalicelib/feel/text.py", "from chalicelib.errors import Rejected"),
        ("chalicelib/store/items.py", "from ..operations import advance"),
        ("chalicelib/triggers/timers.py", "from chalice import Chalice"),
    ],
)
def test_a_forbidden_import_is_found(path: str, line: str) -> None:
    assert 1 == len(list(foreign_imports(Module(path, line))))


def test_a_client_package_outside_its_module_is_found() -> None:
    module = Module("chalicelib/store/items.py", "def f():\n    import botocore")
    assert 1 == len(list(misplaced_packages(module)))


def test_a_circle_of_rooms_is_found() -> None:
    assert ["a", "b"] == _circle({"a": {"b"}, "b": {"a"}, "c": {"a"}} | {"c": set()})
