"""Request and response pairs of every operation, as files that other people can read.

A file of `golden/` is named after its operation and tells a story: each step is a request and the
answer to it. `<key>`, `<time>` and `<text>` stand for any value of that kind, and `"keep"` names
values of an answer that later steps use as `{name}`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from app import app
from chalicelib import json_text
from chalicelib.api.gateway import ANY_PATH
from tests.api.client import Answer, Client
from tests.api.driver import model

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.json"))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def operation_ids() -> set[str]:
    """Return the operation of each route under `/v1`: the first word of its view's docstring."""
    views = {
        view.view_function
        for pattern, methods in app.routes.items()
        for view in methods.values()
        if pattern.startswith("/v1/") and pattern != ANY_PATH
    }
    return {str(view.__doc__).partition(":")[0] for view in views}


def filled(value: Any, kept: dict[str, Any]) -> Any:
    """Return a request with what earlier answers gave."""
    match value:
        case str():
            whole = re.fullmatch(r"\{(\w+)\}", value)
            if whole and whole[1] in kept:
                return kept[whole[1]]
            return re.sub(r"\{(\w+)\}", lambda name: str(kept[name[1]]), value)
        case dict():
            return {name: filled(member, kept) for name, member in value.items()}
        case list():
            return [filled(item, kept) for item in value]
        case _:
            return value


def fits(wanted: Any, found: Any) -> bool:
    """Say whether an answer is the one of the file, placeholders aside."""
    match wanted:
        case "<key>":
            return isinstance(found, Decimal) and 2**32 <= found < 2**53
        case "<time>":
            return isinstance(found, str) and _TIME.fullmatch(found) is not None
        case "<text>":
            return isinstance(found, str) and found != ""
        case dict():
            return (
                isinstance(found, dict)
                and list(wanted) == list(found)
                and all(fits(member, found[name]) for name, member in wanted.items())
            )
        case list():
            return (
                isinstance(found, list)
                and len(wanted) == len(found)
                and all(map(fits, wanted, found))
            )
        case _:
            return bool(wanted == found and type(wanted) is type(found))


def send(client: Client, step: dict[str, Any], kept: dict[str, Any]) -> Answer:
    method, path = filled(step["request"], kept).split(" ", 1)
    if "model" in step:
        media_type = step.get("mediaType", "application/xml")
        return client.request(method, path, model(step["model"]), {"content-type": media_type})
    return client.request(method, path, filled(step.get("body"), kept))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_operation_answers_as_its_file_says(client: Client, file: Path) -> None:
    kept: dict[str, Any] = {}
    steps: Any = json_text.loads(file.read_text())
    for step in steps:
        answer = send(client, step, kept)

        found = answer.json if answer.text else None
        wanted = filled(step.get("answer"), kept)
        assert (int(step["status"]), True) == (answer.status, fits(wanted, found)), (
            f"{step['request']}: expected {json_text.dumps(wanted)}, found {answer.text}"
        )
        for name, path in step.get("keep", {}).items():
            parts = (int(part) if part.isdecimal() else part for part in path.split("."))
            kept[name] = reduce(lambda value, part: value[part], parts, found)


def test_every_operation_has_a_file() -> None:
    assert operation_ids() - {"getOpenApi"} == {file.stem for file in FILES}
