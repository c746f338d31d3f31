"""What each state accepts and where it may lead: the tables that every decision looks into.

A job is `active` from the moment its element is entered. A worker completes it, or fails it:
with retries left it stays active, without it is `failed` and an incident waits for an operator,
whose resolve makes it active again. Whatever ends its element around it makes it `terminated`.

    active ──▶ completed
      │ ▲ ▲
      │ │ └─ a failure with retries left
      │ └─── resolve
      ├────▶ failed ────▶ terminated
      └────▶ terminated

Source: contracts/zenbpm.md sections 2.2 and 2.3 A and G.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.engine.commands import CompleteJob, FailJob
from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.errors import Reason, Rejected

JobCommand = CompleteJob | FailJob

# A completed job accepts to be completed again, which changes nothing (R2, R3).
JOB_ACCEPTS: Mapping[JobState, frozenset[type[JobCommand]]] = {
    JobState.ACTIVE: frozenset({CompleteJob, FailJob}),
    JobState.COMPLETED: frozenset({CompleteJob}),
    JobState.FAILED: frozenset(),
    JobState.TERMINATED: frozenset(),
}

JOB_LEADS_TO: Mapping[JobState, frozenset[JobState]] = {
    JobState.ACTIVE: frozenset({JobState.COMPLETED, JobState.FAILED, JobState.TERMINATED}),
    JobState.FAILED: frozenset({JobState.ACTIVE, JobState.TERMINATED}),
    JobState.COMPLETED: frozenset(),
    JobState.TERMINATED: frozenset(),
}

INSTANCE_LEADS_TO: Mapping[InstanceState, frozenset[InstanceState]] = {
    InstanceState.ACTIVE: frozenset(
        {InstanceState.COMPLETED, InstanceState.TERMINATING, InstanceState.TERMINATED}
    ),
    InstanceState.TERMINATING: frozenset({InstanceState.TERMINATED}),
    InstanceState.COMPLETED: frozenset(),
    InstanceState.TERMINATED: frozenset(),
}

# The words of ZenBPM's answers; its clients match them.
ACTIVITY_STATES: Mapping[InstanceState, str] = {
    InstanceState.ACTIVE: "ActivityStateActive",
    InstanceState.TERMINATING: "ActivityStateTerminated",
    InstanceState.COMPLETED: "ActivityStateCompleted",
    InstanceState.TERMINATED: "ActivityStateTerminated",
}

VERBS: Mapping[type[JobCommand], str] = {CompleteJob: "complete", FailJob: "fail"}


def require(job: Job, command: type[JobCommand]) -> None:
    """Let the command pass if the job's state accepts it. Raises: Rejected(INVALID_STATE)."""
    if command not in JOB_ACCEPTS[job.state]:
        raise Rejected(
            Reason.INVALID_STATE,
            f"failed to {VERBS[command]} job {job.key}: job no longer waits for a worker or an "
            f"operator: job {job.key} is already {job.state}",
        )


def require_active(state: InstanceState, message: str) -> None:
    """Let a command on the instance pass. Raises: Rejected(INVALID_STATE) with the message."""
    if state is not InstanceState.ACTIVE:
        raise Rejected(Reason.INVALID_STATE, message)


def no_such(noun: str, key: int | str) -> Rejected:
    """Return the rejection of a key or name that names nothing."""
    return Rejected(Reason.NOT_FOUND, f"{noun} {key} was not found")
