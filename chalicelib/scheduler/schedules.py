"""When a scheduled job fires: its schedule in AWS's form, and its next firings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Cron:
    """Firings at the minutes that a Unix cron expression of five fields names, in a zone."""

    expression: str
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Every:
    """Firings at a fixed interval; the first is one interval after the job was created."""

    ms: int


@dataclass(frozen=True, slots=True)
class Once:
    """One firing at a moment (aware)."""

    at: datetime


Schedule = Cron | Every | Once


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a definition is refused: the field as the API spells it (`schedule.cron`), and why."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A schedule as EventBridge Scheduler takes it: ScheduleExpression and its time zone."""

    text: str
    timezone: str = "UTC"


def translate(schedule: Schedule) -> Expression | Problem:
    """Write a schedule in EventBridge Scheduler's form, or say why it cannot be."""
    raise NotImplementedError


def next_firings(
    schedule: Schedule, after: datetime, count: int, created_at: datetime
) -> list[datetime]:
    """Return the next firings after a moment, in order and in UTC; fewer if there are no more.

    Shapes: `created_at` is the anchor of an interval.
    """
    raise NotImplementedError
