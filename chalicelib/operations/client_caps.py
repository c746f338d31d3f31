"""How many jobs of a type a client may hold at a time: `maxActiveJobs` (R24 to R26, R28, R29).

Counted for a client and a type over the whole system, and only for activations that name a cap:
what the client claims otherwise is not counted. Whatever is about to be claimed is noted before,
so a crash can make the count too high but never too low. The jobs themselves are only looked at
when the count says that there is no room: then what ended, lapsed or was failed frees its slot.
Design section 5; the record notes deliveries instead of lock ends, for locks are extended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.delivery.horizon import FUNCTION_TIMEOUT
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Conflict
from chalicelib.operations.attempts import attempts
from chalicelib.ports import ItemKey, Ports
from chalicelib.store import client_caps, jobs
from chalicelib.store.client_caps import Held, Holding
from chalicelib.store.table import cap_key

LOOK_EVERY_S = 1.0  # while there is no room
LOOKS_PER_S = 100  # jobs looked at in a second, so a client that waits costs little

# A claim that was noted and not made by then never will be: its function is over.
CLAIM_MAX = FUNCTION_TIMEOUT


def max_active_jobs(ports: Ports, asked: int | None) -> int | None:
    """Return the cap that counts: the default for 0, never above the operator's (R24)."""
    if asked is None:
        return None
    return min(asked or ports.settings.default_max_active, ports.settings.max_active_cap)


@dataclass(slots=True)
class CappedClient:
    """A client that holds at most so many jobs of a type."""

    ports: Ports
    client_id: str
    job_type: str
    most: int
    _held: Held = field(default_factory=Held)

    def room(self) -> int:
        """Return how many more jobs the client may get; at most 0 if there is no room."""
        self._held = client_caps.read(self.ports.table, self._place)
        if len(self._held.jobs) >= self.most:
            self._held = self._verified(self._held)
        return self.most - len(self._held.jobs)

    def let_in(self, due: Sequence[Job]) -> list[Job]:
        """Note the jobs that are about to be claimed; return those for which there is room."""
        for _ in attempts(self.ports):
            others = {key for key in self._held.jobs if key not in {job.key for job in due}}
            chosen = list(due[: max(0, self.most - len(others))])
            if not chosen:
                return []
            now = self.ports.clock.now()
            noted = {job.key: Holding(job.delivery_token + 1, now) for job in chosen}
            after = client_caps.write(
                self.ports.table, self._place, self._held, {**self._held.jobs, **noted}, now
            )
            if after is not None:
                self._held = after
                return chosen
            self.room()
        raise Conflict(f"client {self.client_id} asked for {self.job_type} many times at once")

    def pause_s(self) -> float:
        """Return how long to wait for room before the jobs are looked at again."""
        return max(LOOK_EVERY_S, len(self._held.jobs) / LOOKS_PER_S)

    @property
    def _place(self) -> ItemKey:
        return cap_key(self.client_id, self.job_type)

    def _verified(self, held: Held) -> Held:
        """Look at the jobs, and keep the entries of those that the client holds or may claim."""
        now = self.ports.clock.now()
        found = jobs.read(self.ports.table, held.jobs, whole=False)
        kept = {
            key: holding
            for key, holding in held.jobs.items()
            if key in found and self._holds(found[key], holding, now)
        }
        return replace(held, jobs=kept)

    def _holds(self, job: Job, holding: Holding, now: datetime) -> bool:
        if job.state is not JobState.ACTIVE:
            return False
        if job.delivery_token < holding.token:
            return now - holding.since < CLAIM_MAX + timedelta(seconds=1)
        return job.owner == self.client_id and (job.lock_until is None or job.lock_until > now)
