"""Jobs for workers: by type, waiting for the first, or one by its key.

Both ways in are one claim (`handing_out.py`), and the claim is the delivery. Design section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib import json_text
from chalicelib.delivery import bells, later
from chalicelib.delivery.bells import Bell
from chalicelib.delivery.horizon import LOOKS_AGAIN_S
from chalicelib.delivery.promise import job_queue
from chalicelib.delivery.verdicts import Early, LiveLater, Spare, Verdict
from chalicelib.engine import lifecycle
from chalicelib.engine.state import Job, JobState, Root
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import answering
from chalicelib.operations.client_caps import CappedClient
from chalicelib.operations.handing_out import Claimant, HandOut, grant_locks
from chalicelib.operations.named_requests import NamedRequest, is_claimed
from chalicelib.ports import Ports, QueueMissing, Received
from chalicelib.profile import Profile
from chalicelib.store import instances, jobs

BATCH_MAX = 10  # messages of one receive (SQS quota)
VISIBILITY_S = 30  # of bells while they are judged and claimed; design section 5
WAIT_MIN_S = 1  # shorter polls ask only some of SQS's servers, and so lie
WAIT_MAX_S = 20  # of one receive (SQS quota), and of `waitFor`
MISSING_WAIT_S = 1.0  # between two looks for a queue that nobody has made yet
INPUTS_MAX = 500_000  # characters; ten more jobs of 350 kB still fit into an answer of 6 MB
ROUNDS_MAX = timedelta(seconds=15)  # and one more round ends before the gateway's 29 s do


@dataclass(frozen=True, slots=True)
class Activation:
    """What a client asks for: up to so many jobs of a type, and how long it waits for the first.

    Shapes: `max_active` is how many jobs of the type the client may hold at a time, None if it
        does not say; `profile` matters only where dialects are kept apart.
    """

    type: str
    claimant: Claimant
    max_jobs: int = 1
    wait_for: timedelta = timedelta(0)
    max_active: int | None = None
    kind: str = bells.BPMN
    profile: Profile = Profile.ZENBPM


def lock_duration(ports: Ports, asked: timedelta | None) -> timedelta:
    """Return how long a lock lasts: the default if nothing is asked, at most the cap (R22)."""
    settings = ports.settings
    wanted = asked or timedelta(milliseconds=settings.default_lock_ms)
    return min(wanted, timedelta(milliseconds=settings.max_lock_ms))


def activate(ports: Ports, request: Activation) -> list[Job]:
    """Hand out jobs of a type, the oldest first of those received; wait for the first one.

    Returns nothing when the time is up, when this process is asked to stop, or when the client is
    gone; and what the client holds by that very request, if this is a repeat of it.
    """
    named = _named(ports, request)
    if named is not None and (held := named.held()):
        return held
    capped = _capped(ports, request)
    queue = job_queue(ports, request.kind, request.type, request.profile)
    gates = [gate for gate in (capped, named) if gate is not None]
    out = HandOut(ports, queue, request.claimant, gates)
    began = ports.clock.now()
    time_up = began + max(request.wait_for, timedelta(seconds=WAIT_MIN_S))
    with answering(out.claimed):
        while not ports.clock.is_stopping():
            wanted = min(BATCH_MAX, request.max_jobs - len(out.claimed), _room(capped))
            wait_s = 0 if out.claimed else _wait_s(ports, time_up)
            received = _receive(ports, queue, wanted, wait_s) if wanted > 0 else []
            if ports.clock.is_stopping():  # nobody would be told what is claimed
                _give_back(ports, queue, received)
                break
            out.hand_out(received)
            if _is_enough(request, out.claimed) or (named is not None and named.is_overtaken):
                break
            if out.claimed and len(received) < max(1, wanted):
                break
            if ports.clock.now() >= (began + ROUNDS_MAX if out.claimed else time_up):
                break
            if capped is not None and wanted <= 0:
                _await_room(ports, capped, time_up)
    if named is not None and named.is_overtaken and not out.claimed:
        return named.held()
    return sorted(out.claimed, key=_turn_of)


def roots_of(ports: Ports, found: Iterable[Job]) -> Mapping[int, Root]:
    """Return the roots of jobs' instances by their keys, each read consistently."""
    return instances.roots(ports.table, {job.instance_key for job in found})


def _turn_of(job: Job) -> tuple[int, datetime, int]:
    """Return what jobs that were received together are ordered by: urgency, then age."""
    return -(job.priority or 0), job.created_at, job.key


def _is_enough(request: Activation, claimed: Sequence[Job]) -> bool:
    """Say whether as much is claimed as was asked for, or as an answer may hold.

    Shapes: what is claimed has to be answered, so its variables count as JSON.
    """
    size = sum(len(json_text.dumps(job.inputs)) for job in claimed)
    return len(claimed) >= request.max_jobs or size > INPUTS_MAX


def _named(ports: Ports, request: Activation) -> NamedRequest | None:
    claimant = request.claimant
    if claimant.request_id is None or claimant.lock_duration is None:
        return None  # a hold is never asked for again: no dialect that has them names requests
    return NamedRequest(
        ports, claimant.client_id, request.type, claimant.request_id, claimant.lock_duration
    )


