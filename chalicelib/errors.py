"""What may go wrong, by whose fault it is.

    HeadraceError
    ├── Rejected      the caller is wrong and nothing changed; a dialect makes it its own 4xx
    │   └── TooLarge  what the caller sent, or would make, passes a limit (413)
    ├── Unauthenticated  nobody knows who calls (401)
    ├── QuotaUsedUp      no more instances may be started (402)
    ├── Forbidden        who calls is known, and may not do this (403)
    └── Unavailable      not now: what was asked is not done, and repeating it is right (503)
        ├── Conflict     another writer kept winning until the deadline
        └── Busy         AWS takes no more calls for now, or does not answer

An *incident* is no exception: the model or its data are wrong, the caller's command stands
and the instance waits for an operator. A *fault* (ours or AWS's) is any other exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Reason(StrEnum):
    """Why a command is refused, in the words every dialect can translate."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"  # malformed, of the wrong type or out of range
    NOT_FOUND = "NOT_FOUND"  # the key or id names nothing
    INVALID_STATE = "INVALID_STATE"  # it exists, but its state forbids this
    TOO_LARGE = "TOO_LARGE"  # a limit of size


class HeadraceError(Exception):
    """Base of all that Headrace raises on purpose."""


class Rejected(HeadraceError):
    """The caller is wrong and nothing changed.

    Shapes: `details` are further members of the answer, such as the `reason` and `until`
        of a refused claim.
    """

    def __init__(
        self, reason: Reason, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.details = dict(details or {})


class TooLarge(Rejected):
    """What the caller sent, or what it would make, passes a limit; nothing changed."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.TOO_LARGE, message)


class Unavailable(HeadraceError):
    """What was asked is not done, and it may be repeated.

    A write that may have been done all the same never ends so: then a fault comes out.
    """


class Conflict(Unavailable):
    """Other writers were first until the deadline passed."""


class Busy(Unavailable):
    """AWS takes no more calls for now, or does not answer."""


class Unauthenticated(HeadraceError):
    """No key came with the request, or one that is not known (401)."""


class Forbidden(HeadraceError):
    """The key is known, and its role may not do this (403)."""


class QuotaUsedUp(HeadraceError):
    """No more instances may be started; what has started goes on (402)."""
