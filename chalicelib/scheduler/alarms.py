"""Whether a job's alarm goes off: so many attempts within a window, told once per window.

The window slides: it ends now. Once told, an alarm is silent for one window, so that no attempt
is counted twice for it.

Source: contracts/scheduled-jobs.md, "alarms", Z101 and Z102.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from chalicelib.scheduler.definition import Alarm, Watch
from chalicelib.scheduler.rows import Outcome


def is_watched(alarm: Alarm, outcome: Outcome) -> bool:
    """Say whether an attempt counts: every one, or what failed or was cancelled (Z101, Z102)."""
    return alarm.watch is Watch.ALL or outcome is not Outcome.SUCCEEDED


def since(alarm: Alarm, now: datetime) -> datetime:
    """Return the moment from which invocations are counted."""
    return now - timedelta(milliseconds=alarm.window_ms)


def fires(alarm: Alarm, count: int, last_fired_at: datetime | None, now: datetime) -> bool:
    """Say whether an alarm goes off, given how many watched invocations its window holds."""
    is_silent = last_fired_at is not None and last_fired_at > since(alarm, now)
    return count >= alarm.threshold and not is_silent
