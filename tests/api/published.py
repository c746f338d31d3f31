"""Answers held against the OpenAPI documents: what is not in them is a failure of the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema_rs

from app import app
from chalicelib import json_text
from chalicelib.api import priostack, scheduler, zenbpm
from chalicelib.api.operation import operation_of
from chalicelib.api.priostack import document as priostack_document
from chalicelib.api.scheduler import document as scheduler_document
from chalicelib.api.zenbpm import document as zenbpm_document
from chalicelib.json_text import JsonObject

# The documents of the dialects, by the prefix of their paths.
DOCUMENTS: dict[str, Callable[[], JsonObject]] = {
    zenbpm.PREFIX: zenbpm_document.document,
    scheduler.PREFIX: scheduler_document.document,
    priostack.PREFIX: priostack_document.document,
}


def check(method: str, pattern: str, status: int, text: str) -> None:
    """Raise if an answer of a published route is not what the document says."""
    entry = app.routes[pattern].get(method)
    prefix = prefix_of(pattern)
    if entry is None or prefix is None:
        return
    operation = operation_of(entry.view_function)
    assert operation is not None, f"{method} {pattern} is not published"
    said = responses(prefix, operation.id).get(str(status))
    assert said is not None, f"{operation.id} answered {status}, which is not published: {text}"
    content = said.get("content")
    assert (content is not None) == (text != ""), f"{operation.id} {status}: {text[:200]}"
    if content is not None and not operation.raw:
        validator(prefix, operation.id, status).validate(json.loads(text))


def prefix_of(pattern: str) -> str | None:
    """Return the prefix of the dialect that a route is of, if it is published at all."""
    return next((each for each in DOCUMENTS if pattern.startswith(f"{each}/")), None)


@cache
def published(prefix: str) -> Any:
    """Return a dialect's document as a client reads it."""
    return json.loads(json_text.dumps(DOCUMENTS[prefix]()))


@cache
def responses(prefix: str, operation_id: str) -> Any:
    """Return what a document says that an operation answers."""
    paths = published(prefix)["paths"].values()
    operations = [each for path in paths for each in path.values()]
    (found,) = [each for each in operations if each["operationId"] == operation_id]
    return found["responses"]


@cache
def validator(prefix: str, operation_id: str, status: int) -> Any:
    """Return what tells whether a body is as the document says; no member beside is let pass."""
    said = responses(prefix, operation_id)[str(status)]
    schema = said["content"]["application/json"]["schema"]
    components = {
        name: {"additionalProperties": False, **shape}
        for name, shape in published(prefix)["components"]["schemas"].items()
    }
    return jsonschema_rs.validator_for({**schema, "components": {"schemas": components}})
