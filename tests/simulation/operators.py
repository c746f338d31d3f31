"""What operators and unusual clients do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from greenlet import getcurrent

from chalicelib.delivery import bells
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine.commands import ActivateElements, ModifyInstance
from chalicelib.engine.job_results import Activation
from chalicelib.engine.state import Incident, Job, JobState
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import claims, holds, sweep, sweep_parts
from chalicelib.operations.definitions import (
    create_process_definition,
    delete_process_definition,
)
from chalicelib.operations.dmn_definitions import create_dmn_resource_definition
from chalicelib.operations.handing_out import Claimant
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.instances import (
    activate_ad_hoc_sub_process_activities,
    modify_process_instance,
)
from chalicelib.operations.jobs import assign_job
from chalicelib.operations.retries import update_job_retries
from chalicelib.ports import Message
from chalicelib.profile import Profile
from chalicelib.store import instances, jobs, sweeping, table
from chalicelib.store.marks import Once
from chalicelib.store.moments import to_ms
from chalicelib.store.sweeping import Of
from tests.simulation.changes import number
from tests.simulation.clients import cancel, complete
from tests.simulation.replacing import replaced
from tests.simulation.stage import Stage

LOOK_MS = 700  # between two looks for something to do
HOUR_MS = 3_600_000
DIAGRAMS = Path(__file__).resolve().parents[1] / "diagrams"

T = TypeVar("T")


def _waiting(stage: Stage) -> list[Job]:
    """Look for the jobs that wait for a worker or an operator."""
    states = (JobState.ACTIVE, JobState.FAILED)
    return [job for job in _records(stage, Job) if job.state in states]


def open_jobs(stage: Stage) -> list[Job]:
    """Look, from outside of the play, for the jobs that wait."""
    return [job for job in _records(stage, Job) if job.state is JobState.ACTIVE]


def resolve_incidents(stage: Stage, mended: Mended = Mended()) -> None:  # noqa: B008 (frozen)
    """Resolve every incident there is, until the play is over."""
    while not stage.is_over:
        stage.world.pause(LOOK_MS)
        for incident in _records(stage, Incident):
            if incident.resolved_at is None:
                _try(stage, "resolve", partial(resolve_incident, stage.ports, incident.key, mended))


def cancel_what_is_stuck(stage: Stage) -> None:
    """Cancel the first instance that is seen with an open incident."""
    while not stage.is_over:
        stage.world.pause(LOOK_MS)
        for incident in _records(stage, Incident):
            if incident.resolved_at is None:
                cancel(stage, incident.instance_key)
                return


def move(stage: Stage, element_id: str) -> None:
    """Take the tokens away that wait at an element, and start it anew; each instance once."""
    for key in sorted(stage.watch.open_roots):
        instance = instances.load(stage.inner, key, None)
        live = instance.root.live.values() if instance else ()
        victims = tuple(each.key for each in live if each.element_id == element_id)
        command = ModifyInstance((element_id,), victims)
        once = Once("POST /v1/modify/process-instance", f"move {key}", "{}")

        def operation(key: int = key, command: ModifyInstance = command, once: Once = once) -> bool:
            modify_process_instance(stage.ports, key, command, once)
            return True

        try:
            if stage.repeat("move", operation):
                stage.ledger.moved.append(key)
        except Rejected as rejected:
            stage.ledger.refused.append(f"move: {rejected.message}")


def withdraw(stage: Stage, element_id: str) -> None:
    """End one of two iterations of an element that a part of a body has at work; if it is the last
    of the body by then, the body ends with it, and the instance with that."""
    for key in sorted(stage.watch.open_roots):
        instance = instances.load(stage.inner, key, None)
        if instance is None or instance.root.parent is None:
            continue
        live = instance.root.live.values()
        victims = tuple(each.key for each in live if each.element_id == element_id and each.loop)
        if len(victims) > 1:
            once = Once("POST /v1/modify/process-instance", f"withdraw {key}", "{}")
            command = ModifyInstance((), victims[:1])
            operation = partial(modify_process_instance, stage.ports, key, command, once)
            stage.ledger.asked_to_cancel.add(instance.root.parent.instance_key)
            _try(stage, "withdraw", operation)
            return


def activate(stage: Stage, box: str, element_id: str) -> None:
    """Activate one element more in each live ad-hoc subprocess of an id; each once."""
    for key in sorted(stage.watch.open_roots):
        instance = instances.load(stage.inner, key, None)
        live = instance.root.live.values() if instance else ()
        for element in live:
            if element.element_id == box:
                _activate(stage, key, ActivateElements(element.key, (Activation(element_id),)))


def _activate(stage: Stage, instance_key: int, command: ActivateElements) -> None:
    once = Once("POST /v1/modify/ad-hoc-activities", f"activate {command.key}", "{}")

    def operation() -> bool:
        activate_ad_hoc_sub_process_activities(stage.ports, command, once)
        return True

    try:
        if stage.repeat("activate elements", operation):
            stage.ledger.moved.append(instance_key)
    except Rejected as rejected:
        stage.ledger.refused.append(f"activate elements: {rejected.message}")


def set_retries(stage: Stage, retries: int) -> None:
    """Give each job that waits so many retries, at once; a failed one keeps them until resolved."""
    for job in _waiting(stage):
        _try(stage, "set retries", partial(update_job_retries, stage.ports, job.key, retries))


def assign(stage: Stage, assignee: str) -> None:
    """Give each open job to somebody."""
    for job in open_jobs(stage):
        _try(stage, "assign", partial(assign_job, stage.ports, job.key, assignee))


def extend_first(stage: Stage, after_ms: int = 0, ends: Sequence[int] = (40, 3, 1, 2)) -> None:
    """Move the end of the lock of the first delivery to so many seconds from now, one by one,
    whosever the job is then; by turns the delivery is named and is not."""
    while not stage.ledger.locks and not stage.watch.is_quiet():
        stage.world.pause(LOOK_MS // 10)
    if not stage.ledger.locks:
        return
    job = stage.ledger.locks[0]
    stage.world.pause(after_ms)
    for turn, seconds in enumerate(ends):
        token = None if turn % 2 else job.delivery_token
        _try(stage, "extend", partial(_extend, stage, job, timedelta(seconds=seconds), token))
        stage.world.pause(LOOK_MS + stage.world.plan.jitter_ms())


def _extend(stage: Stage, job: Job, by: timedelta, token: int | None) -> None:
    """Extend without the look that the operation takes first, so that each condition counts.

    What the write found is held against what was asked.
    """
    ports, client_id = stage.ports, job.owner or ""
    now = ports.clock.now()
    current = jobs.read(ports.table, [job.key])[job.key]
    if current.lock_until is not None and jobs.shortens(current, now + by):
        promise_in_time(ports, [bells.next_ring(current, now + by)])
    extended = jobs.extend(ports.table, current, client_id, now + by, now=now, token=token)
    found = stage.watch.found_by.get(getcurrent())
    if isinstance(extended, Job) and found is not None:
        is_ours = found["owner"] == client_id and token in (None, found["delivery_token"])
        if not is_ours or number(found, "lock_until") <= to_ms(now):
            stage.world.complain(f"{client_id} extended a lock that was not its own: {found}")


def hold_and_complete(stage: Stage, client_id: str) -> None:
    """Take each open job without an end, work a little, and complete it."""
    for job in open_jobs(stage):
        claimant = Claimant(client_id, None)  # the number rises and nothing is rung
        hold = partial(claims.claim_by_key, stage.ports, job.key, claimant)
        taken = _try(stage, "hold", hold)
        if taken is not None:
            stage.ledger.deliver(client_id, taken)
            stage.world.pause(200)
            complete(stage, taken, {"done": taken.element_id})


def release_holds(stage: Stage) -> None:
    """Free all jobs that are held without an end."""

    def operation() -> None:
        holds.release_holds(stage.ports)

    _try(stage, "release holds", operation)


def ring_all(stage: Stage) -> None:
    """Ring for every open job at once, as `headrace ring --all` does."""

    def operation() -> None:
        sweep.ring_all(stage.ports)

    _try(stage, "ring all", operation)


def double_messages(stage: Stage, type_: str) -> None:
    """Let the first message of a job's queue come twice, as standard queues may."""
    queue = stage.job_queue(type_)
    stage.queues.await_message(queue)
    body = stage.queues.inner.visible(queue)[0]
    stage.queues.send(queue, [Message(body)])


