"""What went wrong, in ZenBPM's words: its statuses, codes and the one error body.

Source: contracts/zenbpm.md section 1.1; 503 is ours (section 1.1 has 502 for what may be repeated),
and so are 401 and 403, for upstream asks nobody for a key.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.fields import member
from chalicelib.api.http import NotServed
from chalicelib.api.schema import Moment, Object, Text, Type
from chalicelib.errors import Forbidden, Reason, Rejected, Unauthenticated, Unavailable
from chalicelib.json_text import JsonObject

ERROR = Object(
    "Error",
    {
        "code": member(Text(), lambda error: error[0]),
        "message": member(Text(), lambda error: error[1]),
    },
)

_REJECTED = {
    Reason.INVALID_ARGUMENT: (400, "BAD_REQUEST"),
    Reason.NOT_FOUND: (404, "NOT_FOUND"),
    Reason.INVALID_STATE: (409, "CONFLICT"),
    Reason.TOO_LARGE: (413, "PAYLOAD_TOO_LARGE"),
}
_NOT_SERVED = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 415: "UNSUPPORTED_MEDIA_TYPE"}


def error(problem: Exception) -> Response:
    """Word whatever went wrong in a route of this dialect."""
    match problem:
        case NotServed(status=status, message=message, allow=allow):
            headers = {"Allow": ", ".join(allow)} if allow else {}
            return _worded(status, _NOT_SERVED[status], message, headers=headers)
        case Rejected(reason=reason, message=message, details=details):
            status, code = _REJECTED[reason]
            return _worded(status, code, message, details=_detailed(details))
        case Unauthenticated():
            return _worded(401, "UNAUTHORIZED", str(problem), headers=http.CHALLENGE)
        case Forbidden():
            return _worded(403, "FORBIDDEN", str(problem))
        case Unavailable():
            # Not 409: a worker would take its job for ended. Nothing is lost by repeating.
            return _worded(503, "CLUSTER_ERROR", str(problem), headers=http.RETRY_LATER)
        case _:
            return _worded(500, "TECHNICAL_ERROR", "the request failed inside; its log says why")


def _worded(
    status: int,
    code: str,
    message: str,
    *,
    details: JsonObject | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    body = ERROR.write((code, message))
    assert isinstance(body, dict)
    return http.answer(status, {**body, **(details or {})}, headers)


# Further members that a refusal may carry, by the name the operation gives them.
DETAILS: Mapping[str, tuple[str, Type]] = {
    "reason": ("reason", Text()),
    "owner": ("clientId", Text()),
    "until": ("until", Moment()),
}


def _detailed(details: Mapping[str, object]) -> JsonObject:
    return {
        DETAILS[name][0]: DETAILS[name][1].write(value)
        for name, value in details.items()
        if value is not None and name in DETAILS
    }
