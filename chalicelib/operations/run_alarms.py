"""Alarms of scheduled jobs: an attempt is counted, and its job's sinks are told once a window."""

from __future__ import annotations

from chalicelib.operations.attempts import unfailing
from chalicelib.operations.invocations import count_to
from chalicelib.ports import Ports
from chalicelib.scheduler import alarms
from chalicelib.scheduler.alarms import Watch
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Attempt
from chalicelib.store import scheduled_jobs
from chalicelib.store.moments import from_ms


def count(ports: Ports, job: ScheduledJob, attempt: Attempt) -> None:
    """Let a job's alarm go off if an attempt, which is written down, is one too many.

    The mark that it went off is written first: of two that count at once one tells the sinks.
    """
    alarm = job.alarm
    if alarm is None or not alarms.is_watched(alarm, attempt.outcome):
        return
    now = ports.clock.now()
    since = alarms.since(alarm, now)
    found = count_to(
        ports,
        job.id,
        since,
        failures_only=alarm.watch is Watch.FAILURES,
        most=alarm.threshold,
    )
    fired_ms = scheduled_jobs.alarm_fired_at(ports.table, job.id)
    fired_at = None if fired_ms is None else from_ms(fired_ms)
    if not alarms.fires(alarm, found, fired_at, now):
        return
    if scheduled_jobs.mark_alarm(ports.table, job.id, now=now, silent_since=since):
        text = alarms.words(alarm, job.name, job.id, found)
        for sink in alarm.sinks:
            with unfailing(f"the alarm of scheduled job {job.id} did not reach {sink.type}"):
                ports.alerts.send(sink, text)
