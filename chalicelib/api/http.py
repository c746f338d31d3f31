"""HTTP as every dialect uses it: what a request carries, how an answer is made, who words errors.

Chalice would parse bodies, check media types and word errors itself, in shapes of its own
(docs/adr/0005); so the routes take any media type and everything is read here. Whatever is wrong
is raised, and the one decorator that each route wears, `errors_as`, lets its dialect word it.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import unquote

from chalice.app import Request, Response

from chalicelib import json_text, logs, wiring
from chalicelib.api.schema import ListOf, Mismatch, Object, Type, Whole
from chalicelib.errors import HeadraceError, Reason, Rejected, TooLarge, Unavailable
from chalicelib.json_text import JsonValue

JSON = "application/json"
CHALLENGE = {"WWW-Authenticate": "Bearer"}  # goes with a 401 (RFC 9110 section 11.6.1)
RETRY_LATER = {"Retry-After": "1"}  # seconds; goes with a 503
INT64 = Whole()
FLOOR_HEADER = "Headrace-Total-Count-Is-Floor"  # the list stopped at its bound; there may be more
ANSWER_BYTES_MAX = 6_000_000  # of the 6 MB that a Lambda function may answer with

View = Callable[..., Response]
ErrorShape = Callable[[Exception], Response]


class NotServed(HeadraceError):
    """HTTP itself was misused: no such route (404), method (405) or media type (415)."""

    def __init__(self, status: int, message: str, allow: Collection[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.allow = tuple(allow)


class Answer(Response):
    """An answer whose body is text already, whatever the request's media type was."""

    def to_dict(self, binary_types: list[str] | None = None) -> dict[str, Any]:
        # Chalice would send it in base64, since the API takes every request that way; API
        # Gateway decodes that only for callers who name the type in their Accept header.
        answer: dict[str, Any] = super().to_dict(None)
        return answer


def answer(
    status: int, value: JsonValue = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer: JSON with exactly `Content-Type: application/json`, or no body.

    Raises: TooLarge, in place of the gateway's wordless 502, if it is more than can be sent.
    """
    typed = {"Content-Type": JSON} if value is not None else {}
    body = json_text.dumps(value) if value is not None else ""
    if len(body) * 2 > ANSWER_BYTES_MAX and (size := _sent_size(body)) > ANSWER_BYTES_MAX:
        raise TooLarge(
            f"expected an answer of at most {ANSWER_BYTES_MAX} bytes, found {size}: "
            "ask for fewer at a time"
        )
    return Answer(body, {**typed, **(headers or {})}, status)


def floor_headers(is_floor: bool) -> dict[str, str] | None:
    """Return the headers that say whether what was counted may be more."""
    if not is_floor:
        return None
    return {FLOOR_HEADER: "true", "Access-Control-Expose-Headers": FLOOR_HEADER}


def _sent_size(body: str) -> int:
    """Return the size of a body as Lambda sends it: text within JSON, so quotes are escaped."""
    return len(body.encode()) + body.count('"') + body.count("\\")


def errors_as(shape: ErrorShape) -> Callable[[View], View]:
    """Let the dialect word all that goes wrong in a route, the unexpected too."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def answered(*args: Any, **kwargs: Any) -> Response:
            try:
                return view(*args, **kwargs)
            except Exception as error:  # the outermost door: logged once, told without details
                note(error)
                return shape(error)

        answered.errors_as = shape  # type: ignore[attr-defined]  # for the house test
        return answered

    return decorate


def note(error: Exception) -> None:
    """Write down what is no mistake of the caller: what is not possible now, and faults."""
    if isinstance(error, Unavailable):
        logs.line(logging.WARNING, "unavailable", reason=str(error))
    elif not isinstance(error, HeadraceError):
        logs.fault(error)


def media_type(request: Request) -> str:
    """Return the media type of the body without its parameters; JSON if it names none."""
    named: str = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return named or JSON


def raw_body(request: Request) -> bytes:
    """Return the body as it was sent. Raises: TooLarge; Rejected if its text is no Unicode."""
    limit = wiring.ports().settings.max_body_bytes
    try:
        body = request.raw_body
    except UnicodeEncodeError as error:
        raise body_error("expected Unicode text, found a lone surrogate") from error
    raw: bytes = body.encode() if isinstance(body, str) else body
    if len(raw) > limit:
        raise TooLarge(
            f"request body of {len(raw)} bytes is over the limit of {limit} bytes "
            "(httpServer.maxRequestBodyBytes)"
        )
    return raw


def json_body(request: Request, shape: Object) -> dict[str, Any]:
    """Return the members of the JSON object in the body, read as its shape says.

    Raises: Rejected for what is no JSON or does not fit, TooLarge, NotServed(415).
    """
    if media_type(request) != JSON:
        raise NotServed(415, f"expected a body of {JSON}, found {media_type(request)[:100]}")
    raw = raw_body(request)
    if not raw.strip():
        raise body_error("value is required but missing")
    try:
        value = json_text.loads(raw)
    except ValueError as error:
        raise body_error(f"failed to decode request body: {error}") from error
    try:
        return shape.read(value)
    except Mismatch as mismatch:
        where = f'Error at "{mismatch.pointer}": ' if mismatch.pointer else ""
        message = f"doesn't match schema: {where}{mismatch.message}"
        raise body_error(message, mismatch.field) from mismatch


def optional_json_body(request: Request, shape: Object) -> dict[str, Any]:
    """Return the members of the JSON object in the body, none of a request without a body.

    Raises: as `json_body`.
    """
    return json_body(request, shape) if raw_body(request).strip() else {}


def query(request: Request, parameters: Mapping[str, Type]) -> dict[str, Any]:
    """Return the known query parameters that are there; empty values count as absent (1.1).

    Raises: Rejected, naming the parameter. The first of several equal names counts, except for
        lists, which are sent under equal names or with commas.
    """
    sent = request.query_params
    found: dict[str, Any] = {}
    for name, kind in parameters.items():
        texts = sent.getlist(name) if sent is not None and name in sent else []
        texts = [text for text in texts if text]
        if texts:
            text = ",".join(texts) if isinstance(kind, ListOf) else texts[0]
            found[name] = parameter(text, name, "query", kind)
    return found


def path_key(text: str, name: str, kind: Type = INT64) -> int:
    """Return a key out of the path. Raises: Rejected if it is no int64."""
    key: int = parameter(path_name(text, name), name, "path", kind)
    return key


def path_name(text: str, name: str) -> str:
    """Return a name out of the path, where a REST API leaves it percent-encoded."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise parameter_error(name, "path", f"value {text[:50]}: expected UTF-8") from error


def parameter(text: str, name: str, place: str, kind: Type) -> Any:
    """Read one parameter. Raises: Rejected, in the words of OpenAPI validation."""
    try:
        return kind.parse(text)
    except Mismatch as mismatch:
        raise parameter_error(name, place, mismatch.message) from mismatch


def parameter_error(name: str, place: str, message: str) -> Rejected:
    """Return the refusal of a parameter, which its details name as the field."""
    message = f'parameter "{name}" in {place} has an error: {message}'
    return Rejected(Reason.INVALID_ARGUMENT, message, {"field": name})


def body_error(message: str, field: str | None = None) -> Rejected:
    """Return the refusal of a body, with the field that is wrong if it is only one."""
    message = f"request body has an error: {message}"
    return Rejected(Reason.INVALID_ARGUMENT, message, {"field": field})
