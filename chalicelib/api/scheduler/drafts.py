"""Definitions out of what callers send: made, put in place of another, changed in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from chalicelib.api.scheduler import masks
from chalicelib.api.scheduler.members import MEMBERS
from chalicelib.errors import Reason, Rejected
from chalicelib.operations.scheduled_jobs import Change
from chalicelib.ports import Settings
from chalicelib.scheduler.definition import SCRIPT, Auth, ScheduledJob

# A definition of defaults; who a job is and when it was made is said where it is stored.
BLANK = ScheduledJob(id="", name="", type="", created_at=datetime.min.replace(tzinfo=UTC))


def made(members: Mapping[str, Any], settings: Settings) -> ScheduledJob:
    """Return a new definition. Raises: Rejected(INVALID_ARGUMENT) naming the field."""
    return _judged(None, _changed(BLANK, members, Auth()), settings)


def replaced(members: Mapping[str, Any], settings: Settings) -> Change:
    """Return the change to what is sent, and to defaults where nothing is.

    What is ours to say is not taken, and a mask keeps the secret. The change raises: as `made`.
    """
    given = {name: value for name, value in members.items() if name in MEMBERS}
    return lambda before: _judged(before, _changed(BLANK, given, before.http.auth), settings)


def patched(members: Mapping[str, Any], settings: Settings) -> Change:
    """Return the change of the members that are sent. The change raises: as `made`."""
    return lambda before: _judged(before, _changed(before, members, before.http.auth), settings)


def _changed(job: ScheduledJob, members: Mapping[str, Any], stored: Auth) -> ScheduledJob:
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in members.items():
        member = MEMBERS[name]
        part, _, attribute = member.place.rpartition(".")
        place = parts.setdefault(part, {}) if part else own
        place[attribute] = None if value is None else member.ours(value)
    changed = {part: replace(getattr(job, part), **values) for part, values in parts.items()}
    after = replace(job, **own, **changed)
    auth = masks.unmasked(after.http.auth, stored)
    return replace(after, http=replace(after.http, auth=auth))


def _judged(before: ScheduledJob | None, job: ScheduledJob, settings: Settings) -> ScheduledJob:
    """Let no script be made or changed while they are off; what is there may be paused, say."""
    is_new = before is None or (before.type, before.script) != (job.type, job.script)
    if job.type == SCRIPT and is_new and not settings.scripts:
        message = (
            "expected scheduler.scripts (SCHEDULER_SCRIPTS=true) to be on for a job of type "
            f'"{SCRIPT}", found it off'
        )
        raise Rejected(Reason.INVALID_ARGUMENT, message, {"field": "type"})
    return job
