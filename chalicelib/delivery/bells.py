"""Bells: "look at job J at time t".

A job carries a *ring number*. Whatever lets it out at a time rings the next number for that time
before it commits that number, so an open job always has one live bell, and an outdated one is
told from it by its number. A bell is a rumour, never the job: it is judged against the record,
and nobody can work on a job whose turn lost its race. Design section 4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256

from chalicelib import json_text
from chalicelib.delivery import bodies, horizon
from chalicelib.delivery.later import Later
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.engine.effects import Ring
from chalicelib.engine.state import BPMN as BPMN  # noqa: PLC0414 (whoever rings finds it here)
from chalicelib.engine.state import Job, JobState
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile
from chalicelib.store.moments import to_ms

PREFIX = "j-"  # of the names of job queues, after the stage's own prefix
NAME_MAX = 80  # characters of a queue's name (SQS quota), the stage's prefix included
STAGE_PREFIX_MAX = 32  # characters of them that the stage's prefix may take
HASH_LENGTH = 16  # hexadecimal digits: of 1,000 types no two share a name, but once in 10^13
NAMES_MAX = 1_000  # kept in one container
SLUG_MAX = NAME_MAX - STAGE_PREFIX_MAX - len(PREFIX) - len("-") - HASH_LENGTH

_ENDED = frozenset({JobState.COMPLETED, JobState.TERMINATED})
_SPARE, _EARLY, _DUE = Spare(), Early(), LiveDue()


@dataclass(frozen=True, slots=True)
class Bell:
    """What a bell says; nothing of it is believed without a look at the record.

    Shapes: `version` is the root version that makes the job, None for a job that existed when
        the bell was first sent.
    """

    job_key: int
    kind: str
    type: str
    profile: Profile
    number: int
    at: datetime
    first_sent: datetime
    version: int | None = None


def bell_of(ring: Ring, now: datetime) -> Bell:
    """Return the bell that a turn owes, as it is first sent."""
    return Bell(
        job_key=ring.job_key,
        kind=ring.kind,
        type=ring.type,
        profile=ring.profile,
        number=ring.number,
        at=ring.at,
        first_sent=now,
        version=ring.version,
    )


def next_ring(job: Job, at: datetime) -> Ring:
    """Return what is owed before a job that exists is let out at a time."""
    return Ring(job.key, job.kind, job.type, job.profile, job.ring + 1, at)


def own_bell(job: Job, now: datetime) -> Bell:
    """Return the bell of a job's own number, as if it had been received."""
    return Bell(job.key, job.kind, job.type, job.profile, job.ring, now, now)


def to_text(bell: Bell) -> str:
    """Write a bell as a message body."""
    body: JsonObject = {
        "job": bell.job_key,
        "kind": bell.kind,
        "type": bell.type,
        "profile": bell.profile.value,
        "number": bell.number,
        "at": to_ms(bell.at),
        "sent": to_ms(bell.first_sent),
    }
    if bell.version is not None:
        body["version"] = bell.version
    return json_text.dumps(body)


def from_text(text: str) -> Bell:
    """Read a message body. Raises: Rejected(INVALID_ARGUMENT) if it is not a bell."""
    body = bodies.parse(text)
    return Bell(
        job_key=bodies.integer(body, "job"),
        kind=bodies.text(body, "kind"),
        type=bodies.text(body, "type"),
        profile=bodies.profile(body),
        number=bodies.integer(body, "number"),
        at=bodies.moment(body, "at"),
        first_sent=bodies.moment(body, "sent"),
        version=bodies.integer(body, "version") if "version" in body else None,
    )


def later(bell: Bell, at: datetime) -> Later:
    """Return the same bell, of the same number, for another time."""
    moved = replace(bell, at=at)
    return Later(f"j-{bell.job_key}-{bell.number}-{to_ms(at) // 1000}", at, to_text(moved))


def judge(bell: Bell, job: Job | None, root_version: int | None, now: datetime) -> Verdict:
    """Say what a received bell is, in the order of design section 4.

    Shapes: `root_version` matters only without a record, and must have been read *before* the
        record was found missing: else the turn that makes both may have come in between. None
        says that there is no root, or that nobody looked.
    """
    early = _SPARE if horizon.is_over(bell.first_sent, now) else _EARLY
    if job is None:
        made = bell.version is None or (root_version is not None and root_version >= bell.version)
        return _SPARE if made else early
    if (job.kind, job.type) != (bell.kind, bell.type) or job.state in _ENDED:
        return _SPARE
    if job.ring != bell.number:
        # A failed job's bell of a higher number is early too: its incident is being resolved.
        return _SPARE if job.ring > bell.number else early
    at = job.out_at(now)
    if job.state is JobState.FAILED or at is None:
        return _SPARE  # resolving the incident, or releasing the hold, rings the next number
    return _DUE if at <= now else LiveLater(at)


@lru_cache(maxsize=NAMES_MAX)
def queue_of(kind: str, type_: str, profile: Profile | None) -> str:
    """Return the name of a job queue, without the stage's prefix.

    Shapes: `profile` is None where `jobs.crossDialect` lets workers of all dialects share;
        types may have any characters, so what is readable of them is followed by a hash.
    """
    exact = json_text.dumps([kind, type_, profile.value if profile else None])
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", type_).strip("-")[:SLUG_MAX] or "type"
    return f"{PREFIX}{slug}-{sha256(exact.encode()).hexdigest()[:HASH_LENGTH]}"
