"""What the schedule of a scheduled job has ahead."""

from __future__ import annotations

from datetime import datetime

from chalicelib.delivery.runs import fires
from chalicelib.operations.scheduled_jobs import get_scheduled_job
from chalicelib.ports import Ports
from chalicelib.scheduler.schedules import next_firings

SHOWN_MAX = 5  # firings: enough to see whether the schedule is what was meant


def list_next_firings(ports: Ports, job_id: str) -> list[datetime]:
    """Return a job's next firings, none if it is paused, done or without a schedule.

    Raises: Rejected(NOT_FOUND).
    """
    job = get_scheduled_job(ports, job_id)
    if not fires(job) or job.schedule is None:
        return []
    return next_firings(job.schedule, ports.clock.now(), SHOWN_MAX, job.created_at)
