"""Structured lines on standard error: one per invocation, and what else is worth one.

Each line of an invocation carries what it is about (`instance_key`, `job_key`, `element_id`, …) and
its request id. Lines name keys, ids, states and times; never a worker's variables.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from chalicelib import json_text
from chalicelib.ports import LogMode, Settings

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

SERVICE = "headrace"
PATH_MAX = 200  # characters of a path that a caller chose

BODY_MAX = 2_000  # characters of a body that is logged
# The members of a body that are never logged: what workers send, and what may hold a secret.
UNTOLD = frozenset(
    {"variables", "auth", "url", "headers", "body", "script", "args", "env", "alarm"}
)
ERROR_STATUS = 400  # from here on an answer is an error


class Answered(NamedTuple):
    """An HTTP request that was answered, as it is counted and traced.

    Shapes: `route` is the template of its path, so there are as many as the app has.
    """

    method: str
    route: str
    status: int
    request_bytes: int
    response_bytes: int
    lasted_ms: float


_subject: ContextVar[dict[str, object] | None] = ContextVar("subject", default=None)
_began: ContextVar[float | None] = ContextVar("began", default=None)
_is_batch: ContextVar[bool] = ContextVar("is_batch", default=False)
_ours = logging.getLogger("chalicelib")
_at_end: list[Callable[[Answered | None], None]] = []
_settings = Settings()


@cache
def logger() -> Logger:
    """Return the logger; powertools is imported with the first line, after the answer."""
    from aws_lambda_powertools import Logger  # noqa: PLC0415  (45 ms of a cold start)

    # Standard output belongs to `headrace serve`'s one line; Lambda collects both.
    made = Logger(service=SERVICE, logger_handler=logging.StreamHandler(sys.stderr))
    for place in (logging.getLogger(SERVICE), *made.handlers):
        place.addFilter(_with_subject)
    # What our own modules log through Python's logging has the same form.
    _ours.handlers, _ours.propagate = list(made.handlers), False
    _ours.setLevel(made.log_level)
    return made


class _NotYet(logging.Handler):
    """Stands for the logger until there is something to write."""

    def emit(self, record: logging.LogRecord) -> None:
        logger()
        if record.levelno >= _ours.level:
            _ours.handle(record)


_ours.addHandler(_NotYet())


def configure(settings: Settings) -> None:
    """Let an operator's settings count."""
    global _settings  # noqa: PLW0603  (read once, when the app is imported)
    _settings = settings


def at_end(hook: Callable[[Answered | None], None]) -> None:
    """Let something be done at the end of each invocation; it gets the answer to a request."""
    _at_end[:] = [hook]


def began() -> float | None:
    """Return when this invocation began, in epoch seconds; None outside of any."""
    return _began.get()


def line(level: int, message: str, **fields: object) -> None:
    """Write a line of what happened."""
    logger()
    told = {name: value for name, value in fields.items() if value is not None}
    logging.getLogger(SERVICE).log(level, message, extra=told)


def _with_subject(record: logging.LogRecord) -> bool:
    """Add what the invocation is about to a line that does not say it itself."""
    for name, value in (_subject.get() or {}).items():
        if value is not None and not hasattr(record, name):
            setattr(record, name, value)
    return True


def about(**names: object) -> None:
    """Add what this invocation is about (`instance_key`, `job_key`, ...) to its line."""
    subject = _subject.get()
    if subject is not None:
        subject.update(names)


def note(**names: object) -> None:
    """Add what turned out on the way, unless the invocation is about something else, or more."""
    subject = _subject.get()
    if subject is None or _is_batch.get():
        return
    if all(subject.get(name, value) == value for name, value in names.items()):
        subject.update(names)


def fault(error: Exception) -> None:
    """Write down an exception that nobody expected."""
    logger().error("fault", exc_info=error)


def invocation(event: Any, get_response: Callable[[Any], Any]) -> Any:
    """Serve the event and write its line: a middleware of Chalice, for every kind of trigger."""
    subject: dict[str, object] = {"request_id": getattr(_context(event), "aws_request_id", None)}
    token, begun = _subject.set(subject), _began.set(time.time())
    batch = _is_batch.set(len(_records(event)) > 1)
    started = time.monotonic()
    response = None
    try:
        response = get_response(event)
        subject.update(_outcome(event, response))
        return response
    except Exception:
        subject["outcome"] = "fault"
        raise
    finally:
        lasted_ms = (time.monotonic() - started) * 1_000
        subject["duration_ms"] = round(lasted_ms, 1)
        _close(subject, _answered(event, response, lasted_ms))
        _subject.reset(token)
        _began.reset(begun)
        _is_batch.reset(batch)


def _close(subject: Mapping[str, object], answered: Answered | None) -> None:
    """Write the line of an invocation, if the operator wants it, and what was counted."""
    status = subject.get("status")
    is_error = isinstance(status, int) and status >= ERROR_STATUS
    mode = LogMode.ALL if status is None else _settings.log_mode
    if mode is LogMode.ALL or (mode is LogMode.ERRORS and is_error):
        logger().info("invocation")
    for hook in _at_end:
        try:
            hook(answered)
        except Exception as error:  # what was answered stands
            fault(error)


def _answered(event: Any, response: Any, lasted_ms: float) -> Answered | None:
    """Return what is told of an answer, None of triggers that are not HTTP."""
    if not hasattr(response, "status_code"):
        return None
    body = response.body
    size = len(body.encode(errors="replace") if isinstance(body, str) else body or b"")
    sent = len(_raw_body(event))
    return Answered(event.method, event.path, response.status_code, sent, size, lasted_ms)


def _raw_body(request: Any) -> bytes:
    """Return the body of a request; none if it is neither base64 nor Unicode."""
    try:
        raw: bytes = request.raw_body
    except ValueError:
        return b""
    return raw


def _context(event: Any) -> Any:
    return getattr(event, "lambda_context", None) or getattr(event, "context", None)


def _outcome(event: Any, response: Any) -> dict[str, object]:
    if hasattr(response, "status_code"):  # HTTP
        path = str(event.to_original_event().get("path", ""))[:PATH_MAX]
        return {
            "trigger": "http",
            "method": event.method,
            "route": event.path,
            "path": path,
            "status": response.status_code,
            "body": _body(_raw_body(event)) if _settings.log_body else None,
        }
    failures = response.get("batchItemFailures", ()) if isinstance(response, dict) else ()
    return {
        "trigger": type(event).__name__,
        "records": len(_records(event)),
        "failed_records": len(failures),
    }


def _records(event: Any) -> Sequence[Any]:
    """Return the records of a trigger; an HTTP request has none."""
    found = event.to_dict().get("Records", ()) if hasattr(event, "to_dict") else ()
    return tuple(found)


def _body(raw: bytes) -> str | None:
    """Return a body as it may be logged: JSON without what is untold, of others only the size."""
    try:
        value = json_text.loads(raw)
    except ValueError:
        return f"{len(raw)} bytes" if raw else None
    if isinstance(value, dict):
        value = {**value, **dict.fromkeys(UNTOLD & value.keys(), "not logged")}
    return json_text.dumps(value)[:BODY_MAX]
