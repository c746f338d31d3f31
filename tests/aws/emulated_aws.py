"""An emulated AWS that enforces IAM, in a process of its own: `python -m ... PORT FOLDER`.

Whether it enforces is read when the emulator is imported, and every process has at most one.
It ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from chalicelib.local.emulator import Emulator


def main() -> None:
    port, folder = sys.argv[1:]
    emulator = Emulator(int(port), Path(folder), auth=True)
    emulator.start()
    send_payload_1()
    sys.stdout.write("ready\n")
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
