"""What went wrong, in Priostack's words: `{"error": "<lower-case sentence>"}`.

Source: contracts/priostack.md. What is over is not there any more: a job that ended answers as a
key that never was (contracts/dialects.md section 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.http import NotServed
from chalicelib.api.schema import Field, Object, Text
from chalicelib.errors import (
    Forbidden,
    HeadraceError,
    QuotaUsedUp,
    Reason,
    Rejected,
    Unauthenticated,
    Unavailable,
)

ERROR = Object("Error", {"error": Field(Text(), lambda message: message, required=True)})

_REJECTED = {
    Reason.INVALID_ARGUMENT: 400,
    Reason.NOT_FOUND: 404,
    Reason.INVALID_STATE: 409,
    Reason.TOO_LARGE: 413,
}


class ModelRefused(HeadraceError):
    """The file is XML, but no model that we run (422)."""


_OWN: Mapping[type, int] = {
    ModelRefused: 422,
    QuotaUsedUp: 402,
    Unauthenticated: 401,
    Forbidden: 403,
}


def error(problem: Exception) -> Response:
    """Word whatever went wrong in a route of this dialect."""
    match problem:
        case NotServed(status=status, message=message, allow=allow):
            return _worded(status, message, {"Allow": ", ".join(allow)} if allow else {})
        case ModelRefused() | QuotaUsedUp() | Unauthenticated() | Forbidden():
            status = _OWN[type(problem)]
            return _worded(status, str(problem), http.CHALLENGE if status == 401 else {})
        case Rejected(reason=reason, message=message):
            return _worded(_REJECTED[reason], message)
        case Unavailable():
            return _worded(503, str(problem), http.RETRY_LATER)
        case _:
            return _worded(500, "the request failed inside; its log says why")


@contextmanager
def called(noun: str, *, hides_ended: bool = False) -> Iterator[None]:
    """Word what is not there by its noun alone; with `hides_ended` what is over is not there."""
    unseen = {Reason.NOT_FOUND, *([Reason.INVALID_STATE] if hides_ended else [])}
    try:
        yield
    except Rejected as problem:
        if problem.reason in unseen:
            raise not_found(noun) from problem
        raise


def not_found(noun: str) -> Rejected:
    """Return the refusal of what is not there, such as "job not found"."""
    return Rejected(Reason.NOT_FOUND, f"{noun} not found")


def _worded(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return http.answer(status, ERROR.write(_sentence(message)), headers)


def _sentence(message: str) -> str:
    """Return a message that begins in lower case, unless with an abbreviation."""
    begins_as_word = message[:1].isupper() and message[1:2].islower()
    return message[:1].lower() + message[1:] if begins_as_word else message
