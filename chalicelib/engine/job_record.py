"""The record of a job: work for a worker, or a user task that people claim.

All times are aware `datetime`s in UTC; all keys are integers below 2^53. Design section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile


class JobState(StrEnum):
    """Where a job is in its life; whether a worker has it is said by `owner`, not by the state."""

    ACTIVE = "active"  # waits for a worker, or is with one
    COMPLETED = "completed"
    FAILED = "failed"  # no retries left, or an error nobody catches; its incident waits
    TERMINATED = "terminated"  # interrupted or cancelled


BPMN = "bpmn"  # the kind of jobs that workers do
USER_TASK = "user-task"  # the kind of those that people claim: no bell, no worker, no failure


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A job's backoff as frozen at its creation: the n-th failure waits the n-th entry (R111)."""

    backoffs: tuple[timedelta, ...]


class Job(NamedTuple):
    """One piece of work for a worker.

    Shapes: `inputs` is what the worker gets, captured at creation; `outputs` what it sent;
        `owner` with `lock_until` is a lock, without it a hold; `ring` is the number of the bell
        that is live, `ring_at` the time it is for (design section 4).
    """

    key: int
    instance_key: int
    element_id: str
    element_key: int
    scope: int
    kind: str  # BPMN or USER_TASK; jobs of other kinds never reach the same workers (X11)
    type: str
    created_at: datetime
    state: JobState = JobState.ACTIVE
    element_type: str = "SERVICE_TASK"
    retries: int = 1
    attempts: int = 0
    retry_policy: RetryPolicy | None = None
    retry_at: datetime | None = None
    retries_set_by_operator: bool = False
    assignee: str | None = None
    candidate_groups: str | None = None  # of a user task, joined by commas; users likewise
    candidate_users: str | None = None
    due_at: datetime | None = None  # of a user task: when people should have done it
    follow_up_at: datetime | None = None  # and when they should look at it
    priority: int | None = None  # of a user task 0 to 100, of others any number; 0 if None
    form: JsonObject | None = None  # of a user task, by the names of `formDefinition`
    transition: str | None = None  # of a user task: the step that its listeners are asked about
    denied: JsonObject | None = None  # the step of a user task that one denied, and why
    owner: str | None = None
    lock_until: datetime | None = None
    lock_duration: timedelta | None = None
    delivery_token: int = 0  # 0: never handed out
    last_recorded_token: int = 0  # of the newest failure recorded with a token
    last_failure_message: str | None = None  # cut at 200 characters
    failures: int = 0  # failure records written so far
    ring: int = 0
    ring_at: datetime | None = None
    listener: str | None = None  # "start 0": the job of a listener, in place of the element's own
    carried: JsonObject | None = None  # what the next step of a listener or user task needs
    local: JsonObject | None = None  # what is its element's own, beside what input mappings made
    claim_id: str | None = None  # the request that claimed it, for safe repeats
    profile: Profile = Profile.ZENBPM
    inputs: JsonObject = {}  # noqa: RUF012 (what a record has is never changed)
    headers: Mapping[str, str] = {}
    outputs: JsonObject | None = None

    def out_at(self, now: datetime) -> datetime | None:
        """Return when it may be handed out if it is open; None while it is held without an end."""
        if self.owner is not None and self.lock_until is None:
            return None
        return max(now, self.retry_at or now, self.lock_until or now)
