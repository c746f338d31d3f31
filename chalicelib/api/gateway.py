"""The Chalice application as Headrace needs it, and how it knows which route serves a path.

Every function loads this, also those that serve no HTTP: the triggers are declared on the app.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextvars import ContextVar
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from chalice.app import Chalice, Request

from chalicelib.access import ANY_ORIGIN, shared_with

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
ANY_PATH = "/{proxy+}"


class Gateway(Chalice):
    """A Chalice application that serves several threads and takes every body as bytes.

    Shapes: `origins` are those whose pages may read its answers.
    """

    _requests: ContextVar[Request | None] = ContextVar("request", default=None)

    def __init__(self, app_name: str, origins: Collection[str] = (ANY_ORIGIN,)) -> None:
        super().__init__(app_name, configure_logs=False)
        self.origins = origins
        # With any type binary, bodies arrive byte for byte; as text they would have bytes that
        # are not UTF-8 replaced on the way, and an XML file in another encoding be damaged.
        self.api.binary_types = ["*/*"]

    @property
    def current_request(self) -> Request | None:
        """The request of this thread. Chalice keeps one per process, as Lambda has."""
        return self._requests.get()

    @current_request.setter
    def current_request(self, request: Request | None) -> None:
        self._requests.set(request)

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        """Serve one request of API Gateway, be it of a REST API or of an HTTP API."""
        # A REST API names one of our routes. The version of the format does not tell them apart:
        # the emulated AWS writes 1.0 into the events of both.
        if event["requestContext"]["resourcePath"] not in self.routes:
            event = _as_of_rest_api(self, event)
        # Chalice refuses an answer of a binary type to a caller who does not accept one. All
        # types are binary here and ours are text besides, so nobody is to be refused.
        headers = {**(event.get("headers") or {}), "accept": "*/*"}
        answered: dict[str, Any] = super().__call__({**event, "headers": headers}, context)
        sent = {name.lower(): value for name, value in headers.items()}
        shared = shared_with(self.origins, sent.get("origin"))
        return {**answered, "headers": {**shared, **answered["headers"]}}


def methods_at(app: Chalice, path: str) -> list[str]:
    """Return the methods that are served at a concrete path, in the usual order."""
    found = _route_at(app, path)
    return [method for method in METHODS if found is not None and method in found[1]]


def _route_at(app: Chalice, path: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return the pattern that serves a concrete path, and what it serves by method.

    Of the routes that fit, the gateway takes the one whose steps are literal the longest.
    """
    steps = path.strip("/").split("/")
    fitting = [
        ([step.startswith("{") for step in pattern.split("/")], pattern, served)
        for pattern, served in app.routes.items()
        if pattern not in ("/", ANY_PATH) and _fits(pattern.strip("/").split("/"), steps)
    ]
    return min(fitting, key=itemgetter(0))[1:] if fitting else None


def _fits(pattern: list[str], steps: list[str]) -> bool:
    return len(pattern) == len(steps) and all(
        wanted == step or (wanted.startswith("{") and step)
        for wanted, step in zip(pattern, steps, strict=True)
    )


def _as_of_rest_api(app: Chalice, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event of an HTTP API as a REST API would have sent it.

    An HTTP API has one route for all that need none of their own, `$default`, and names no
    resource and no variables then. It decodes the path on the way, so that a step which had an
    encoded slash is two. Source: AWS, "Create AWS Lambda proxy integrations for HTTP APIs".
    """
    path, method = str(event["path"]), str(event["httpMethod"])
    found = _route_at(app, path)
    if found is not None and method in found[1]:
        pattern = found[0]
        named = zip(pattern.strip("/").split("/"), path.strip("/").split("/"), strict=True)
        variables = {
            name[1:-1]: quote(step, safe="") for name, step in named if name.startswith("{")
        }
    else:
        pattern = ANY_PATH if path.strip("/") else "/"
        variables = {"proxy": quote(path.lstrip("/"))} if pattern == ANY_PATH else {}
    return {
        **event,
        "resource": pattern,
        "pathParameters": variables or None,
        "requestContext": {**event["requestContext"], "resourcePath": pattern},
    }
