"""A scheduled job as it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from chalicelib.api.scheduler.members import MEMBERS
from chalicelib.scheduler.definition import (
    HTTP,
    SCRIPT,
    HttpCall,
    ScheduledJob,
    ScriptCall,
    warnings,
)

# The part that a job of one type has no use for, and what it is like when nobody set it.
_UNUSED: Mapping[str, tuple[str, HttpCall | ScriptCall]] = {
    HTTP: ("script", ScriptCall()),
    SCRIPT: ("http", HttpCall()),
}


@dataclass(frozen=True, slots=True)
class JobView:
    """A definition, and since when each pool index is held (None on lists: it is not asked)."""

    job: ScheduledJob
    running: Mapping[int, datetime] | None = None

    def member(self, name: str) -> Any:
        """Return the value of a member, None if it is not shown."""
        member = MEMBERS[name]
        part, unset = _UNUSED.get(self.job.type, ("", None))
        if member.place.startswith(f"{part}.") and getattr(self.job, part) == unset:
            return None
        value = attrgetter(member.place)(self.job)
        return None if value is None else member.theirs(value)

    @property
    def running_since_by_pool(self) -> Mapping[str, datetime] | None:
        """Since when each pool index is held, by the index as the name of a member."""
        if self.running is None:
            return None
        return {str(pool_idx): since for pool_idx, since in sorted(self.running.items())}

    @property
    def warnings(self) -> Sequence[str]:
        """What will go wrong when it runs."""
        return warnings(self.job)
