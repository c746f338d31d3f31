"""Times and durations as items hold them: whole milliseconds, times since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Return epoch milliseconds; what is finer is cut off."""
    return (moment - _EPOCH) // _MS


def from_ms(number: int) -> datetime:
    """Return the moment of epoch milliseconds, in UTC."""
    return _EPOCH + number * _MS


def span_to_ms(span: timedelta) -> int:
    """Return milliseconds; what is finer is cut off."""
    return span // _MS


def span_from_ms(number: int) -> timedelta:
    """Return the duration of that many milliseconds."""
    return number * _MS
