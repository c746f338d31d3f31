"""The spelling of the scheduler API: every request, answer and question of `/scheduler/v1`.

Source: contracts/scheduled-jobs.md, "Not known, with the design we should take".
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from chalicelib.api.scheduler.members import MEMBERS
from chalicelib.api.schema import (
    INT32_MAX,
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Moment,
    Object,
    Text,
    Type,
    Whole,
)
from chalicelib.scheduler.definition import POOL_MAX
from chalicelib.scheduler.rows import Outcome

LIMIT = 50
LIMIT_MAX = 500
NEEDED = ("name", "type")  # without these nothing is made

PAGE_QUERY: Mapping[str, Type] = {"limit": Whole(1, LIMIT_MAX), "offset": Whole(0, INT32_MAX)}
JOBS_QUERY: Mapping[str, Type] = {"enabled": Flag(), "type": Text(), **PAGE_QUERY}
COUNT_QUERY: Mapping[str, Type] = {"since": Moment(), "failures_only": Flag()}
UNLOCK_QUERY: Mapping[str, Type] = {"pool_idx": Whole(0, POOL_MAX - 1)}


def page_of(item: Object) -> Object:
    """Declare one page of a list: of what is on it, and how many there are in all."""
    return Object(
        f"{item.name}Page",
        {
            "items": Field(ListOf(item), lambda page: page[0], required=True),
            "total": Field(Whole(), lambda page: page[1], required=True),
        },
    )


# --- jobs --------------------------------------------------------------------------------------

# What is ours to say; of a view of a job (views.py).
SHOWN: Mapping[str, Field] = {
    "id": Field(Text(), attrgetter("job.id"), required=True),
    "created_at": Field(Moment(), attrgetter("job.created_at"), required=True),
    "revision": Field(Whole(), attrgetter("job.revision"), required=True),
    "done": Field(Flag(), attrgetter("job.is_done"), required=True),
    "running_since_by_pool": Field(MapOf(Moment()), attrgetter("running_since_by_pool")),
    "warnings": Field(ListOf(Text()), attrgetter("warnings"), required=True),
}


def _shown(name: str) -> Field:
    member = MEMBERS[name]
    is_always_there = not member.nullable and not member.place.startswith(("http.", "script."))
    return Field(member.type, lambda view: view.member(name), required=is_always_there)


JOB = Object("Job", {**SHOWN, **{name: _shown(name) for name in MEMBERS}})
JOB_PAGE = page_of(JOB)

_GIVEN = {
    name: Field(member.type, nullable=member.nullable, required=name in NEEDED)
    for name, member in MEMBERS.items()
}
CREATE_JOB = Object("CreateJob", _GIVEN, closed=True)
# What a GET shows may be sent back as it is; what is ours to say is ignored in it.
REPLACE_JOB = Object(
    "ReplaceJob",
    {**_GIVEN, **{name: Field(shown.type) for name, shown in SHOWN.items()}},
    closed=True,
)
PATCH_JOB = Object(
    "PatchJob",
    {name: Field(given.type, nullable=given.nullable) for name, given in _GIVEN.items()},
    closed=True,
)

# --- firings -----------------------------------------------------------------------------------

FIRED = Object(
    "Fired",
    {
        "fired": Field(ListOf(Whole()), attrgetter("fired"), required=True),
        "skipped": Field(ListOf(Whole()), attrgetter("skipped"), required=True),
    },
)
FIRINGS = Object(
    "Firings", {"items": Field(ListOf(Moment()), lambda moments: moments, required=True)}
)

# --- invocations -------------------------------------------------------------------------------

INVOCATION = Object(
    "Invocation",
    {
        "job_id": Field(Text(), attrgetter("job_id"), required=True),
        "run_id": Field(Text(), attrgetter("run_id"), required=True),
        "pool_idx": Field(Whole(), attrgetter("pool_idx"), required=True),
        "iteration": Field(Whole(), attrgetter("iteration"), required=True),
        "attempt": Field(Whole(), attrgetter("attempt"), required=True),
        "started_at": Field(Moment(), attrgetter("started_at"), required=True),
        "finished_at": Field(Moment(), attrgetter("finished_at"), required=True),
        "outcome": Field(Choice(tuple(Outcome)), attrgetter("outcome"), required=True),
        "status_code": Field(Whole(), attrgetter("status_code")),
        "exit_code": Field(Whole(), attrgetter("exit_code")),
        "error": Field(Text(), lambda invocation: invocation.error or None),
        "output": Field(Text(), lambda invocation: invocation.output or None),
    },
)
INVOCATION_PAGE = page_of(INVOCATION)
COUNT = Object("InvocationCount", {"count": Field(Whole(), lambda count: count, required=True)})
