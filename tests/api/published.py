"""Answers held against the OpenAPI document: what is not in it is a failure of the test."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs

from app import app
from chalicelib import json_text
from chalicelib.api.operation import operation_of
from chalicelib.api.zenbpm.document import PREFIX, document


def check(method: str, pattern: str, status: int, text: str) -> None:
    """Raise if an answer of a published route is not what the document says."""
    entry = app.routes[pattern].get(method)
    if entry is None or not pattern.startswith(f"{PREFIX}/"):
        return
    operation = operation_of(entry.view_function)
    assert operation is not None, f"{method} {pattern} is not published"
    said = responses(operation.id).get(str(status))
    assert said is not None, f"{operation.id} answered {status}, which is not published: {text}"
    content = said.get("content")
    assert (content is not None) == (text != ""), f"{operation.id} {status}: {text[:200]}"
    if content is not None:
        validator(operation.id, status).validate(json.loads(text))


@cache
def published() -> Any:
    """Return the document as a client reads it."""
    return json.loads(json_text.dumps(document()))


@cache
def responses(operation_id: str) -> Any:
    """Return what the document says that an operation answers."""
    operations = [each for path in published()["paths"].values() for each in path.values()]
    (found,) = [each for each in operations if each["operationId"] == operation_id]
    return found["responses"]


@cache
def validator(operation_id: str, status: int) -> Any:
    """Return what tells whether a body is as the document says; no member beside is let pass."""
    schema = responses(operation_id)[str(status)]["content"]["application/json"]["schema"]
    components = {
        name: {"additionalProperties": False, **shape}
        for name, shape in published()["components"]["schemas"].items()
    }
    return jsonschema_rs.validator_for({**schema, "components": {"schemas": components}})
