"""Every HTTP route answers in its dialect's shape, and API Gateway can hold them all."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests.house.source import FUNCTION, ROOT, Module, functions, modules

RESOURCES_MAX = 300  # per REST API (API Gateway quota, raisable)
TRIGGERS = frozenset(
    {
        "authorizer",
        "lambda_function",
        "on_cw_event",
        "on_dynamodb_record",
        "on_kinesis_record",
        "on_s3_event",
        "on_sns_message",
        "on_sqs_message",
        "on_ws_connect",
        "on_ws_disconnect",
        "on_ws_message",
        "schedule",
    }
)
DOORS = pytest.mark.skipif(not (ROOT / "app.py").is_file(), reason="app.py is not written yet")


def decorators(function: FUNCTION) -> list[str]:
    """Return the names of a function's decorators, outermost first."""
    calls = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return [ast.unparse(call).split(".")[-1] for call in calls]


def bare_routes(module: Module) -> Iterator[str]:
    """Yield the routes that would answer an error in Chalice's shape instead of the dialect's."""
    for function in functions(module):
        worn = decorators(function)
        if "route" in worn and "errors_as" not in worn[worn.index("route") + 1 :]:
            yield f"{module.path}:{function.lineno}: {function.name} wears no errors_as"


def hidden_triggers(module: Module) -> Iterator[str]:
    """Yield the triggers declared outside `app.py`: their handler would bypass the app."""
    for function in functions(module):
        for name in TRIGGERS.intersection(decorators(function)):
            yield f"{module.path}:{function.lineno}: {name} belongs into app.py"


def clashing_parameters(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that name a variable otherwise than another one at the same place."""
    names: dict[tuple[str, ...], str] = {}
    for path in sorted(paths):
        parts = path.strip("/").split("/")
        for index, part in enumerate(parts):
            if part.startswith("{"):
                before = tuple("{}" if p.startswith("{") else p for p in parts[:index])
                if names.setdefault(before, part) != part:
                    yield f"{path}: {part}, elsewhere {names[before]}"


def resources(paths: Iterable[str]) -> set[str]:
    """Return the resources that API Gateway makes for these paths."""
    found: set[str] = set()
    for path in paths:
        parts = path.strip("/").split("/")
        found |= {"/".join(parts[: length + 1]) for length in range(len(parts))}
    return found


@cache
def paths() -> frozenset[str]:
    return frozenset(importlib.import_module("app").app.routes)


def test_every_route_wears_its_dialects_errors() -> None:
    sources = modules("app.py", "chalicelib")
    assert [] == [complaint for module in sources for complaint in bare_routes(module)]


def test_triggers_are_declared_in_the_app_alone() -> None:
    sources = modules("chalicelib")
    assert [] == [complaint for module in sources for complaint in hidden_triggers(module)]


@DOORS
def test_path_parameters_have_one_name_at_one_place() -> None:
    assert [] == list(clashing_parameters(paths()))


@DOORS
def test_path_parameters_are_snake_case() -> None:
    parts = {part for path in paths() for part in path.split("/") if part.startswith("{")}
    assert [] == sorted(part for part in parts if part != part.lower())


@DOORS
def test_api_gateway_can_hold_all_resources() -> None:
    assert RESOURCES_MAX >= len(resources(paths()))


@DOORS
def test_the_app_holds_no_logic() -> None:
    (app,) = modules("app.py")
    assert 100 > app.text.count("\n")


def test_a_bare_route_is_found() -> None:
    bare = "@routes.route('/jobs')\ndef jobs(): ..."
    wrong_order = "@errors_as(x)\n@routes.route('/jobs')\ndef jobs(): ..."
    right = "@routes.route('/jobs')\n@errors_as(x)\ndef jobs(): ..."

    found = [len(list(bare_routes(Module("a.py", text)))) for text in (bare, wrong_order, right)]
    assert [1, 1, 0] == found


def test_a_trigger_in_a_blueprint_is_found() -> None:
    text = "@routes.on_sqs_message(queue='x')\ndef on_timers(event): ..."
    assert 1 == len(list(hidden_triggers(Module("chalicelib/api/x.py", text))))


def test_clashing_parameters_are_found() -> None:
    assert 1 == len(list(clashing_parameters({"/jobs/{job_key}", "/jobs/{key}/complete"})))
    assert [] == list(clashing_parameters({"/jobs/{key}", "/incidents/{incident_key}"}))


def test_resources_are_counted_as_api_gateway_makes_them() -> None:
    grown = [len(resources(p)) for p in (["/a"], ["/a", "/a/b/c"], ["/a", "/a/b/c", "/a/b"])]
    assert [0, 2, 0] == [grown[0] - 1, *(after - before for before, after in pairwise(grown))]
