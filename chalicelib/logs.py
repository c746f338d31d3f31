"""One structured line per invocation, on standard error, and one more for each fault.

Lines name keys, ids, states and times; never a worker's variables.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

SERVICE = "headrace"
PATH_MAX = 200  # characters of a path that a caller chose

_subject: ContextVar[dict[str, object] | None] = ContextVar("subject", default=None)


@cache
def logger() -> Logger:
    """Return the logger; powertools is imported with the first line, after the answer."""
    from aws_lambda_powertools import Logger  # noqa: PLC0415  (45 ms of a cold start)

    # Standard output belongs to `headrace serve`'s one line; Lambda collects both.
    made = Logger(service=SERVICE, logger_handler=logging.StreamHandler(sys.stderr))
    # What our own modules log through Python's logging has the same form.
    ours = logging.getLogger("chalicelib")
    ours.handlers, ours.propagate = list(made.handlers), False
    return made


def about(**names: object) -> None:
    """Add what this invocation is about (`instance_key`, `job_key`, ...) to its line."""
    subject = _subject.get()
    if subject is not None:
        subject.update(names)


def fault(error: Exception) -> None:
    """Write down an exception that nobody expected."""
    names = _subject.get() or {}
    logger().error("fault", exc_info=error, extra=dict(names))


def invocation(event: Any, get_response: Callable[[Any], Any]) -> Any:
    """Serve the event and write its line: a middleware of Chalice, for every kind of trigger."""
    subject: dict[str, object] = {"request_id": getattr(_context(event), "aws_request_id", None)}
    token = _subject.set(subject)
    started = time.monotonic()
    try:
        response = get_response(event)
        subject.update(_outcome(event, response))
        return response
    except Exception:
        subject["outcome"] = "fault"
        raise
    finally:
        subject["duration_ms"] = round((time.monotonic() - started) * 1_000, 1)
        logger().info("invocation", extra={k: v for k, v in subject.items() if v is not None})
        _subject.reset(token)


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
        }
    records = event.to_dict().get("Records", ()) if hasattr(event, "to_dict") else ()
    failures = response.get("batchItemFailures", ()) if isinstance(response, dict) else ()
    return {
        "trigger": type(event).__name__,
        "records": len(records),
        "failed_records": len(failures),
    }
