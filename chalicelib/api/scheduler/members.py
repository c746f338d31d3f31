"""The members of a scheduled job, as data: how each is spelled, what it may be, where it is.

A definition is flat in JSON and made of parts in `chalicelib/scheduler`; this table is the one
place that knows both. Ranges that are said here are in the OpenAPI document too; what only the
definition as a whole can tell (`problems`) is judged where it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.api.scheduler.masks import masked
from chalicelib.api.schema import (
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Moment,
    Number,
    Object,
    OneOf,
    Text,
    Type,
    Variant,
    Whole,
)
from chalicelib.scheduler.definition import (
    COUNT_MAX,
    DELAY_MAX_MS,
    NAME_MAX,
    PATH_MAX,
    POOL_MAX,
    THRESHOLD_MAX,
    TIMEOUT_MAX_MS,
    WINDOW_MAX_MS,
    Alarm,
    Auth,
    Cron,
    Every,
    Missed,
    Once,
    Overlap,
    Schedule,
    Sink,
    SinkType,
    Watch,
)
from chalicelib.scheduler.schedules import INTERVAL_MAX_MS, MINUTE_MS
from chalicelib.store import moments


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a definition.

    Shapes: `place` is the attribute of ScheduledJob, with a dot where it is in a part of it;
        `ours` makes our value of what was read, `theirs` what is written of ours. A member that
        may be null is one that a definition can be without.
    """

    type: Type
    place: str
    ours: Callable[[Any], Any] = _same
    theirs: Callable[[Any], Any] = _same
    nullable: bool = False


# --- schedules ---------------------------------------------------------------------------------


def _variant(member: str, of: type[Any], name: str, fields: Mapping[str, Field]) -> Variant:
    return Variant(member, of, Object(name, fields, closed=True))


SCHEDULE = OneOf(
    (
        _variant(
            "cron",
            Cron,
            "CronSchedule",
            {
                "cron": Field(Text(), lambda cron: cron.expression, required=True),
                "timezone": Field(Text(), lambda cron: cron.timezone),
            },
        ),
        _variant(
            "every_ms",
            Every,
            "IntervalSchedule",
            {
                "every_ms": Field(
                    Whole(MINUTE_MS, INTERVAL_MAX_MS), lambda every: every.ms, required=True
                )
            },
        ),
        _variant(
            "run_at",
            Once,
            "OneOffSchedule",
            {"run_at": Field(Moment(), lambda once: once.at, required=True)},
        ),
    )
)


def _schedule(read: Mapping[str, Any]) -> Schedule:
    if "cron" in read:
        zone = {"timezone": read["timezone"]} if "timezone" in read else {}
        return Cron(read["cron"], **zone)
    if "every_ms" in read:
        return Every(read["every_ms"])
    # As fine as it is shown: a job that is put back is the same job, and a one-off stays done.
    return Once(moments.from_ms(moments.to_ms(read["run_at"])))


# --- auth and alarm ----------------------------------------------------------------------------

AUTH = Object(
    "Auth",
    {
        "type": Field(Text(), lambda auth: auth.type, required=True),
        "username": Field(Text(), lambda auth: auth.username or None),
        "password": Field(Text(), lambda auth: auth.password or None),
        "token": Field(Text(), lambda auth: auth.token or None),
        "header": Field(Text(), lambda auth: auth.header or None),
        "value": Field(Text(), lambda auth: auth.value or None),
    },
    closed=True,
)
SINK = Object(
    "Sink",
    {
        "type": Field(Choice(tuple(SinkType)), lambda sink: sink.type, required=True),
        "target": Field(Text(), lambda sink: sink.target or None),
    },
    closed=True,
)
ALARM = Object(
    "Alarm",
    {
        "watch": Field(Choice(tuple(Watch)), lambda alarm: alarm.watch, required=True),
        "threshold": Field(Whole(1, THRESHOLD_MAX), lambda alarm: alarm.threshold, required=True),
        "window_ms": Field(Whole(1, WINDOW_MAX_MS), lambda alarm: alarm.window_ms, required=True),
        "sinks": Field(ListOf(SINK), lambda alarm: alarm.sinks),
    },
    closed=True,
)


def _alarm(read: Mapping[str, Any]) -> Alarm:
    alarm = Alarm(Watch(read["watch"]), read["threshold"], read["window_ms"])
    if "sinks" not in read:
        return alarm
    sinks = (Sink(SinkType(sink["type"]), sink.get("target", "")) for sink in read["sinks"])
    return Alarm(alarm.watch, alarm.threshold, alarm.window_ms, tuple(sinks))


# --- all of them -------------------------------------------------------------------------------


def _pairs(read: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(read.items())


def _or_none(text: str) -> str | None:
    return text or None


_TEXTS = MapOf(Text())
_DELAY = Whole(maximum=DELAY_MAX_MS)  # a number that is too small counts as unset
_COUNT = Whole(maximum=COUNT_MAX)
_MULTIPLIER = Number(-1_000_000, 1_000_000)  # beyond it, one attempt reaches every maximum

MEMBERS: Mapping[str, Member] = {
    "name": Member(Text(1, NAME_MAX), "name"),
    "type": Member(Text(), "type"),
    "enabled": Member(Flag(), "enabled"),
    "schedule": Member(SCHEDULE, "schedule", _schedule, nullable=True),
    "timeout_ms": Member(Whole(1, TIMEOUT_MAX_MS), "timeout_ms"),
    "url": Member(Text(), "http.url", theirs=_or_none),
    "method": Member(Text(), "http.method"),
    "headers": Member(_TEXTS, "http.headers", _pairs, dict),
    "body": Member(Text(), "http.body", nullable=True),
    "auth": Member(AUTH, "http.auth", lambda read: Auth(**read), masked),
    "interpreter": Member(Text(), "script.interpreter", theirs=_or_none),
    "script": Member(Text(), "script.script"),
    "args": Member(ListOf(Text()), "script.args", tuple),
    "env": Member(_TEXTS, "script.env", _pairs, dict),
    "loop_enabled": Member(Flag(), "loop.enabled"),
    "loop_response_path": Member(Text(0, PATH_MAX), "loop.response_path"),
    "loop_delay_ms": Member(_DELAY, "loop.delay_ms"),
    "loop_jitter_ms": Member(_DELAY, "loop.jitter_ms"),
    "loop_max_iterations": Member(_COUNT, "loop.max_iterations"),
    "retry_enabled": Member(Flag(), "retry.enabled"),
    "retry_base_delay_ms": Member(_DELAY, "retry.base_delay_ms"),
    "retry_multiplier": Member(_MULTIPLIER, "retry.multiplier"),
    "retry_max_delay_ms": Member(_DELAY, "retry.max_delay_ms"),
    "retry_max_attempts": Member(_COUNT, "retry.max_attempts"),
    "pool_count": Member(Whole(1, POOL_MAX), "pool_count"),
    "overlap_policy": Member(Choice(tuple(Overlap)), "overlap", Overlap),
    "alarm": Member(ALARM, "alarm", _alarm, nullable=True),
    "missed": Member(Choice(tuple(Missed)), "missed", Missed),
}
