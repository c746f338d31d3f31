"""What operators and special clients do, some of it ahead of the routes that will offer it.

Setting retries, extending, assigning and holding have their store functions and guards, but their
operations come with the job protocol's and the Priostack issue. Until then the few lines of each
are here, as design section 3's table says: ring n+1, then one conditional write under ring n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from chalicelib.delivery import bells
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine.commands import ResolveIncident
from chalicelib.engine.state import Incident, Job, JobState
from chalicelib.errors import Conflict, Rejected
from chalicelib.operations import sweep
from chalicelib.operations.advance import advance
from chalicelib.operations.attempts import attempts
from chalicelib.ports import Message
from chalicelib.store import instances, jobs
from chalicelib.store.jobs import Lock
from tests.simulation.clients import complete
from tests.simulation.stage import Stage

LOOK_MS = 700  # between two looks for something to do
HOUR_MS = 3_600_000

T = TypeVar("T")


def _waiting(stage: Stage) -> list[Job]:
    """Look for the jobs that wait for a worker or an operator."""
    states = (JobState.ACTIVE, JobState.FAILED)
    return [job for job in _records(stage, Job) if job.state in states]


def open_jobs(stage: Stage) -> list[Job]:
    """Look, from outside of the play, for the jobs that wait."""
    return [job for job in _records(stage, Job) if job.state is JobState.ACTIVE]


def resolve_incidents(stage: Stage) -> None:
    """Resolve every incident there is, until the play is over."""
    while not stage.is_over:
        stage.world.pause(LOOK_MS)
        for incident in _records(stage, Incident):
            if incident.resolved_at is None:
                _try(stage, "resolve", partial(_resolve, stage, incident.key))


def _resolve(stage: Stage, key: int) -> None:
    advance(stage.ports, key, ResolveIncident(key))


def set_retries(stage: Stage, retries: int) -> None:
    """Give each job that waits so many retries, at once; a failed one keeps them until resolved."""
    for job in _waiting(stage):
        _try(stage, "set retries", partial(_set_retries, stage, job.key, retries))


def _set_retries(stage: Stage, key: int, retries: int) -> None:
    ports = stage.ports
    for _ in attempts(ports):
        job = jobs.read(ports.table, [key])[key]
        if job.state not in (JobState.ACTIVE, JobState.FAILED):
            return
        after = replace(job, retries=retries, retry_at=None, retries_set_by_operator=True)
        if after == job:
            return
        if job.state is JobState.ACTIVE:
            at = bells.let_out_at(after, ports.clock.now())
            after = replace(after, ring=job.ring + 1, ring_at=at)
            if at is not None:
                promise_in_time(ports, [bells.next_ring(job, at)])
        if isinstance(jobs.set_retries(ports.table, job, after), Job):
            return
    raise Conflict(f"job {key} was changed by others")


def assign(stage: Stage, assignee: str) -> None:
    """Give each open job to somebody."""
    for job in open_jobs(stage):
        _try(stage, "assign", partial(_assign, stage, job, assignee))


def _assign(stage: Stage, job: Job, assignee: str) -> None:
    jobs.assign(stage.ports.table, job, assignee)


def extend(stage: Stage, job: Job, by: timedelta) -> None:
    """Move the end of the lock that a job was delivered with, if it still is that delivery's."""
    _try(stage, "extend", partial(_extend, stage, job, by))


def _extend(stage: Stage, job: Job, by: timedelta) -> None:
    """Rest on the conditional write alone, and hold it against what was read."""
    ports, client_id = stage.ports, job.owner or ""
    now = ports.clock.now()
    current = jobs.read(ports.table, [job.key])[job.key]
    if current.lock_until is not None and jobs.shortens(current, now + by):
        promise_in_time(ports, [bells.next_ring(current, now + by)])
    extended = jobs.extend(
        ports.table, current, client_id, now + by, now=now, token=job.delivery_token
    )
    is_ours = (current.owner, current.delivery_token) == (client_id, job.delivery_token)
    is_held = current.lock_until is not None and current.lock_until > now
    may = current.state is JobState.ACTIVE and is_ours and is_held
    if isinstance(extended, Job) and not may:
        stage.world.complain(f"{client_id} extended a lock that was not its own: {current}")


def hold_and_complete(stage: Stage, client_id: str) -> None:
    """Take each open job without an end, work a little, and complete it."""
    for job in open_jobs(stage):
        held: list[Job] = []
        _try(stage, "hold", partial(_hold, stage, job, client_id, held))
        for taken in held:
            stage.ledger.deliver(client_id, taken)
            stage.world.pause(200)
            complete(stage, taken, {"done": taken.element_id})


def _hold(stage: Stage, seen: Job, client_id: str, held: list[Job]) -> None:
    """Claim without an end: the number rises and nothing is rung."""
    job = jobs.read(stage.ports.table, [seen.key])[seen.key]
    now = stage.ports.clock.now()
    claimed = jobs.claim(stage.ports.table, job, Lock(client_id), now=now)
    if isinstance(claimed, Job):
        held.append(claimed)


def release_holds(stage: Stage) -> None:
    """Free all jobs that are held without an end."""

    def operation() -> None:
        sweep.release_holds(stage.ports)

    _try(stage, "release holds", operation)


def ring_all(stage: Stage) -> None:
    """Ring for every open job at once, as `headrace ring --all` does."""

    def operation() -> None:
        sweep.ring_all(stage.ports)

    _try(stage, "ring all", operation)


def double_messages(stage: Stage, type_: str) -> None:
    """Let the first message of a job's queue come twice, as standard queues may."""
    queue = stage.job_queue(type_)
    stage.queues.await_message(queue)
    body = stage.queues.inner.visible(queue)[0]
    stage.queues.send(queue, [Message(body)])


def lose_messages(stage: Stage) -> None:
    """Lose all that queues hold, as no queue ever should."""
    stage.watch.forgive()
    for queue in [*stage.queues.names(), "timers", "commands"]:
        stage.queues.inner.lose(queue)


def sweep_hourly(stage: Stage) -> None:
    """Begin a sweep every hour."""
    while not stage.is_over:
        stage.world.pause(HOUR_MS)
        _try(stage, "sweep", lambda: sweep.begin(stage.ports))


def _records(stage: Stage, kind: type[T]) -> list[T]:
    found = [instances.load(stage.inner, key, None) for key in sorted(stage.watch.open_roots)]
    records = [record for each in found if each for record in each.records.values()]
    return [record for record in records if isinstance(record, kind)]


def _try(stage: Stage, name: str, operation: Callable[[], None]) -> None:
    """Ask until there is an answer; a refusal is one."""
    try:
        stage.repeat(name, operation)
    except Rejected as rejected:
        stage.ledger.refused.append(f"{name}: {rejected.message}")
