"""Message bodies: small JSON objects whose members are checked when they are read."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from chalicelib import json_text
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile
from chalicelib.store.moments import from_ms


def parse(text: str) -> JsonObject:
    """Read a body as an object. Raises: Rejected(INVALID_ARGUMENT)."""
    try:
        body = json_text.loads(text)
    except ValueError as error:
        raise _refusal(
            f"expected a message body as received, found {text[:100]!r}: {error}"
        ) from error
    if not isinstance(body, dict):
        raise _refusal(f"expected a message body to be an object, found {text[:100]!r}")
    return body


def integer(body: JsonObject, name: str) -> int:
    """Return a member that must be an integer. Raises: Rejected(INVALID_ARGUMENT)."""
    value = body.get(name)
    if not isinstance(value, Decimal) or not json_text.is_integer(value):
        raise _refusal(f"expected {name} of a message body to be an integer, found {value!r}")
    return int(value)


def moment(body: JsonObject, name: str) -> datetime:
    """Return a member that must be epoch milliseconds. Raises: Rejected(INVALID_ARGUMENT)."""
    number = integer(body, name)
    try:
        return from_ms(number)
    except OverflowError as error:
        raise _refusal(
            f"expected {name} of a message body to be epoch milliseconds, found {number}"
        ) from error


def moment_or_text(body: JsonObject, name: str) -> datetime:
    """Return a member that is epoch milliseconds, or a moment as EventBridge Scheduler writes it.

    Shapes: the text is in UTC if it names no offset, such as 2022-03-22T18:59:43Z does.
    Raises: Rejected(INVALID_ARGUMENT).
    Source: EventBridge Scheduler User Guide, "Adding context attributes" (scheduled-time).
    """
    written = body.get(name)
    if not isinstance(written, str):
        return moment(body, name)
    try:
        read = datetime.fromisoformat(written)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _refusal(
            f"expected {name} of a message body to be a moment such as 2022-03-22T18:59:43Z, "
            f"found {written[:50]!r}"
        ) from error


def text(body: JsonObject, name: str) -> str:
    """Return a member that must be text. Raises: Rejected(INVALID_ARGUMENT)."""
    value = body.get(name)
    if not isinstance(value, str):
        raise _refusal(f"expected {name} of a message body to be text, found {value!r}")
    return value


def members(body: JsonObject, name: str) -> JsonObject:
    """Return a member that must be an object. Raises: Rejected(INVALID_ARGUMENT)."""
    value = body.get(name)
    if not isinstance(value, dict):
        raise _refusal(f"expected {name} of a message body to be an object, found {value!r}")
    return value


def profile(body: JsonObject) -> Profile:
    """Return the profile a body names. Raises: Rejected(INVALID_ARGUMENT)."""
    name = text(body, "profile")
    try:
        return Profile(name)
    except ValueError as error:
        known = [each.value for each in Profile]
        raise _refusal(
            f"expected profile of a message body to be of {known}, found {name!r}"
        ) from error


def _refusal(message: str) -> Rejected:
    return Rejected(Reason.INVALID_ARGUMENT, message)
