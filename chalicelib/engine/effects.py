"""What a turn owes to the outside: promised by a message before the commit (design section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.engine.commands import Owed
from chalicelib.engine.state import Profile


@dataclass(frozen=True, slots=True)
class Ring:
    """Somebody is to look at the job at a time: the bell of that number.

    Shapes: `version` is the root version that makes the job, None for a job that exists.
    """

    job_key: int
    kind: str
    type: str
    profile: Profile
    number: int
    at: datetime
    version: int | None = None


@dataclass(frozen=True, slots=True)
class SetTimer:
    """The timer is to fire at its due second."""

    instance_key: int
    timer_key: int
    due: datetime
    version: int


@dataclass(frozen=True, slots=True)
class Send:
    """A command is to be done on account of a turn: by its own instance, or for it.

    Shapes: `version` is the source's root version after the turn; with the turn's id it says
        whether the command is real (design section 4).
    """

    instance_key: int
    command: Owed
    version: int


@dataclass(frozen=True, slots=True)
class SetStart:
    """A timer start event of a version of a process is to fire at its due second.

    A deployment owes it, and then each firing the one after it. Shapes: `generation` is that of the
        *latest* pointer which names the version.
    """

    profile: Profile
    bpmn_process_id: str
    definition_key: int
    generation: int
    element_id: str
    due: datetime


Effect = Ring | SetTimer | Send | SetStart