def deploy(stage: Stage, diagram: str, name: str) -> None:
    """Deploy a diagram under another name of its process."""
    drawn = (DIAGRAMS / diagram).read_text()
    xml = re.sub(r'(<bpmn:process [^>]*)name="[^"]*"', rf'\g<1>name="{name}"', drawn).encode()

    def operation() -> int:
        deployed = create_process_definition(stage.ports, xml, Profile.ZENBPM)
        return deployed.definitions[0].key

    key = stage.repeat("deploy", operation)
    if key is not None:
        stage.ledger.deployed.append(key)


def delete_definition(stage: Stage, key: int) -> None:
    """Delete a version of a process; one that is gone already was deleted by an earlier try."""

    def operation() -> bool:
        delete_process_definition(stage.ports, key)
        return True

    try:
        done = stage.repeat("delete", operation)
    except Rejected as rejected:
        done = rejected.reason is Reason.NOT_FOUND
    if done:
        stage.ledger.deleted.append(key)


def deploy_dmn(stage: Stage, file: str, name: str) -> None:
    """Deploy a DMN file under another name."""
    xml = (DIAGRAMS / file).read_text().replace('name="Discounts"', f'name="{name}"').encode()

    def operation() -> int:
        return create_dmn_resource_definition(stage.ports, xml, Profile.ZENBPM)[0].key

    key = stage.repeat("deploy DMN", operation)
    if key is not None:
        stage.ledger.deployed.append(key)


