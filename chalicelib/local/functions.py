"""Calls the Lambda handlers of `app.py` in this process, as the emulated Lambda asks for them."""

from __future__ import annotations

import importlib
import json
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

MEMORY_MB = 1024


@dataclass(frozen=True, slots=True)
class Context:
    """What a Lambda handler is told about its invocation."""

    function_name: str
    function_version: str
    invoked_function_arn: str
    aws_request_id: str
    deadline_ms: int
    memory_limit_in_mb: int = MEMORY_MB
    log_group_name: str = ""
    log_stream_name: str = ""

    def get_remaining_time_in_millis(self) -> int:
        """Return how much time is left until the function would be ended."""
        return max(0, self.deadline_ms - int(time.time() * 1000))


def call_function(name: str, event: Any, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Call a handler, such as `app.app`; return an HTTP status and its answer as JSON.

    Shapes: a handler that raises answers 500, which the emulated Lambda takes as it takes a
        function that raised: triggers are retried, HTTP callers get a 502.
    """
    handler = _handler(name)
    if handler is None:
        return HTTPStatus.NOT_FOUND, json.dumps(f"no handler {name}").encode()
    try:
        answer = handler(event, _context(headers))
        return HTTPStatus.OK, json.dumps(answer).encode()
    except Exception:  # the outermost door of a trigger: told once, then retried by its source
        traceback.print_exc()
        return HTTPStatus.INTERNAL_SERVER_ERROR, json.dumps(f"{name} raised").encode()


def _handler(name: str) -> Callable[[Any, Any], Any] | None:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute, None) if module else None


def _context(headers: Mapping[str, str]) -> Context:
    return Context(
        function_name=headers.get("X-Amzn-Lambda-Function-Name", ""),
        function_version=headers.get("X-Amzn-Lambda-Function-Version", "$LATEST"),
        invoked_function_arn=headers.get("X-Amzn-Lambda-Function-Arn", ""),
        aws_request_id=headers.get("X-Amzn-Lambda-Request-Id", ""),
        deadline_ms=int(headers.get("X-Amzn-Lambda-Deadline-Ms", "0")),
    )
