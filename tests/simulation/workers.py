"""Workers over HTTP and in Lambda, and AWS's own mappings of queues to functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial

from chalicelib.delivery import bells, horizon
from chalicelib.engine.job_results import JobResult, TaskResult
from chalicelib.engine.state import Job
from chalicelib.errors import Conflict, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import claims
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Message, Received
from tests.simulation import operators
from tests.simulation.clients import complete, fail, fail_with
from tests.simulation.faults import Call, Point, Strike
from tests.simulation.stage import REPEAT_AFTER_MS, Stage
from tests.simulation.world import FUNCTION_TIMEOUT_MS, Fault, NoAnswer

LOCK = timedelta(seconds=10)
MARGIN = timedelta(seconds=2)  # before a lock's end, within which clocks may differ
LONG_POLL = timedelta(seconds=20)
JOB_VISIBILITY_S = 900  # of a Lambda worker's mapping (design section 5)
LATE_BATCH_MS = 5_000
LOOK_AGAIN_S = 1  # the visibility a worker's handler gives to an early bell (design section 5)
FREE_REASONS = frozenset({"held", "waiting", "ended"})  # of a 409 after which a bell may go


@dataclass(frozen=True, slots=True)
class Habits:
    """How a worker works: how long, and which of its deliveries it fails.

    Shapes: `fails` says of a job whether it is failed, with the backoff; else it is completed, with
        what the worker `orders`; who answers for the listener of a user task says nothing else.
    """

    lock: timedelta | None = LOCK  # None: a hold, as a worker of Priostack has it
    work_ms: int = 200
    first_ms: int | None = None  # of a job's first delivery, if that is otherwise
    jobs_max: int = 1
    fails: Callable[[Job], bool] = field(default=lambda _: False)
    orders: Callable[[Job], JobResult | None] = field(default=lambda _: None)
    leaves: int | None = None  # the retries that its failures say are left, as of Priostack
    backoff: timedelta | None = None
    names_failures: bool = False  # by an Idempotency-Key, in place of the delivery token
    doubles_failures: bool = False  # by sending each twice at once
    max_active: int | None = None  # how many jobs of the type it may hold


PLAIN = Habits()


def hire(stage: Stage, name: str, type_: str, habits: Habits = PLAIN, delay_ms: int = 0) -> None:
    """Let an HTTP worker wait for jobs of a type."""
    stage.world.spawn(name, lambda: http_worker(stage, name, type_, habits), delay_ms)


def subscribe(stage: Stage, name: str, type_: str, habits: Habits = PLAIN) -> None:
    """Let a Lambda worker be invoked for jobs of a type, more than once at a time."""
    mapping = Mapping(
        stage.job_queue(type_),
        lambda_worker(stage, name, habits),
        JOB_VISIBILITY_S,
        timeout_ms=None,
        look_again_s=LOOK_AGAIN_S,
    )
    for _ in range(2):
        stage.world.spawn(f"mapping to {name}", lambda: mapping.pump(stage))


def http_worker(stage: Stage, name: str, type_: str, habits: Habits) -> None:
    """Take jobs of a type by long poll and do them, for ever.

    After an empty answer it polls only when there is a message again: the polls of an idle hour
    would show nothing new. When the play is over it still takes what is left in its queue.
    """
    request = _activation(name, type_, habits)
    while True:
        try:
            taken = stage.world.request(
                f"activate {type_}", lambda: claims.activate(stage.ports, request)
            )
        except NoAnswer:
            stage.world.pause(REPEAT_AFTER_MS)
            continue
        if not taken:
            stage.queues.await_message(stage.job_queue(type_))
        for job in taken:
            stage.ledger.deliver(name, job)
        for job in taken:
            _work_alone(stage, name, job, habits)


def _activation(name: str, type_: str, habits: Habits, request_id: str | None = None) -> Activation:
    return Activation(
        type_,
        Claimant(name, habits.lock, request_id),
        max_jobs=habits.jobs_max,
        wait_for=LONG_POLL,
        max_active=habits.max_active,
    )


def _work_alone(stage: Stage, name: str, job: Job, habits: Habits) -> None:
    """Work in a process of its own, which may die."""
    try:
        with stage.world.process(name, timeout_ms=None):
            work(stage, job, habits)
    except NoAnswer:
        stage.world.note(f"{name} died at work on {job.element_id}")


def insist(stage: Stage, name: str, type_: str, habits: Habits) -> None:
    """Let a worker name each of its requests, send it twice at once, and ask again in the end."""

    def live() -> None:
        for number in itertools.count():
            _insist_once(stage, name, _activation(name, type_, habits, f"request {number}"), habits)
            stage.queues.await_message(stage.job_queue(type_))

    stage.world.spawn(name, live)


def _insist_once(stage: Stage, name: str, request: Activation, habits: Habits) -> None:
    """Ask until there is an answer, then once more: what was claimed is in one of the answers."""

    def operation() -> list[Job]:
        return claims.activate(stage.ports, request)

    echo = partial(stage.world.serve_unheard, "activate meanwhile", operation)
    stage.world.spawn_echo("activate meanwhile", echo, 5)
    taken: dict[int, Job] = {}
    for _ in range(2):
        answer = stage.repeat("activate", operation)
        if answer is None:
            return
        taken |= {job.key: job for job in answer}
        while stage.world.echoes:
            stage.world.pause(REPEAT_AFTER_MS)
    for job in operators.open_jobs(stage):
        is_ours = (job.owner, job.claim_id) == (name, request.claimant.request_id)
        ends = job.lock_until or stage.world.now()
        if is_ours and ends > stage.world.now() + MARGIN and job.key not in taken:
            stage.world.complain(f"{name} claimed job {job.key} and was never told")
    for job in taken.values():
        stage.ledger.deliver(name, job)
        _work_alone(stage, name, job, habits)


def work(stage: Stage, job: Job, habits: Habits) -> None:
    """Do one job and report: complete it or fail it."""
    stage.world.call(Call.WORK, "work on", job.element_id)
    is_first = job.delivery_token == 1 and habits.first_ms is not None
    work_ms = habits.first_ms or 0 if is_first else habits.work_ms
    stage.world.pause(max(0, work_ms + stage.world.plan.jitter_ms()))
    if habits.fails(job) and habits.leaves is not None:
        fail_with(stage, job, habits.leaves)
    elif habits.fails(job):
        fail(stage, job, habits.backoff, habits.names_failures, habits.doubles_failures)
    else:
        told: JsonObject = {"done": job.element_id, "token": Decimal(job.delivery_token)}
        result = habits.orders(job)
        complete(stage, job, {} if isinstance(result, TaskResult) else told, result)


def lambda_worker(
    stage: Stage, name: str, habits: Habits
) -> Callable[[Sequence[Received]], set[str]]:
    """Return the handler of a Lambda function subscribed to a type's queue.

    Each bell is claimed by its key and body, worked, and completed. What it returns are the
    receipts of the messages that are to be shown again.
    """

    def handler(received: Sequence[Received]) -> set[str]:
        return {each.receipt for each in received if not _handle(stage, name, habits, each)}

    return handler


def _handle(stage: Stage, name: str, habits: Habits, received: Received) -> bool:
    """Claim, work and report one message; False if it is to be shown again."""
    bell = bells.from_text(received.body)
    claimant = Claimant(name, habits.lock)

    def operation() -> Job:
        return claims.claim_by_key(stage.ports, bell.job_key, claimant, received.body)

    try:
        job = stage.world.request("claim", operation)
    except Rejected as rejected:
        if rejected.details.get("reason") in FREE_REASONS:
            return True
        return horizon.is_over(bell.first_sent, stage.world.local_now())
    except NoAnswer:
        return False
    stage.ledger.deliver(name, job)
    work(stage, job, habits)
    return True


# --- mappings of queues ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mapping:
    """An SQS mapping: a queue's messages go to a function in batches; failed ones come back.

    Shapes: `function` returns the receipts of those that failed; `look_again_s` is the visibility
        it gives them, None leaves them invisible until the queue's own runs out.
    """

    queue: str
    function: Callable[[Sequence[Received]], set[str]]
    visibility_s: int
    batch_max: int = 10
    timeout_ms: int | None = FUNCTION_TIMEOUT_MS
    look_again_s: int | None = None

    def pump(self, stage: Stage) -> None:
        """Do it for ever."""
        while True:
            received = stage.queues.take(self.queue, self.batch_max, self.visibility_s, None)
            strike = stage.world.call(Call.DELIVER, "deliver", self.queue, received)
            point = stage.world.point
            if strike is Strike.LATE:
                stage.world.pause(LATE_BATCH_MS)
            if strike is Strike.DUPLICATE:
                stage.queues.send(self.queue, [Message(each.body) for each in received])
            done = self._invoke(stage, received, point)
            point.is_answered = bool(done)
            if done and strike is not Strike.LOST_ANSWER:
                stage.queues.delete(self.queue, done)

    def _invoke(self, stage: Stage, received: Sequence[Received], point: Point) -> list[str]:
        """Invoke the function; return the receipts of what it has done."""
        try:
            with stage.world.process(f"function of {self.queue}", self.timeout_ms) as process:
                failed = self.function(received)
        except (NoAnswer, Fault, Conflict) as error:
            stage.world.note(f"function of {self.queue} failed: {error}")
            return []
        point.begins = None if stage.world.healed else process
        if len(failed) == len(received) and self.look_again_s is None:
            stage.world.end_as_dead(process)
        if self.look_again_s is not None:
            for receipt in sorted(failed):
                stage.queues.show_again(self.queue, receipt, self.look_again_s)
        return [each.receipt for each in received if each.receipt not in failed]