def lose_messages(stage: Stage) -> None:
    """Lose all that queues hold, as no queue ever should."""
    stage.watch.forgive()
    for queue in [*stage.queues.names(), "timers", "commands"]:
        stage.queues.inner.lose(queue)


def sweep_regularly(stage: Stage, sixth: int = 0) -> None:
    """Begin a sweep every six hours; the hours between would show nothing new.

    The fourth of them is the daily one of everything; `sixth` of them were before the play.
    """
    while not stage.is_over:
        stage.world.pause(6 * HOUR_MS)
        sixth += 1
        whole = sixth % 4 == 0
        _try(stage, "sweep", partial(sweep_parts.begin, stage.ports, whole=whole))


@contextmanager
def few_segments() -> Iterator[None]:
    """Sweep in two segments, of two shards: of the many there are all but one would be empty."""
    of = dict.fromkeys(sweeping.PARTS, 2) | {Of.SCHEDULED: 1, Of.STARTS: 1}
    with replaced(table, SHARDS=2), replaced(sweep_parts, PARTS=of):
        yield


def _records(stage: Stage, kind: type[T]) -> list[T]:
    found = [instances.load(stage.inner, key, None) for key in sorted(stage.watch.open_roots)]
    records = [record for each in found if each for record in each.records.values()]
    return [record for record in records if isinstance(record, kind)]


def _try(stage: Stage, name: str, operation: Callable[[], T]) -> T | None:
    """Ask until there is an answer; a refusal is one."""
    try:
        return stage.repeat(name, operation)
    except Rejected as rejected:
        stage.ledger.refused.append(f"{name}: {rejected.message}")
        return None
