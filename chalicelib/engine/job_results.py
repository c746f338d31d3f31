"""What a worker may say with a job that it completes, beside variables: its result.

Each kind of result belongs to one kind of job; with any other job it is refused.

Source: Camunda 8 documentation, "Complete job" (`result`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.engine.state import Job
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject


@dataclass(frozen=True, slots=True)
class Activation:
    """An element of an ad-hoc subprocess that is to be activated, and variables for it alone."""

    element_id: str
    variables: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdHocResult:
    """How an ad-hoc subprocess that a worker steers goes on.

    Shapes: when it `is_fulfilled` nothing more is activated, and it completes when nothing is
        active inside; `cancels_remaining` ends first what is active now.
    """

    activate: tuple[Activation, ...] = ()
    is_fulfilled: bool = False
    cancels_remaining: bool = False


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a listener of a user task answers: it lets the task take its step, or denies it.

    Shapes: `corrections` as `task_attributes.py` has them.
    """

    denied: bool = False
    reason: str = ""
    corrections: JsonObject = field(default_factory=dict)


JobResult = AdHocResult | TaskResult

# The words of the member `type`.
WORDS: dict[type[JobResult], str] = {AdHocResult: "adHocSubProcess", TaskResult: "userTask"}


def misplaced(job: Job, result: JobResult) -> Rejected:
    """Return the refusal of a result with a job that does not ask for it."""
    whose = "a listener" if job.listener is not None else f"{job.element_type} {job.element_id}"
    return Rejected(
        Reason.INVALID_ARGUMENT,
        f"result of job {job.key}, which is of {whose}: expected none of type "
        f"{WORDS[type(result)]}, found one",
    )
