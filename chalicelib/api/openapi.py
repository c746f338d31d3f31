"""The OpenAPI 3.1 document of a dialect, made of its routes, their operations and their shapes.

Nothing is written down a second time: what the document says of a member is what reads and writes
it. Source: OpenAPI Specification 3.1.1; JSON Schema 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from chalicelib.api.operation import About, Operation, operation_of
from chalicelib.api.schema import (
    INT32_MAX,
    INT64_MAX,
    Anything,
    Choice,
    Flag,
    ListOf,
    MapOf,
    Moment,
    Number,
    Object,
    OneOf,
    Period,
    Text,
    Type,
    Whole,
)
from chalicelib.api.tagged import Tagged
from chalicelib.api.values import AnyValue
from chalicelib.json_text import JsonObject, without_nulls

KEY, NAME = Whole(), Text()  # of parameters in paths: those called a key, and the others
PERIOD = "^ *P(?=.)([0-9]+W)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)? *$"  # rule R114
WORDS: Mapping[int, str] = {
    200: "Done",
    201: "Done",
    202: "Begun",
    204: "Done",
    400: "The request is wrong, and nothing changed",
    401: "No key came with the request, or one that is not known",
    402: "The quota is used up",
    403: "The role of the key does not allow it",
    404: "The key or id names nothing",
    409: "What is there forbids it, and nothing changed",
    413: "Too large a request, or too large an answer",
    415: "The body is of a media type that is not taken",
    422: "The model is refused, and nothing changed",
    500: "A fault of the server's, after which it may be done all the same; its log says why",
    503: "Not possible now, and nothing changed: repeat it after the time that is told",
}

UNAVAILABLE = 503
RETRY_LATER: JsonObject = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
SCHEMES: JsonObject = {  # of `authorizer.py`; a server may ask for no key
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}

Routes = Mapping[str, Mapping[str, Any]]  # Chalice's: path, method, entry


def document(routes: Routes, about: About) -> JsonObject:
    """Return the document. Raises: ValueError if two shapes of one name are different."""
    shapes = _Shapes()
    shapes.of(about.error)
    shapes.add(about.error.name, about.more_of_error)
    paths: JsonObject = {}
    for path in sorted(routes):
        for method, entry in routes[path].items():
            operation = operation_of(entry.view_function)
            if operation is not None and path.startswith(f"{about.prefix}/"):
                shown = re.sub(r"{\w+}", _spelled(about), path.removeprefix(about.prefix))
                paths.setdefault(shown, {})[method.lower()] = {
                    **_operation(operation, entry.view_function, shapes, about),
                    "parameters": list(_parameters(operation, path, shapes, about)),
                }
    return {
        "openapi": "3.1.1",
        "info": {
            "title": about.title,
            "version": about.version,
            "description": about.description,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": ".", "description": "Where this document is"}],
        "paths": paths,
        "security": [{}, *({name: []} for name in SCHEMES)],
        "components": {
            "schemas": dict(sorted(shapes.schemas.items())),
            "securitySchemes": SCHEMES,
        },
    }


def _operation(
    operation: Operation,
    view: Callable[..., Any],
    shapes: _Shapes,
    about: About,
) -> JsonObject:
    error = shapes.of(about.error)
    described: JsonObject = {
        "operationId": operation.id,
        "description": " ".join((view.__doc__ or "").split()),
        "responses": {
            str(status): _answer(status, shape, shapes, error)
            for status, shape in sorted(_statuses(operation, about).items())
        },
    }
    if operation.raw:
        for status in operation.answers:
            described["responses"][str(status)]["content"] = {operation.raw: {}}
    body = _body(operation, shapes)
    return described if body is None else {**described, "requestBody": body}


def _statuses(operation: Operation, about: About) -> dict[int, Type | str | None]:
    """Return all statuses with the shapes of their bodies; "error" for refusals."""
    refused: dict[int, Type | str | None] = dict.fromkeys(
        (*operation.refusals, *about.anywhere), "error"
    )
    return {**refused, **operation.answers}


def _answer(
    status: int, shape: Type | str | None, shapes: _Shapes, error: JsonObject
) -> JsonObject:
    answer: JsonObject = {"description": WORDS[status]}
    if status == UNAVAILABLE:
        answer["headers"] = RETRY_LATER
    if shape is not None:
        schema = error if isinstance(shape, str) else shapes.of(shape)
        answer["content"] = {"application/json": {"schema": schema}}
    return answer


def _body(operation: Operation, shapes: _Shapes) -> JsonObject | None:
    if operation.upload:
        content: JsonObject = {media_type: {} for media_type in operation.upload}
    elif operation.body is not None:
        content = {"application/json": {"schema": shapes.of(operation.body)}}
    else:
        return None
    return {"required": not operation.is_body_optional, "content": content}


def _parameters(
    operation: Operation, path: str, shapes: _Shapes, about: About
) -> Iterator[JsonObject]:
    for variable in re.findall(r"{(\w+)}", path):
        kind = operation.path.get(variable, KEY if variable.endswith("_key") else NAME)
        yield {
            "name": about.spell(variable),
            "in": "path",
            "required": True,
            "schema": shapes.of(kind),
        }
    for place, named in (("query", operation.query), ("header", operation.headers)):
        for name, kind in named.items():
            required = {"required": True} if name in operation.needed else {}
            yield {"name": name, "in": place, **required, "schema": shapes.of(kind)}


def _spelled(about: About) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{{{about.spell(found[0][1:-1])}}}"


class _Shapes:
    """Types as JSON schemas; objects with a name are kept apart and referred to."""

    def __init__(self) -> None:
        self.schemas: dict[str, JsonObject] = {}
        self._known: dict[str, Object] = {}

    def of(self, kind: Type) -> JsonObject:
        """Return the schema of a type."""
        match kind:
            case Object():
                return self._reference(kind)
            case ListOf(item):
                return {"type": "array", "items": self.of(item)}
            case MapOf(item):
                return {"type": "object", "additionalProperties": self.of(item)}
            case OneOf() | Tagged():
                return {"oneOf": [self.of(shape) for shape in _told(kind)]}
            case Text(least, most):
                return {"type": "string", **without_nulls(minLength=least or None, maxLength=most)}
            case _:
                return dict(_PLAIN[type(kind)](kind))

    def add(self, name: str, members: Mapping[str, Type]) -> None:
        """Add members that an object may have beside its own."""
        more = {member: self.of(kind) for member, kind in members.items()}
        self.schemas[name]["properties"] |= more

    def _reference(self, shape: Object) -> JsonObject:
        known = self._known.setdefault(shape.name, shape)
        if known != shape:
            raise ValueError(f"expected one shape called {shape.name}, found two")
        if shape.name not in self.schemas:
            self.schemas[shape.name] = {}
            self.schemas[shape.name] = self._members(shape)
        return {"$ref": f"#/components/schemas/{shape.name}"}

    def _members(self, shape: Object) -> JsonObject:
        properties: JsonObject = {}
        for name, member in shape.fields.items():
            schema = self.of(member.type)
            properties[name] = {"anyOf": [schema, {"type": "null"}]} if member.nullable else schema
        required: Sequence[str] = [n for n, member in shape.fields.items() if member.required]
        schema = {"type": "object", "properties": properties, "required": list(required)}
        return {**schema, "additionalProperties": False} if shape.closed else schema


_PLAIN: Mapping[type[Any], Callable[[Any], JsonObject]] = {
    Flag: lambda _: {"type": "boolean"},
    Whole: lambda kind: {"type": "integer", **_bounds(kind.minimum, kind.maximum)},
    Number: lambda kind: {
        "type": "number",
        "minimum": Decimal(kind.minimum),
        "maximum": Decimal(kind.maximum),
    },
    Choice: lambda kind: {"type": "string", "enum": list(kind.words)},
    Moment: lambda _: {"type": "string", "format": "date-time"},
    Period: lambda _: {"type": "string", "pattern": PERIOD, "examples": ["PT30S"]},
    Anything: lambda _: {"type": "object"},
    AnyValue: lambda _: {},
}


def _bounds(minimum: int, maximum: int) -> JsonObject:
    return without_nulls(
        format="int32" if maximum <= INT32_MAX else "int64",
        minimum=None if minimum < -INT64_MAX else Decimal(minimum),
        maximum=None if maximum >= INT64_MAX else Decimal(maximum),
    )


def _told(kind: OneOf | Tagged) -> list[Object]:
    """Return the shapes that a value may have."""
    if isinstance(kind, Tagged):
        return kind.variants
    return [variant.shape for variant in kind.variants]
