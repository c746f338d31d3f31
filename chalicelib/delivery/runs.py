"""Messages of scheduled jobs: a firing, a run's next attempt, the insurance of a manual trigger.

All are rumours that are judged against the tables. An attempt is promised before the transaction
that makes it due, so a message may be early; that attempts begin by a conditional write makes any
number of copies harmless. Source: contracts/scheduled-jobs.md; design section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from chalicelib import json_text
from chalicelib.delivery import bodies, horizon
from chalicelib.delivery.later import DELAY_MAX_S, Later, delay_s
from chalicelib.delivery.verdicts import LiveDue, LiveLater, Spare, Verdict, not_yet
from chalicelib.json_text import JsonObject
from chalicelib.ports import Message, Ports
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.scheduler.schedules import next_firings
from chalicelib.store.moments import to_ms

QUEUE = "runs"
FUNCTION_TIMEOUT = timedelta(seconds=900)  # of the function that runs jobs (Lambda's longest)
VISIBILITY = timedelta(seconds=960)  # of the queue: a message comes back when its function is dead
DEAD_AFTER = FUNCTION_TIMEOUT + horizon.CLOCK_SKEW_MAX  # no executor lives longer
NAME_LENGTH = 40  # hexadecimal digits that name the schedule of a run message
INSURANCE_S = 5  # by then a manual trigger has usually sent its runs
INSURANCE_AGAIN_S = 15  # between its looks, until the horizon


@dataclass(frozen=True, slots=True)
class Firing:
    """A job's schedule has come to a moment; `revision` is that of the job as it was planned."""

    job_id: str
    revision: int
    due: datetime


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A row is to be attempted: `attempt` is the number, from 1, of the attempt to make."""

    job_id: str
    run_id: str
    pool_idx: int
    iteration: int
    attempt: int
    first_sent: datetime


@dataclass(frozen=True, slots=True)
class Insurance:
    """A manual trigger may have died between rows and messages: look after each pool index."""

    job_id: str
    run_id: str
    pool_count: int
    first_sent: datetime


RunsMessage = Firing | RunMessage | Insurance


def to_text(message: RunsMessage) -> str:
    """Write a message as a body."""
    return json_text.dumps(_body(message))


def _body(message: RunsMessage) -> JsonObject:
    match message:
        case Firing(job_id, revision, due):
            return {"fire": job_id, "revision": revision, "due": to_ms(due)}
        case RunMessage(job_id, run_id, pool_idx, iteration, attempt, first_sent):
            return {
                "run": job_id,
                "id": run_id,
                "pool": pool_idx,
                "iteration": iteration,
                "attempt": attempt,
                "sent": to_ms(first_sent),
            }
        case Insurance(job_id, run_id, pool_count, first_sent):
            return {
                "again": job_id,
                "id": run_id,
                "pool": pool_count,
                "sent": to_ms(first_sent),
            }


def from_text(text: str) -> RunsMessage:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is none of the three."""
    body = bodies.parse(text)
    if "fire" in body:
        return Firing(
            bodies.text(body, "fire"),
            bodies.integer(body, "revision"),
            bodies.moment_or_text(body, "due"),
        )
    if "again" in body:
        return Insurance(
            bodies.text(body, "again"),
            bodies.text(body, "id"),
            bodies.integer(body, "pool"),
            bodies.moment(body, "sent"),
        )
    return RunMessage(
        bodies.text(body, "run"),
        bodies.text(body, "id"),
        bodies.integer(body, "pool"),
        bodies.integer(body, "iteration"),
        bodies.integer(body, "attempt"),
        bodies.moment(body, "sent"),
    )


def next_attempt(row: Row, now: datetime) -> RunMessage:
    """Return the message of a row's next attempt."""
    return RunMessage(row.job_id, row.run_id, row.pool_idx, row.iteration, row.attempt + 1, now)


def send(ports: Ports, rows: Iterable[Row]) -> datetime:
    """Send the message of each row's next attempt; return the moment before it was sent."""
    now = ports.clock.now()
    messages = [Message(to_text(next_attempt(row, now)), delay_s(row.due, now)) for row in rows]
    if messages:
        ports.queues.send(QUEUE, messages)
    return now


def insure(ports: Ports, job: ScheduledJob, run_id: str) -> datetime:
    """Send the insurance of a manual trigger; return the moment before it was sent."""
    now = ports.clock.now()
    message = Insurance(job.id, run_id, job.pool_count, now)
    ports.queues.send(QUEUE, [Message(to_text(message), INSURANCE_S)])
    return now


def later(message: RunMessage | Firing, at: datetime) -> Later:
    """Return a message to be sent on for its time."""
    match message:
        case Firing(job_id, revision):
            name = f"f-{job_id}-{revision}-{to_ms(at) // 1000}"
        case RunMessage(job_id, run_id, pool_idx, iteration, attempt):
            # Both ids may have 32 characters, and a schedule's name has 64 at most.
            text = json_text.dumps([job_id, run_id, str(pool_idx), str(iteration), str(attempt)])
            name = f"r-{sha256(text.encode()).hexdigest()[:NAME_LENGTH]}"
    return Later(name, at, to_text(message))


def put_back_after_s(message: RunsMessage, now: datetime) -> int:
    """Return how many seconds an early message waits before it is looked at again."""
    sent = message.due if isinstance(message, Firing) else message.first_sent
    return horizon.put_back_after_s(sent, now)


# --- verdicts ----------------------------------------------------------------------------------


def judge_firing(message: Firing, job: ScheduledJob | None, now: datetime) -> Verdict:
    """Say what a received firing is; of a revision that is still to be committed it is early.

    One of an older revision is live if the job, as it is now, was due then too.
    """
    if job is None or job.revision < message.revision:
        return not_yet(message.due, now)
    if not fires(job) or not (job.revision == message.revision or was_due(job, message.due)):
        return Spare()
    return LiveDue() if message.due <= now else LiveLater(message.due)


def fires(job: ScheduledJob) -> bool:
    """Say whether a job has firings to come."""
    return job.enabled and not job.is_done and job.schedule is not None


def was_due(job: ScheduledJob, moment: datetime) -> bool:
    """Say whether a job, as it is now, fires at a moment; of whole seconds, as all firings are."""
    if job.schedule is None:
        return False
    second_before = moment - timedelta(seconds=1)
    return next_firings(job.schedule, second_before, 1, job.created_at) == [moment]


def judge_run(message: RunMessage, row: Row | None, now: datetime) -> Verdict:
    """Say what a received run message is; LiveDue of a running row says that its executor died.

    Of a row that runs, a copy is looked at again when its executor can no more be alive.
    """
    early = not_yet(message.first_sent, now)
    if row is None or row.attempt < message.attempt - 1:
        return early
    if row.attempt > message.attempt or row.state.is_final:
        return Spare()
    if row.attempt == message.attempt:
        return _judge_running(row, now)
    if row.state is RowState.RUNNING:
        return early  # the attempt before is not written down yet
    return LiveDue() if row.due <= now else LiveLater(row.due)


def _judge_running(row: Row, now: datetime) -> Verdict:
    """Say whether the executor of a row is dead; spare if the attempt is over."""
    if row.state is not RowState.RUNNING or row.started_at is None:
        return Spare()
    dead_at = row.started_at + DEAD_AFTER
    latest = now + timedelta(seconds=DELAY_MAX_S)
    return LiveDue() if dead_at <= now else LiveLater(min(dead_at, latest))
