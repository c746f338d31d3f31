"""Whether a job's alarm goes off: so many attempts within a window, told once per window.

The window slides: it ends now. Once told, an alarm is silent for one window, so that no attempt
is counted twice for it.

Source: contracts/scheduled-jobs.md, "alarms", Z101 and Z102.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.scheduler.rows import Outcome

THRESHOLD_MAX = 10_000  # invocations: no more are looked at to count them


class Watch(StrEnum):
    """Which attempts an alarm counts."""

    ALL = "all"
    FAILURES = "failures"


class SinkType(StrEnum):
    """Where the text of an alarm goes."""

    LOG = "log"
    WEBHOOK = "webhook"  # a POST in Slack's form
    EMAIL = "email"


@dataclass(frozen=True, slots=True)
class Sink:
    """One receiver of an alarm.

    Shapes: `target` is the URL of a webhook, or a reference to it as in `Auth`, or the address of
        an email; empty for the log.
    """

    type: SinkType
    target: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Tell the sinks, once per window, when that many attempts fell into the window."""

    watch: Watch
    threshold: int
    window_ms: int
    sinks: tuple[Sink, ...] = (Sink(SinkType.LOG),)


def is_watched(alarm: Alarm, outcome: Outcome) -> bool:
    """Say whether an attempt counts: every one, or what failed or was cancelled (Z101, Z102)."""
    return alarm.watch is Watch.ALL or outcome is not Outcome.SUCCEEDED


def since(alarm: Alarm, now: datetime) -> datetime:
    """Return the moment after which invocations are counted."""
    return now - timedelta(milliseconds=alarm.window_ms)


def fires(alarm: Alarm, count: int, last_fired_at: datetime | None, now: datetime) -> bool:
    """Say whether an alarm goes off, given how many watched invocations its window holds."""
    is_silent = last_fired_at is not None and last_fired_at > since(alarm, now)
    return count >= alarm.threshold and not is_silent


def words(alarm: Alarm, name: str, job_id: str, count: int) -> str:
    """Word an alarm that went off, for every sink."""
    watched = "failed attempts" if alarm.watch is Watch.FAILURES else "attempts"
    window = timedelta(milliseconds=alarm.window_ms)
    return f"scheduled job {name} ({job_id}): {count} {watched} within {window}"
