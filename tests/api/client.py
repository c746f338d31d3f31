"""A client that calls the app as API Gateway does: its routing, its events, its base64.

Chalice's own test client knows no greedy path, and swaps the environment for a copy.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from chalicelib import json_text
from chalicelib.api.gateway import ANY_PATH, Gateway
from chalicelib.json_text import JsonValue
from tests.api import published


@dataclass(frozen=True)
class Answer:
    """What came back; `json` is the body read with exact numbers."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json_text.loads(self.text)


class LambdaContext:
    """What a handler is told about its invocation, as far as we look."""

    aws_request_id = "request-1"


class Client:
    """Calls `app(event, context)` with the events of a REST API in proxy integration."""

    def __init__(self, app: Gateway) -> None:
        self._app = app
        self.identity: dict[str, str] = {}  # of who signed, where the gateway verifies that

    def get(self, url: str, **headers: str) -> Answer:
        return self.request("GET", url, headers=headers)

    def post(self, url: str, body: JsonValue | bytes = None, **headers: str) -> Answer:
        return self.request("POST", url, body, headers)

    def patch(self, url: str, body: JsonValue | bytes = None) -> Answer:
        return self.request("PATCH", url, body)

    def put(self, url: str, body: JsonValue | bytes = None) -> Answer:
        return self.request("PUT", url, body)

    def delete(self, url: str) -> Answer:
        return self.request("DELETE", url)

    def request(
        self,
        method: str,
        url: str,
        body: JsonValue | bytes = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        parts = urlsplit(url)
        pattern, captured = self._route(method, parts.path)
        raw = body if isinstance(body, bytes) else json_text.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        event = self._event(method, parts, sent, pattern, captured)
        event |= {
            "body": base64.b64encode(raw).decode() if body is not None else None,
            "isBase64Encoded": body is not None,
        }
        # Lambda takes and gives JSON, so nothing else may be in either.
        answer = json.loads(json.dumps(self._app(json.loads(json.dumps(event)), LambdaContext())))
        assert not answer.get("isBase64Encoded")
        published.check(method, pattern, answer["statusCode"], answer["body"])
        return Answer(answer["statusCode"], answer["headers"], answer["body"])

    def _event(
        self,
        method: str,
        parts: SplitResult,
        headers: dict[str, str],
        pattern: str,
        captured: dict[str, str],
    ) -> dict[str, Any]:
        """Return the event of a request, but for its body."""
        return {
            "version": "1.0",  # as the emulated AWS says of a REST API, too
            "path": parts.path,
            "httpMethod": method,
            "headers": headers,
            "multiValueQueryStringParameters": parse_qs(parts.query, keep_blank_values=True)
            or None,
            "pathParameters": captured or None,
            "stageVariables": None,
            "requestContext": {
                "httpMethod": method,
                "resourcePath": pattern,
                "identity": self.identity,
            },
        }

    def _route(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """Match as API Gateway does: on path and method, literal steps before variables."""
        if path == "/":
            return "/", {}
        steps = path.strip("/").split("/")
        best: tuple[tuple[bool, ...], str, dict[str, str]] | None = None
        for pattern, methods in self._app.routes.items():
            wanted = pattern.strip("/").split("/")
            if method not in methods or len(wanted) != len(steps) or pattern == ANY_PATH:
                continue
            variables = {w[1:-1]: s for w, s in zip(wanted, steps, strict=True) if w[:1] == "{"}
            if all(w == s or w[:1] == "{" for w, s in zip(wanted, steps, strict=True)):
                rank = tuple(w[:1] == "{" for w in wanted)
                if best is None or rank < best[0]:
                    best = (rank, pattern, variables)
        if best is not None:
            return best[1], best[2]
        # Greedy variables come decoded or not, by the gateway; nothing may depend on it.
        return ANY_PATH, {"proxy": unquote(path.strip("/"))}


class HttpApiClient(Client):
    """Calls `app(event, context)` with the events of an HTTP API in payload format 1.0.

    They have the members and values of events that AWS sent by a route `$default`: the path is
    decoded, ends where a question mark was, and no resource and no variable is named.
    """

    def _event(
        self,
        method: str,
        parts: SplitResult,
        headers: dict[str, str],
        pattern: str,
        captured: dict[str, str],
    ) -> dict[str, Any]:
        path = unquote(parts.path).partition("?")[0]
        query = parse_qs(parts.query, keep_blank_values=True)
        headers = {"Host": "emcdxu5ijj.execute-api.us-east-2.amazonaws.com", **headers}
        return {
            "version": "1.0",
            "resource": "$default",
            "path": path,
            "httpMethod": method,
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
            "multiValueQueryStringParameters": query or None,
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "emcdxu5ijj",
                "domainName": "emcdxu5ijj.execute-api.us-east-2.amazonaws.com",
                "domainPrefix": "emcdxu5ijj",
                "extendedRequestId": "H6SdPgXtiYcEP1w=",
                "httpMethod": method,
                "identity": {"sourceIp": "192.0.2.1", "userArn": None, **self.identity},
                "path": path,
                "protocol": "HTTP/1.1",
                "requestId": "H6SdPgXtiYcEP1w=",
                "requestTime": "11/Jul/2023:17:55:19 +0000",
                "requestTimeEpoch": 1689098119662,
                "resourceId": "$default",
                "resourcePath": "$default",
                "stage": "$default",
            },
            "pathParameters": None,
            "stageVariables": None,
        }
