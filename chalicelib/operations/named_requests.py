"""Activations that their client named by a `requestId`, so that a repeat of one loses nothing.

Before jobs are claimed they are listed under the request, and the claim leaves the request's id on
each job. A repeat that finds listed jobs which this request claimed and the client still holds
answers those; if there are none, it is an activation like the first. Design section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib import json_text
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Conflict
from chalicelib.operations.attempts import attempts
from chalicelib.ports import ItemKey, Ports
from chalicelib.store import jobs, requests
from chalicelib.store.marks import KEPT
from chalicelib.store.requests import Listed
from chalicelib.store.table import request_key

INPUTS_MAX = 4_000_000  # characters; with one more of 350 kB still an answer of 6 MB
KEYS_MAX = 1_000  # listed at a time; a request claims at most 100, and ended jobs are dropped


@dataclass(slots=True)
class NamedRequest:
    """One activation of a client, over all its attempts."""

    ports: Ports
    client_id: str
    job_type: str
    request_id: str
    lock_duration: timedelta
    is_overtaken: bool = False  # by another attempt, whose jobs are the answer
    _listed: Listed = field(default_factory=Listed)

    def held(self) -> list[Job]:
        """Return the jobs that an earlier attempt claimed and the client holds, the oldest first.

        Shapes: as many as an answer may hold; those left over are there for the next repeat.
        """
        return list(_fitting(jobs.read(self.ports.table, self._held_keys()).values()))

    def let_in(self, due: Sequence[Job]) -> Sequence[Job]:
        """List the jobs that are about to be claimed; none if another attempt has claimed some."""
        for _ in attempts(self.ports):
            keys = dict.fromkeys([*self._listed.job_keys, *(job.key for job in due)])
            until = self.ports.clock.now() + max(KEPT, self.lock_duration)
            after = requests.write(
                self.ports.table, self._place, self._listed, list(keys)[-KEYS_MAX:], until
            )
            if after is not None:
                self._listed = after
                return due
            if self._held_keys():
                self.is_overtaken = True
                return []
        raise Conflict(f"request {self.request_id} was made many times at once")

    def _held_keys(self) -> list[int]:
        """Look for what other attempts have done; jobs that have ended are listed no more."""
        listed = requests.read(self.ports.table, self._place)
        found = jobs.read(self.ports.table, listed.job_keys, whole=False)
        open_keys = tuple(key for key, job in found.items() if job.state is JobState.ACTIVE)
        self._listed = replace(listed, job_keys=open_keys)
        now = self.ports.clock.now()
        return [
            key for key in open_keys if is_claimed(found[key], self.client_id, self.request_id, now)
        ]

    @property
    def _place(self) -> ItemKey:
        return request_key(self.client_id, self.job_type, self.request_id)


def _fitting(found: Iterable[Job]) -> Iterator[Job]:
    size = 0
    for job in sorted(found, key=lambda job: (job.created_at, job.key)):
        yield job
        size += len(json_text.dumps(job.inputs))
        if size > INPUTS_MAX:
            return


def is_claimed(job: Job, client_id: str, request_id: str | None, now: datetime) -> bool:
    """Say whether a client holds a job by that very request."""
    return (
        request_id is not None
        and job.state is JobState.ACTIVE
        and (job.owner, job.claim_id) == (client_id, request_id)
        and (job.lock_until is None or job.lock_until > now)
    )
