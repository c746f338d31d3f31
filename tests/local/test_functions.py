"""Handlers called in this process."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from chalicelib.local.functions import call_function

HERE = __name__


def greet(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return {
        "name": event["name"],
        "request": context.aws_request_id,
        "has_time": context.get_remaining_time_in_millis() > 0,
    }


def stumble(event: dict[str, Any], context: Any) -> None:
    raise ValueError("no")


def test_a_handler_gets_its_event_and_its_context() -> None:
    deadline = str(int(time.time() * 1000) + 600_000)  # it is not waited for
    headers = {"X-Amzn-Lambda-Request-Id": "r-1", "X-Amzn-Lambda-Deadline-Ms": deadline}

    status, answer = call_function(f"{HERE}.greet", {"name": "Ada"}, headers)

    assert (200, {"name": "Ada", "request": "r-1", "has_time": True}) == (
        status,
        json.loads(answer),
    )


def test_a_handler_that_raises_fails_its_invocation(capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = call_function(f"{HERE}.stumble", {}, {})

    assert 500 == status
    assert "ValueError: no" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing", f"{HERE}.nothing"])
def test_a_handler_that_is_not_there_is_not_found(name: str) -> None:
    assert 404 == call_function(name, {}, {})[0]
