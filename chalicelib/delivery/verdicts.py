"""What a received message turns out to be, once it is compared with the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.delivery import horizon


@dataclass(frozen=True, slots=True)
class Spare:
    """Nobody needs it: what it names is ended, or another message took its place. Delete it."""


@dataclass(frozen=True, slots=True)
class Early:
    """What it was promised for may still be committed. Look again, then put it back."""


@dataclass(frozen=True, slots=True)
class LiveDue:
    """It is the one message of its kind, and its time has come."""


@dataclass(frozen=True, slots=True)
class LiveLater:
    """It is the one message of its kind, and to be sent on for a later time."""

    at: datetime


Verdict = Spare | Early | LiveDue | LiveLater


def not_yet(first_sent: datetime, now: datetime) -> Verdict:
    """Say what a message is whose promise is not kept yet: spare once it can no more be kept."""
    return Spare() if horizon.is_over(first_sent, now) else Early()
