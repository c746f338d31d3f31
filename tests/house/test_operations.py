"""Every route of a dialect is published, as what it does: docs/adr/0013."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app import app
from chalicelib.api.operation import Operation, camel_case, operation_of
from tests.api.published import DOCUMENTS, prefix_of, published
from tests.house.source import FUNCTION, Module, functions, modules
from tests.house.test_routes import decorators

READERS = {"query": "query", "json_body": "body", "optional_json_body": "body"}
ROUTES = [
    (entry.view_function, method, path)
    for path, methods in app.routes.items()
    for method, entry in methods.items()
    if prefix_of(path)
]
DIALECT = modules("chalicelib/api/zenbpm", "chalicelib/api/scheduler", "chalicelib/api/priostack")


def misread(module: Module) -> Iterator[str]:
    """Yield the shapes that a route reads otherwise than it publishes."""
    readers = {function.name: function for function in functions(module)}
    for function in functions(module):
        published = _arguments(function)
        if published is None:
            continue
        read = dict(_read(function, readers))
        told = {name: published[name] for name in ("query", "body") if name in published}
        if read != told:
            yield f"{module.path}:{function.lineno}: {function.name} reads {read}, tells {told}"
        if ("once" in ast.unparse(function.body[-1]) or _calls(function, "once")) != (
            "headers" in published
        ):
            yield f"{module.path}:{function.lineno}: {function.name} hides a header, or its lack"


def _arguments(function: FUNCTION) -> dict[str, str] | None:
    """Return the source of what a route publishes, by the names of Operation."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "Operation":
            return {each.arg or "": ast.unparse(each.value) for each in decorator.keywords}
    return None


def _read(function: FUNCTION, known: dict[str, FUNCTION]) -> Iterator[tuple[str, str]]:
    """Yield what a function, and those of its module that it calls, read of a request."""
    for node in ast.walk(ast.Module(body=list(function.body), type_ignores=[])):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        reader = READERS.get(name.removeprefix("http."))
        if reader and name.startswith("http."):
            yield reader, ast.unparse(node.args[1])
        elif name in known and name != function.name:
            yield from _read(known[name], known)


def _calls(function: FUNCTION, name: str) -> bool:
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(ast.unparse(func) == f"repeats.{name}" for func in called)


@pytest.mark.parametrize(
    ("view", "method", "path"), ROUTES, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_route_is_published_under_the_name_of_its_function(
    view: Callable[..., Any], method: str, path: str
) -> None:
    operation = operation_of(view)

    assert isinstance(operation, Operation), "it wears no Operation"
    name, told = view.__name__, view.__doc__ or ""
    assert operation.id.lower() == camel_case(name).lower()
    assert operation.id == told.split(":")[0]
    assert operation.path.keys() <= set(re.findall(r"{(\w+)}", path))
    assert operation.answers and all(200 <= status < 300 for status in operation.answers)
    assert all(400 <= status < 500 for status in operation.refusals)
    assert (415 in operation.statuses) == bool(operation.body or operation.upload)
    assert (method == "GET") <= (operation.body is None)


@pytest.mark.parametrize("module", DIALECT, ids=lambda module: module.path)
def test_a_route_reads_what_it_publishes(module: Module) -> None:
    assert [] == list(misread(module))


@pytest.mark.parametrize("module", DIALECT, ids=lambda module: module.path)
def test_errors_are_worded_outside_of_what_is_published(module: Module) -> None:
    worn = [decorators(f) for f in functions(module) if "Operation" in decorators(f)]

    assert [] == [each for each in worn if each[-2:] != ["errors_as", "Operation"]]


@pytest.mark.parametrize("prefix", DOCUMENTS)
def test_no_two_routes_of_a_dialect_are_published_under_one_id(prefix: str) -> None:
    views = [view for view, _, path in ROUTES if prefix_of(path) == prefix]
    ids = [operation.id for operation in map(operation_of, views) if operation]

    assert len(views) == len(ids) == len(set(ids))


@pytest.mark.parametrize("prefix", DOCUMENTS)
def test_a_document_has_every_route_of_its_dialect_and_no_other(prefix: str) -> None:
    routes = {
        (re.sub(r"{\w+}", "{}", path.removeprefix(prefix)), method.lower())
        for _, method, path in ROUTES
        if prefix_of(path) == prefix
    }
    told = {
        (re.sub(r"{\w+}", "{}", path), method)
        for path, methods in published(prefix)["paths"].items()
        for method in methods
    }

    assert routes == told


def test_a_route_that_reads_otherwise_is_found() -> None:
    text = (
        "@Operation('getJobs', query=shapes.A)\n"
        "def get_jobs():\n    http.query(request, shapes.B)\n"
    )
    hidden = (
        "@Operation('failJob', body=shapes.A)\n"
        "def fail_job():\n    http.json_body(request, shapes.A)\n    repeats.once(request)\n"
    )

    assert [1, 1] == [len(list(misread(Module("a.py", each)))) for each in (text, hidden)]
