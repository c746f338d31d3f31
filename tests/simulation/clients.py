"""Clients: they start, complete, fail and cancel, and repeat what is safe to repeat.

What was acknowledged goes into the ledger, and we are held to it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from chalicelib.engine.commands import FailJob
from chalicelib.engine.job_results import JobResult
from chalicelib.engine.limits import SMALL_VARIABLES_BYTES
from chalicelib.engine.state import Job
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import failures, instances, jobs, messages
from chalicelib.operations.conditionals import evaluate_conditionals
from chalicelib.operations.instances import Start
from chalicelib.operations.messages import Message
from chalicelib.profile import Profile
from chalicelib.store.marks import Once
from tests.simulation.stage import Stage
from tests.simulation.world import NoAnswer


def start(stage: Stage, variables: JsonObject) -> int | None:
    """Start an instance; a start is not safe to repeat, so without an answer there is no key."""
    wanted = _wanted(stage, variables)
    try:
        found = stage.world.request(
            "start", lambda: instances.create_process_instance(stage.ports, wanted)
        )
    except NoAnswer:
        return None
    stage.ledger.starts.append(found.key)
    return found.key


LARGE: JsonObject = {"padding": "x" * SMALL_VARIABLES_BYTES}  # too much for the root's own item


def one_start(
    stage: Stage,
    then: Callable[[int], None] | None = None,
    variables: JsonObject | None = None,
) -> None:
    """Let a client start an instance, and when that is acknowledged go on with it."""

    def act() -> None:
        key = start(stage, variables or {})
        if key is not None and then is not None:
            then(key)

    stage.client("client", act)


def start_once(stage: Stage, idempotency_key: str) -> None:
    """Start an instance by a key that makes it safe to repeat."""
    wanted = _wanted(stage, {})
    once = Once("POST /v1/process-instances", idempotency_key, fingerprint="{}")
    stage.ledger.starts_once.add(idempotency_key)
    found = stage.repeat(
        "start once", lambda: instances.create_process_instance(stage.ports, wanted, once)
    )
    if found is not None:
        stage.ledger.starts.append(found.key)


def _wanted(stage: Stage, variables: JsonObject) -> Start:
    return Start(definition_key=stage.definition_key, profile=Profile.ZENBPM, variables=variables)


def complete(
    stage: Stage, job: Job, variables: JsonObject, result: JobResult | None = None
) -> None:
    """Complete a job, and note whether that was acknowledged."""
    stage.ledger.offer(job.key, variables)
    name = f"complete {job.element_id}"

    def operation() -> bool:
        jobs.complete_job(stage.ports, job.key, variables, result)
        return True

    try:
        if stage.repeat(name, operation):
            stage.ledger.completed[job.key] = job.element_id
    except Rejected as rejected:
        _note_refusal(stage, name, rejected, {Reason.INVALID_STATE})


def fail(
    stage: Stage,
    job: Job,
    backoff: timedelta | None,
    is_named: bool = False,
    is_doubled: bool = False,
) -> None:
    """Fail a delivery, by its token or by a name of the request; note if it was acknowledged.

    A doubled report is sent twice at the same moment.
    """
    token = None if is_named else job.delivery_token
    once = None
    if is_named:
        once = Once(f"POST /v1/jobs/{job.key}/fail", f"failure {job.delivery_token}", "{}")
    command = FailJob(
        job.key, message="no stock", backoff=backoff, token=token, client_id=job.owner
    )
    stage.ledger.reported.add((job.key, job.delivery_token))

    def operation() -> bool:
        failures.fail_job(stage.ports, command, once)
        return True

    name = f"fail {job.element_id}"
    if is_doubled:
        echo = partial(stage.world.serve_unheard, name, operation)
        stage.world.spawn_echo(name, echo, 1)
    try:
        if stage.repeat(name, operation):
            stage.ledger.failed.append((job.key, token))
    except Rejected as rejected:
        _note_refusal(stage, name, rejected, {Reason.INVALID_STATE})


def fail_with(stage: Stage, job: Job, retries: int) -> None:
    """Say how many retries a job has left, as a worker of Priostack does: it names no delivery.

    What is not safe to repeat is not repeated; the wire may do so.
    """
    command = FailJob(
        job.key, message="no stock", retries=retries, backoff=timedelta(0), frees=True
    )
    stage.ledger.reported.add((job.key, job.delivery_token))
    stage.ledger.unnamed.append(job.key)
    try:
        stage.world.request("fail with retries", lambda: failures.fail_job(stage.ports, command))
    except NoAnswer:
        return
    except Rejected as rejected:
        _note_refusal(stage, "fail with retries", rejected, {Reason.INVALID_STATE})


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


def cancelling(stage: Stage, about_ms: int) -> Callable[[int], None]:
    """Return what cancels an instance at about some time, sometimes earlier, sometimes later."""

    def cancel_then(instance_key: int) -> None:
        stage.world.pause(max(0, about_ms + stage.world.plan.jitter_ms()))
        cancel(stage, instance_key)

    return cancel_then


def let_wait(
    stage: Stage, name: str, key: str, idempotency_key: str, lives: timedelta = timedelta(hours=1)
) -> None:
    """Publish a message that waits for who comes later, by a key, and note the answer."""
    once = Once("POST /api/v1/messages/publish", idempotency_key, fingerprint="{}")
    message = Message(name, key, profile=Profile.PRIOSTACK)
    stage.ledger.asked_to_publish.add(idempotency_key)

    def operation() -> bool:
        messages.let_message_wait(stage.ports, message, lives, once=once)
        return True

    if stage.repeat(f"publish {name}", operation):
        stage.ledger.published.add(idempotency_key)


def evaluate(stage: Stage, variables: JsonObject, idempotency_key: str) -> None:
    """Have conditional start events evaluated, by a key, and note what was answered."""
    once = Once("POST /v1/conditionals/evaluation", idempotency_key, fingerprint="{}")
    asked = partial(evaluate_conditionals, stage.ports, variables, None, once)
    started = stage.repeat("evaluate", asked)
    stage.ledger.starts += [each.instance_key for each in started or ()]


def publish(stage: Stage, name: str, key: str, idempotency_key: str) -> bool | None:
    """Publish a message by a key that makes it safe to repeat; say whether it met somebody."""
    once = Once("POST /v1/messages", idempotency_key, fingerprint="{}")
    message = Message(name, key)
    stage.ledger.asked_to_publish.add(idempotency_key)

    def operation() -> bool:
        messages.publish_message(stage.ports, message, once)
        return True

    try:
        if stage.repeat(f"publish {name}", operation):
            stage.ledger.published.add(idempotency_key)
            return True
    except Rejected as rejected:
        _note_refusal(stage, "publish", rejected, {Reason.NOT_FOUND})
        stage.ledger.unmet.add(idempotency_key)
        return False
    return None


def _note_refusal(stage: Stage, name: str, rejected: Rejected, expected: set[Reason]) -> None:
    """A refusal that no race explains breaks an invariant."""
    stage.ledger.refused.append(f"{name}: {rejected.message}")
    if rejected.reason not in expected:
        stage.world.violations.append(f"{name} was refused: {rejected.reason} {rejected.message}")
