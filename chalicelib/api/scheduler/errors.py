"""What went wrong, in the words of the scheduler API: `{"error", "field"?}`.

`field` names the one member or parameter that is wrong, as it is spelled in requests, with dots
where it is inside another: `alarm.threshold`.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.http import NotServed
from chalicelib.api.schema import Field, Object, Text
from chalicelib.errors import Forbidden, Reason, Rejected, Unauthenticated, Unavailable

ERROR = Object(
    "Error",
    {
        "error": Field(Text(), lambda error: error[0], required=True),
        "field": Field(Text(), lambda error: error[1]),
    },
)

_REJECTED = {
    Reason.INVALID_ARGUMENT: 400,
    Reason.NOT_FOUND: 404,
    Reason.INVALID_STATE: 409,
    Reason.TOO_LARGE: 413,
}


def error(problem: Exception) -> Response:
    """Word whatever went wrong in a route of this dialect."""
    match problem:
        case NotServed(status=status, message=message, allow=allow):
            return _worded(status, message, headers={"Allow": ", ".join(allow)} if allow else {})
        case Rejected(reason=reason, message=message, details=details):
            return _worded(_REJECTED[reason], message, field=details.get("field"))
        case Unauthenticated():
            return _worded(401, str(problem), headers=http.CHALLENGE)
        case Forbidden():
            return _worded(403, str(problem))
        case Unavailable():
            return _worded(503, str(problem), headers=http.RETRY_LATER)
        case _:
            return _worded(500, "the request failed inside; its log says why")


def _worded(
    status: int,
    message: str,
    *,
    field: object = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return http.answer(status, ERROR.write((message, field)), headers)
