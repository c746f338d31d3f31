"""Stories of requests and their answers, told by files that other people can read.

Each step is a request and the answer to it. `<key>`, `<time>` and `<text>` stand for any value of
that kind, and `"keep"` names values of an answer that later steps use as `{name}`. A step may also
be a `"wait"` of some seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

from app import app
from chalicelib import json_text
from chalicelib.api.operation import operation_of
from tests.api.client import Answer, Client
from tests.api.driver import model

GOLDEN = Path(__file__).parent / "golden"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def operation_ids(prefix: str) -> set[str]:
    """Return the operations of a dialect that have a story: all but its document."""
    operations = [
        operation_of(entry.view_function)
        for pattern, methods in app.routes.items()
        for entry in methods.values()
        if pattern.startswith(f"{prefix}/")
    ]
    return {each.id for each in operations if each} - {"getOpenApi"}


def tell(client: Client, file: Path, wait: Callable[[float], None] | None = None) -> None:
    """Send what a file says, and hold the answers against it."""
    kept: dict[str, Any] = {}
    steps: Any = json_text.loads(file.read_text())
    for step in steps:
        if "wait" in step:
            assert wait is not None, f"{file.stem}: nothing here can wait"
            wait(float(step["wait"]))
            continue
        answer = send(client, step, kept)

        found = body_of(answer)
        wanted = filled(step.get("answer"), kept)
        assert (int(step["status"]), True) == (answer.status, fits(wanted, found)), (
            f"{step['request']}: expected {json_text.dumps(wanted)}, found {answer.text}"
        )
        for name, path in step.get("keep", {}).items():
            parts = (int(part) if part.isdecimal() else part for part in path.split("."))
            kept[name] = reduce(lambda value, part: value[part], parts, found)


def body_of(answer: Answer) -> Any:
    """Return what an answer says: JSON, or the text of anything else."""
    if "json" not in answer.headers.get("Content-Type", ""):
        return answer.text or None
    return answer.json


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
