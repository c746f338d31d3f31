"""Scheduled jobs as plain JSON objects for the store, and back.

Shapes: one object with the `format` it is written in; moments are ISO 8601 texts, the multiplier
    is a text so that no digit of it is lost, and headers and env are lists of pairs, in order.
    What has its default value is written too: a default that changes later changes no stored job.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import assert_never

from chalicelib.json_text import JsonObject
from chalicelib.scheduler.definition import (
    Alarm,
    Auth,
    Cron,
    Every,
    HttpCall,
    Loop,
    Missed,
    Once,
    Overlap,
    Retry,
    Schedule,
    ScheduledJob,
    ScriptCall,
    Sink,
    SinkType,
    Watch,
)

FORMAT = 1  # rises with every change that an older reader would misread


class UnknownFormat(ValueError):
    """The object was written by another version."""


def to_json(job: ScheduledJob) -> JsonObject:
    """Write a definition as a JSON object."""
    return {
        "format": FORMAT,
        "id": job.id,
        "name": job.name,
        "type": job.type,
        "enabled": job.enabled,
        "schedule": None if job.schedule is None else _schedule_to(job.schedule),
        "timeout_ms": job.timeout_ms,
        "http": {**asdict(job.http), "headers": _pairs_to(job.http.headers)},
        "script": {
            **asdict(job.script),
            "args": list(job.script.args),
            "env": _pairs_to(job.script.env),
        },
        "loop": asdict(job.loop),
        "retry": {**asdict(job.retry), "multiplier": str(job.retry.multiplier)},
        "pool_count": job.pool_count,
        "overlap": job.overlap.value,
        "alarm": None if job.alarm is None else _alarm_to(job.alarm),
        "missed": job.missed.value,
        "created_at": job.created_at.isoformat(),
        "revision": job.revision,
        "is_done": job.is_done,
    }


def from_json(data: JsonObject) -> ScheduledJob:
    """Read a definition that `to_json` wrote, its numbers as int or Decimal.

    Raises: UnknownFormat for the object of another version.
    """
    if data.get("format") != FORMAT:
        raise UnknownFormat(
            f"expected a scheduled job in format {FORMAT}, found {data.get('format')}"
        )
    schedule, alarm = data["schedule"], data["alarm"]
    return ScheduledJob(
        id=data["id"],
        name=data["name"],
        type=data["type"],
        enabled=data["enabled"],
        schedule=None if schedule is None else _schedule_from(schedule),
        timeout_ms=int(data["timeout_ms"]),
        http=_http_from(data["http"]),
        script=_script_from(data["script"]),
        loop=_loop_from(data["loop"]),
        retry=_retry_from(data["retry"]),
        pool_count=int(data["pool_count"]),
        overlap=Overlap(data["overlap"]),
        alarm=None if alarm is None else _alarm_from(alarm),
        missed=Missed(data["missed"]),
        created_at=datetime.fromisoformat(data["created_at"]),
        revision=int(data["revision"]),
        is_done=data["is_done"],
    )


def _schedule_to(schedule: Schedule) -> JsonObject:
    match schedule:
        case Cron():
            return {"cron": schedule.expression, "timezone": schedule.timezone}
        case Every():
            return {"every_ms": schedule.ms}
        case Once():
            return {"run_at": schedule.at.isoformat()}
    assert_never(schedule)


def _schedule_from(data: JsonObject) -> Schedule:
    if "cron" in data:
        return Cron(data["cron"], data["timezone"])
    if "every_ms" in data:
        return Every(int(data["every_ms"]))
    return Once(datetime.fromisoformat(data["run_at"]))


def _http_from(data: JsonObject) -> HttpCall:
    auth = Auth(**data["auth"])
    return HttpCall(data["url"], data["method"], _pairs_from(data["headers"]), data["body"], auth)


def _script_from(data: JsonObject) -> ScriptCall:
    env = _pairs_from(data["env"])
    return ScriptCall(data["interpreter"], data["script"], tuple(data["args"]), env)


def _loop_from(data: JsonObject) -> Loop:
    return Loop(
        data["enabled"],
        data["response_path"],
        int(data["delay_ms"]),
        int(data["jitter_ms"]),
        int(data["max_iterations"]),
    )


def _retry_from(data: JsonObject) -> Retry:
    return Retry(
        data["enabled"],
        int(data["base_delay_ms"]),
        Decimal(data["multiplier"]),
        int(data["max_delay_ms"]),
        int(data["max_attempts"]),
    )


def _alarm_to(alarm: Alarm) -> JsonObject:
    return {
        "watch": alarm.watch.value,
        "threshold": alarm.threshold,
        "window_ms": alarm.window_ms,
        "sinks": [{"type": sink.type.value, "target": sink.target} for sink in alarm.sinks],
    }


def _alarm_from(data: JsonObject) -> Alarm:
    sinks = tuple(Sink(SinkType(sink["type"]), sink["target"]) for sink in data["sinks"])
    return Alarm(Watch(data["watch"]), int(data["threshold"]), int(data["window_ms"]), sinks)


def _pairs_to(pairs: tuple[tuple[str, str], ...]) -> list[list[str]]:
    return [list(pair) for pair in pairs]


def _pairs_from(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in pairs)
