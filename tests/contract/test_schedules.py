"""What every implementation of the schedules does: in memory and on (emulated) EventBridge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest

from chalicelib.delivery.scheduler import EventBridgeSchedules
from chalicelib.delivery.sqs import SqsQueues
from chalicelib.ports import Queues, Schedules
from tests.contract.clients import client_of
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.patience import eventually, in_time

QUEUE = "j-contract-0123456789abcdef"
WAIT_MAX_S = 20  # of one receive (SQS quota)


@dataclass(frozen=True)
class Bench:
    """One implementation, the queues it fires into, and how time passes for it."""

    schedules: Schedules
    queues: Queues
    now: Callable[[], datetime]
    wait: Callable[[float], None]

    def take(self, wait_s: int = WAIT_MAX_S) -> list[str]:
        return [each.body for each in self.queues.receive(QUEUE, 10, 300, wait_s)]


def in_memory() -> Bench:
    clock = ManualClock()
    queues = MemoryQueues(clock)
    return Bench(MemorySchedules(clock, queues), queues, clock.now, clock.move)


def on_eventbridge(endpoint: str) -> Bench:
    client = partial(client_of, endpoint)
    prefix = f"t{uuid4().hex[:8]}-"
    scheduler = client("scheduler")
    scheduler.create_schedule_group(Name=prefix.strip("-"))
    role = "arn:aws:iam::000000000000:role/schedules"
    return Bench(
        EventBridgeSchedules(scheduler, prefix.strip("-"), role, prefix),
        SqsQueues(client("sqs"), prefix),
        lambda: datetime.now(UTC),
        time.sleep,
    )


@pytest.fixture(params=["memory", pytest.param("eventbridge", marks=pytest.mark.aws)])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "memory":
        made = in_memory()
    else:
        made = on_eventbridge(request.getfixturevalue("emulated_aws"))
    made.queues.ensure(QUEUE)
    yield made


def test_a_schedule_sends_its_message_at_its_time_as_it_was_given(bench: Bench) -> None:
    body = '{"job":4294967297,"type":"zwölf <aws.scheduler.execution-id>"}'
    at = bench.now() + timedelta(seconds=3)

    bench.schedules.create("j-1-1-1", at, QUEUE, body)

    assert [body] == bench.take()
    assert at.replace(microsecond=0) <= bench.now()  # a schedule is of a whole second


def test_a_schedule_of_a_name_that_exists_changes_nothing(bench: Bench) -> None:

    def twice(at: datetime) -> str:
        name = f"j-{at:%H%M%S}"  # free again once it fired
        bench.schedules.create(name, at, QUEUE, f"first {name}")
        bench.schedules.create(name, at + timedelta(hours=1), QUEUE, f"second {name}")
        return name

    name, _ = in_time(twice, bench.now)

    assert eventually(lambda: f"first {name}" in bench.take())


def test_a_name_is_free_again_after_its_schedule_fired(bench: Bench) -> None:
    for body in ("first", "second"):
        bench.schedules.create("j-1-1-1", bench.now() + timedelta(seconds=1), QUEUE, body)
        assert [body] == bench.take()


def test_a_schedule_for_a_queue_that_is_missing_troubles_nobody(bench: Bench) -> None:
    bench.schedules.create("j-2-1-1", bench.now(), "j-nowhere", "lost")

    bench.schedules.create("j-2-1-2", bench.now(), QUEUE, "found")
    assert ["found"] == bench.take()
