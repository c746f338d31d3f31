"""The door for what no route serves: 404, 405 with `Allow`, or the answer to a CORS preflight.

API Gateway routes on the pair of path and method: a request whose path or method no resource
declares falls through to the greedy `/{proxy+}`. So one catch-all, declared last, sees every
request that misses, and answers it out of the route table. (Chalice's own preflights are mock
integrations, which the emulated AWS answers without their headers; contracts/emulation.md
section 1.)
"""

from __future__ import annotations

from collections.abc import Mapping

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.gateway import ANY_PATH, METHODS, Gateway, methods_at
from chalicelib.api.http import ErrorShape, NotServed

# What a browser is told that asks before it sends a request for a page of another origin.
PREFLIGHT = {
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Api-Key",
    "Access-Control-Max-Age": "3600",
}
METHODS_TOLD = ("Access-Control-Allow-Methods", "Allow")  # those of the path that is asked about


def serve_the_rest(app: Gateway, shapes: Mapping[str, ErrorShape]) -> None:
    """Register the catch-all; call it after all routes.

    Shapes: by the prefix of a dialect's paths, the error shape it answers in; "" is the shape of
        all other paths.
    """

    def worded(problem: Exception) -> Response:
        path = _path_missed(app)
        prefixes = [each for each in shapes if f"{path}/".startswith(f"{each}/")]
        return shapes[max(prefixes, key=len)](problem)

    @app.route("/", methods=list(METHODS), content_types=[])
    @app.route(ANY_PATH, methods=list(METHODS), content_types=[])
    @http.errors_as(worded)
    def not_served() -> Response:
        """404, or 405 with `Allow`, from the route table."""
        request = app.current_request
        assert request is not None
        path = _path_missed(app)
        methods = methods_at(app, path)
        if not methods:
            raise NotServed(404, "no matching operation was found")
        if request.method == "OPTIONS":
            told = ", ".join(methods)
            return http.answer(204, None, {**PREFLIGHT, **dict.fromkeys(METHODS_TOLD, told)})
        raise NotServed(405, "method not allowed", methods)


def _path_missed(app: Gateway) -> str:
    request = app.current_request
    named = request.uri_params if request is not None else None
    return "/" + (named or {}).get("proxy", "")
