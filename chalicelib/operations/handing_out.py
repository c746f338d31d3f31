"""The one claim: received bells are judged, and of the jobs that are due each is claimed.

Only for those that are due the next bell is rung, for the end of the lock, and then each job is
claimed by one conditional update under the ring that was read: of any number of racing workers
exactly one wins. A claim that loses is judged again by the item that beat it. A bell is deleted
when its job is claimed, when it was rung on for later, or when it is spare. Design section 5.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, assert_never

from chalicelib.delivery import bells, later
from chalicelib.delivery.bells import Bell
from chalicelib.delivery.horizon import EARLY_DELAY_S, LOOKS_AGAIN_S
from chalicelib.delivery.later import Later
from chalicelib.delivery.promise import is_fresh, promise_in_time
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.engine.facts import JobHandedOut
from chalicelib.engine.state import Job
from chalicelib.errors import Rejected
from chalicelib.operations.attempts import tell
from chalicelib.ports import Ports, Received
from chalicelib.store import instances, jobs
from chalicelib.store.jobs import Lock, Lost

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claimant:
    """Whom jobs are locked for, and how long; None is a hold, which no time ends.

    Shapes: `request_id` is what the client calls its request, so that it may be repeated.
    """

    client_id: str
    lock_duration: timedelta | None
    request_id: str | None = None


class Gate(Protocol):
    """What is asked, and takes note, before jobs are claimed for one client."""

    def let_in(self, due: Sequence[Job]) -> Sequence[Job]:
        """Return the jobs that may be claimed now."""


class Rung(NamedTuple):
    """A bell in our hands, and what gives it back."""

    bell: Bell
    receipt: str


@dataclass(slots=True)
class HandOut:
    """What is handed out to one client off one queue: the jobs claimed, and the bells done with."""

    ports: Ports
    queue: str
    claimant: Claimant
    gates: Sequence[Gate] = ()
    claimed: list[Job] = field(default_factory=list)

    def hand_out(self, received: Sequence[Received]) -> None:
        """Claim what bells are due for; look again at early ones, then put them back."""
        rung, done = _read(received)
        early = self._claim(rung, {}, done)
        for pause_s in LOOKS_AGAIN_S:
            if not early:
                break
            self.ports.clock.sleep(pause_s)
            early = self._claim(early, self._root_versions(early), done)
        if done:
            self.ports.queues.delete(self.queue, done)
        for each in early:
            self.ports.queues.show_again(self.queue, each.receipt, EARLY_DELAY_S)

    def _root_versions(self, rung: Sequence[Rung]) -> dict[int, int | None]:
        """Read how far the instances of new jobs are; only then is a missing job looked for."""
        table = self.ports.table
        keys = {bell.job_key for bell, _ in rung if bell.version is not None}
        return {key: instances.root_version(table, key) for key in keys}

    def _claim(
        self, rung: Sequence[Rung], versions: Mapping[int, int | None], done: list[str]
    ) -> list[Rung]:
        """Judge each bell and claim the jobs that are due; return the bells that are early."""
        if not rung:
            return []
        now = self.ports.clock.now()
        read = jobs.read(self.ports.table, [bell.job_key for bell, _ in rung])
        due: dict[int, Rung] = {}
        verdicts: list[tuple[Rung, Verdict]] = []
        for each in rung:
            key = each.bell.job_key
            verdict = bells.judge(each.bell, read.get(key), versions.get(key), now)
            if isinstance(verdict, LiveDue) and key not in due:
                due[key] = each
            else:
                verdicts.append((each, verdict))
        verdicts += self._claim_due([(each, read[key]) for key, each in due.items()], done)
        return self._settle(verdicts, done)

    def _claim_due(
        self, due: Sequence[tuple[Rung, Job]], done: list[str]
    ) -> list[tuple[Rung, Verdict]]:
        """Ring for the locks' end, then claim one by one; return what those that lost are now."""
        let_in = [job for _, job in due]
        for gate in self.gates:
            let_in = list(gate.let_in(let_in)) if let_in else []
        keys = {job.key for job in let_in}
        lost: list[tuple[Rung, Verdict]] = [
            (each, LiveDue()) for each, job in due if job.key not in keys
        ]
        grant: Grant | None = None
        for number, (each, job) in enumerate([pair for pair in due if pair[1].key in keys]):
            if grant is None or not is_fresh(self.ports, grant.promised_at):
                grant = grant_locks(self.ports, let_in[number:], self.claimant)
            result = grant.claim(self.ports, job)
            if isinstance(result, Job):
                self.claimed.append(result)
                done.append(each.receipt)
            else:
                lost.append((each, bells.judge(each.bell, result.current, None, grant.now)))
        return lost

    def _settle(self, verdicts: Sequence[tuple[Rung, Verdict]], done: list[str]) -> list[Rung]:
        """Ring on what is for later, be done with what is spare; return what is early.

        Shapes: a bell that is due was a double of one claimed here, or lost to a writer who
            changed nothing of its job's being due: either way it is looked at again.
        """
        early: list[Rung] = []
        on: list[Later] = []
        rung_on: list[str] = []
        for each, verdict in verdicts:
            match verdict:
                case Spare():
                    done.append(each.receipt)
                case LiveLater(at):
                    on.append(bells.later(each.bell, at))
                    rung_on.append(each.receipt)
                case Early() | LiveDue():
                    early.append(each)
                case _ as never:
                    assert_never(never)
        if on:
            later.send_on(self.ports, self.queue, on)
            done += rung_on
        return early


@dataclass(frozen=True, slots=True)
class Grant:
    """A lock that bells are promised for the end of, or a hold: only under one are jobs claimed."""

    lock: Lock
    now: datetime
    promised_at: datetime

    def claim(self, ports: Ports, job: Job) -> Job | Lost:
        """Claim a job by one conditional update: the ring that was read becomes the next one."""
        claimed = jobs.claim(ports.table, job, self.lock, now=self.now)
        if isinstance(claimed, Job):
            latency = self.now - (job.ring_at or job.created_at)
            tell(ports, [JobHandedOut(claimed, max(latency, timedelta(0)))])
        return claimed


def grant_locks(ports: Ports, wanted: Sequence[Job], claimant: Claimant) -> Grant:
    """Ring the next bell of each job for the end of its lock, before it is claimed.

    A hold has no end, so nothing is rung for one: whatever frees the job rings.
    """
    now = ports.clock.now()
    if claimant.lock_duration is None:
        return Grant(Lock(claimant.client_id, claim_id=claimant.request_id), now, now)
    until = now + claimant.lock_duration
    promised_at = promise_in_time(ports, [bells.next_ring(job, until) for job in wanted])
    lock = Lock(claimant.client_id, until, claimant.lock_duration, claimant.request_id)
    return Grant(lock, now, promised_at)


def _read(received: Sequence[Received]) -> tuple[list[Rung], list[str]]:
    """Return the bells, and the receipts of what is none."""
    rung, junk = [], []
    for each in received:
        try:
            rung.append(Rung(bells.from_text(each.body), each.receipt))
        except Rejected as error:
            logger.warning("deleted what is no bell: %s", error.message)
            junk.append(each.receipt)
    return rung, junk