def _capped(ports: Ports, request: Activation) -> CappedClient | None:
    if request.max_active is None:
        return None
    return CappedClient(ports, request.claimant.client_id, request.type, request.max_active)


def _room(capped: CappedClient | None) -> int:
    return BATCH_MAX if capped is None else capped.room()


def _await_room(ports: Ports, capped: CappedClient, until: datetime) -> None:
    """Wait a while for a slot to become free; nothing is received meanwhile."""
    left_s = (until - ports.clock.now()).total_seconds()
    ports.clock.sleep(max(0.0, min(capped.pause_s(), left_s)))


def _wait_s(ports: Ports, until: datetime) -> int:
    return min(WAIT_MAX_S, max(WAIT_MIN_S, later.delay_s(until, ports.clock.now())))


def _receive(ports: Ports, queue: str, limit: int, wait_s: int) -> list[Received]:
    """Take bells; a type that has no queue yet is waited for, and none is made."""
    try:
        return ports.queues.receive(queue, limit, VISIBILITY_S, wait_s)
    except QueueMissing:
        ports.clock.sleep(min(MISSING_WAIT_S, wait_s))
        return []


def _give_back(ports: Ports, queue: str, received: Sequence[Received]) -> None:
    for each in received:
        ports.queues.show_again(queue, each.receipt, 0)


# --- one job, by its key -----------------------------------------------------------------------


def claim_by_key(
    ports: Ports,
    job_key: int,
    claimant: Claimant,
    bell: str | None = None,
    profile: Profile = Profile.ZENBPM,
) -> Job:
    """Hand out one job to a client that was told of it, by its bell or otherwise.

    Shapes: `bell` is the body as received; without one the record's own number counts. A bell
        that is outdated is no reason to refuse a job that is free. A repeat of the request that
        claimed it gets the job again. Where dialects are kept apart, one of another `profile` is
        not there.
    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) with the `reason` held, waiting, early
        or ended. Before held and waiting the job's bell was rung on for its time, so whoever
        deletes the message after that loses nothing; early ones are to be shown again.
    """
    named = None if bell is None else _bell_of(job_key, bell)
    refusal: Exception = Conflict(f"job {job_key} was claimed by others at every look")
    for pause_s in (0.0, *LOOKS_AGAIN_S):
        version = _version_after(ports, pause_s, named)
        now = ports.clock.now()
        job = jobs.read(ports.table, [job_key]).get(job_key)
        if job is not None and not ports.settings.cross_dialect and job.profile is not profile:
            raise lifecycle.no_such("job", job_key)
        if job is not None and is_claimed(job, claimant.client_id, claimant.request_id, now):
            return job
        verdict = _judge_named(named, job, version, now)
        if job is None or isinstance(verdict, Early):
            refusal = _not_there(job_key, job, verdict)
            continue
        _require_free(ports, job, verdict, now)
        claimed = grant_locks(ports, [job], claimant).claim(ports, job)
        if isinstance(claimed, Job):
            return claimed
    raise refusal


def _bell_of(job_key: int, text: str) -> Bell:
    bell = bells.from_text(text)
    if bell.job_key != job_key:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"expected the bell of job {job_key}, found that of job {bell.job_key}",
        )
    return bell


def _version_after(ports: Ports, pause_s: float, named: Bell | None) -> int | None:
    """Wait, then read how far the instance of a new job is: before the job is looked for again."""
    if not pause_s:
        return None
    ports.clock.sleep(pause_s)
    if named is None or named.version is None:
        return None
    return instances.root_version(ports.table, named.job_key)


def _judge_named(
    named: Bell | None, job: Job | None, version: int | None, now: datetime
) -> Verdict:
    """Judge the bell of a claim by key; without one, that of the job's own number."""
    if named is None and job is not None:
        named = bells.own_bell(job, now)
    return Spare() if named is None else bells.judge(named, job, version, now)


def _not_there(job_key: int, job: Job | None, verdict: Verdict) -> Rejected:
    if isinstance(verdict, Early):
        found = "no record" if job is None else f"one of ring {job.ring}"
        message = f"job {job_key}: expected the record that its bell was rung for, found {found}"
        return Rejected(Reason.INVALID_STATE, message, {"reason": "early"})
    return lifecycle.no_such("job", job_key)


def _require_free(ports: Ports, job: Job, verdict: Verdict, now: datetime) -> None:
    """Let the claim pass if the job is open and nobody has it.

    Shapes: an outdated bell (Spare) needs no ringing on: another one is live.
    Raises: Rejected(INVALID_STATE), after its live bell was rung on.
    """
    if job.state is not JobState.ACTIVE:
        message = f"job {job.key} is already {job.state}"
        raise Rejected(Reason.INVALID_STATE, message, {"reason": "ended"})
    at = job.out_at(now)
    if at == now:
        return
    if isinstance(verdict, LiveLater):
        queue = job_queue(ports, job.kind, job.type, job.profile)
        later.send_on(ports, queue, [bells.later(bells.own_bell(job, now), verdict.at)])
    if job.owner is not None and (job.lock_until is None or job.lock_until > now):
        message = f"job {job.key} is held by client {job.owner}"
        details = {"reason": "held", "owner": job.owner, "until": at}
    else:
        message = f"job {job.key} waits out its backoff"
        details = {"reason": "waiting", "until": at}
    raise Rejected(Reason.INVALID_STATE, message, details)
