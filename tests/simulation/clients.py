"""Clients: they start, complete, fail and cancel, and repeat what is safe to repeat.

What was acknowledged goes into the ledger, and we are held to it.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.engine.commands import FailJob
from chalicelib.engine.state import Job
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import failures, instances, jobs
from chalicelib.operations.instances import Start
from chalicelib.profile import Profile
from tests.simulation.stage import Stage
from tests.simulation.world import NoAnswer


def start(stage: Stage, variables: JsonObject | None = None) -> int | None:
    """Start an instance; a start is not safe to repeat, so without an answer there is no key."""
    wanted = Start(
        definition_key=stage.definition_key,
        profile=Profile.ZENBPM,
        variables=variables or {},
    )
    try:
        found = stage.world.request(
            "start", lambda: instances.create_process_instance(stage.ports, wanted)
        )
    except NoAnswer:
        return None
    stage.ledger.starts.append(found.key)
    return found.key


def complete(stage: Stage, job: Job, variables: JsonObject) -> None:
    """Complete a job, and note whether that was acknowledged."""
    stage.ledger.offer(job.key, variables)
    name = f"complete {job.element_id}"

    def operation() -> bool:
        jobs.complete_job(stage.ports, job.key, variables)
        return True

    try:
        if stage.repeat(name, operation):
            stage.ledger.completed[job.key] = job.element_id
    except Rejected as rejected:
        _note_refusal(stage, name, rejected, {Reason.INVALID_STATE})


def fail(stage: Stage, job: Job, backoff: timedelta | None = None) -> None:
    """Fail a delivery by its token, and note whether that was acknowledged."""
    command = FailJob(
        job.key,
        message="no stock",
        backoff=backoff,
        token=job.delivery_token,
        client_id=job.owner,
    )
    stage.ledger.reported.add((job.key, job.delivery_token))

    def operation() -> bool:
        failures.fail_job(stage.ports, command)
        return True

    name = f"fail {job.element_id}"
    try:
        if stage.repeat(name, operation):
            stage.ledger.failed.append((job.key, job.delivery_token))
    except Rejected as rejected:
        _note_refusal(stage, name, rejected, {Reason.INVALID_STATE})


def set_variables(stage: Stage, instance_key: int, variables: JsonObject) -> None:
    """Merge variables into an instance's own, and note whether that was acknowledged."""

    def operation() -> bool:
        instances.update_process_instance_variables(stage.ports, instance_key, variables)
        return True

    try:
        if stage.repeat("set variables", operation):
            stage.ledger.variables.setdefault(instance_key, {}).update(variables)
    except Rejected as rejected:
        _note_refusal(stage, "set variables", rejected, {Reason.INVALID_STATE})


def cancel(stage: Stage, instance_key: int) -> None:
    """Cancel an instance, and note whether that was acknowledged."""
    stage.ledger.asked_to_cancel.add(instance_key)

    def operation() -> bool:
        instances.cancel_process_instance(stage.ports, instance_key)
        return True

    try:
        if stage.repeat("cancel", operation):
            stage.ledger.cancelled.append(instance_key)
    except Rejected as rejected:
        _note_refusal(stage, "cancel", rejected, {Reason.INVALID_STATE})


def _note_refusal(stage: Stage, name: str, rejected: Rejected, expected: set[Reason]) -> None:
    """A refusal that no race explains breaks an invariant."""
    stage.ledger.refused.append(f"{name}: {rejected.message}")
    if rejected.reason not in expected:
        stage.world.violations.append(f"{name} was refused: {rejected.reason} {rejected.message}")
