"""An emulated AWS that enforces IAM, in a process of its own: `python -m ... FOLDER`.

Whether it enforces is read when the emulator is imported, and every process has at most one.
It says where it listens once it does, and ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from chalicelib.local.emulator import Emulator, bound


def main() -> None:
    (folder,) = sys.argv[1:]
    emulator = Emulator(bound(), Path(folder), auth=True)
    emulator.start()
    send_payload_1()
    end_what_was_begun()
    sys.stdout.write(f"{emulator.endpoint}\n")
    sys.stdout.flush()
    sys.stdin.read()
    emulator.stop()
    os._exit(0)  # the interpreter would wait for threads of the emulator


def send_payload_1() -> None:
    """Let HTTP APIs send the payload format that our integrations ask for.

    The emulator keeps the format that an integration names, and sends 2.0 whatever it is.
    """
    from ministack.services import apigateway  # noqa: PLC0415  it reads the environment

    sending: Callable[..., Any] = apigateway.run_reentrant

    def send(call: Callable[..., Any], function: Any, event: Any, **named: Any) -> Any:
        return sending(call, function, payload_1(event), **named)

    apigateway.run_reentrant = send


def end_what_was_begun() -> None:
    """Let functions whose code is replaced end the calls that they are at, as AWS does.

    The emulator ends their processes in the middle of a call.
    """
    from ministack.core import lambda_runtime  # noqa: PLC0415  it reads the environment

    end_now: Callable[[list[Any]], None] = lambda_runtime.kill_workers
    reset: Callable[[], None] = lambda_runtime.reset
    replaced: list[Any] = []

    def end_when_idle(workers: list[Any]) -> None:
        for worker in workers:
            with worker._lock:  # which it holds while it is called
                end_now([worker])
            replaced.remove(worker)

    def end_later(workers: list[Any]) -> None:
        # Not in this thread: it may be the one that serves what the functions call.
        replaced.extend(workers)
        threading.Thread(target=end_when_idle, args=(list(workers),), daemon=True).start()

    def end_all() -> None:
        lambda_runtime.kill_workers = end_now
        end_now(list(replaced))
        reset()

    lambda_runtime.kill_workers = end_later
    lambda_runtime.reset = end_all


def payload_1(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event of an HTTP API in payload format 1.0, as AWS has it, made of one in 2.0."""
    if event.get("version") != "2.0":
        return event
    context = event["requestContext"]
    called, route = context["http"], event["routeKey"].rpartition(" ")[2]
    signer = context.get("authorizer", {}).get("iam", {})
    return {
        "version": "1.0",
        "resource": route,
        "path": event["rawPath"],
        "httpMethod": called["method"],
        "headers": event["headers"],
        "multiValueQueryStringParameters": parse_qs(event["rawQueryString"]) or None,
        "requestContext": {
            "httpMethod": called["method"],
            "path": called["path"],
            "identity": {"sourceIp": called["sourceIp"], "userArn": signer.get("userArn")},
            "requestId": context["requestId"],
            "resourcePath": route,
            "stage": context["stage"],
        },
        "pathParameters": event["pathParameters"],
        "stageVariables": None,
        "body": event.get("body"),
        "isBase64Encoded": event["isBase64Encoded"],
    }


if __name__ == "__main__":
    main()
