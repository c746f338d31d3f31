"""Who may call: the one authorizer, asked before every route of every dialect (docs/adr/0028).

It knows callers by an API key, as `Authorization: Bearer` or `X-API-Key`, or by the signature
that API Gateway verified. What their role may do is data: ROLES, by the ids that operations are
published under. What is not in it is for operators alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chalice.app import Chalice, Request, Response

from chalicelib import logs, wiring
from chalicelib.access import Access, Role
from chalicelib.api import http
from chalicelib.api.gateway import ANY_PATH, METHODS
from chalicelib.api.operation import operation_of
from chalicelib.api.priostack import PREFIX as PRIOSTACK
from chalicelib.errors import Forbidden, Unauthenticated
from chalicelib.operations import api_keys
from chalicelib.ports import Settings

_WORKERS = frozenset({Role.WORKER, Role.OPERATOR})
_STARTERS = frozenset({Role.STARTER, Role.OPERATOR})
OPERATORS = frozenset({Role.OPERATOR})
ANYBODY = frozenset(Role)

ROLES: Mapping[str, frozenset[Role]] = {
    "activateJobs": _WORKERS,
    "claimJob": _WORKERS,
    "completeJob": _WORKERS,
    "failJob": _WORKERS,
    "extendJobLock": _WORKERS,
    "createProcessInstance": _STARTERS,
    "publishMessage": _STARTERS,
    "evaluateConditionals": _STARTERS,
    "broadcastSignal": _STARTERS,
    "correlateMessage": _STARTERS,
    "putMessage": _STARTERS,
    "getOpenApi": ANYBODY,
}
# Routes that are of no dialect: health, and what no route serves (404 and 405).
LIVE = "/system/health/live"  # tells nothing but that it answers, with no table and to anybody
UNPUBLISHED = frozenset(
    {LIVE, "/system/health/ready", "/system/status", "/system/metrics", "/", ANY_PATH}
)
UNASKED = "OPTIONS"  # browsers send it without a key, before the request itself
assert UNASKED in METHODS

EXPECTED = "expected an API key as `Authorization: Bearer` or `X-API-Key`"


def register(app: Chalice) -> None:
    """Let it be asked before every route, those that are registered later too."""

    def authorized(request: Request, answer: Callable[[Request], Response]) -> Response:
        view = app.routes[request.path][request.method].view_function
        refused: Exception
        try:
            check(request, view)
        except Exception as error:  # an outermost door: logged once, told without details
            http.note(error)
            refused = error
        else:
            return answer(request)
        worded: Response = getattr(view, "errors_as")(refused)  # noqa: B009
        return worded

    app.register_middleware(authorized, "http")


def check(request: Request, view: Callable[..., Any]) -> None:
    """Raise unless a request may reach its route. Raises: Unauthenticated, Forbidden."""
    if request.method == UNASKED or request.path == LIVE:
        return
    settings = wiring.ports().settings
    if not _is_asked(settings, request.path):
        return
    name, role = _caller(settings, request)
    logs.about(caller=name)
    operation = operation_of(view)
    wanted = operation.id if operation else request.path
    if role not in roles_of(wanted):
        raise Forbidden(f"expected a key of another role: {role} may not call {wanted}")


def roles_of(wanted: str) -> frozenset[Role]:
    """Return who may call an operation by its id, or a route of no dialect by its path."""
    return ROLES.get(wanted, ANYBODY if wanted in UNPUBLISHED else OPERATORS)


def _is_asked(settings: Settings, path: str) -> bool:
    is_named_by_setting = bool(settings.api_keys) and path.startswith(f"{PRIOSTACK}/")
    return settings.access is not Access.OPEN or is_named_by_setting


def _caller(settings: Settings, request: Request) -> tuple[str, Role]:
    """Return who calls. Raises: Unauthenticated."""
    if settings.access is Access.IAM:
        # The gateway let it pass, and an IAM policy said to which of the routes.
        signed = ((request.context or {}).get("identity") or {}).get("userArn")
        if not signed:
            raise Unauthenticated("expected a request that is signed (AWS Signature Version 4)")
        return str(signed), Role.OPERATOR
    set_ones = [settings.operator_key] if settings.operator_key else []
    if request.path.startswith(f"{PRIOSTACK}/"):
        set_ones += settings.api_keys
    for shown in _shown(request):
        # All are compared always, and each in constant time.
        compared = [api_keys.is_same(shown, each) for each in set_ones]
        if any(compared):
            return "operator", Role.OPERATOR
        found = api_keys.holder(wiring.ports(), shown)
        if found is not None:
            return found.name, found.role
    raise Unauthenticated(EXPECTED)


def _shown(request: Request) -> list[str]:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    shown = (
        token.strip() if scheme.lower() == "bearer" else "",
        request.headers.get("x-api-key", "").strip(),
    )
    return [each for each in shown if each]
