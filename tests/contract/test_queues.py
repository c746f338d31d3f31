"""What every implementation of the queues does: in memory and on (emulated) SQS."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config

from chalicelib.delivery.sqs import SqsQueues
from chalicelib.ports import Message, QueueMissing, Queues
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues

QUEUE = "j-contract-0123456789abcdef"
HIDDEN_S = 300  # longer than any test takes
WAIT_MAX_S = 20  # of one receive (SQS quota)
NEARLY = 0.9  # of a time: two clocks may read it


@dataclass(frozen=True)
class Bench:
    """One implementation, and how time passes for it.

    Time passes on while a test does nothing, so that something is hidden is never read off an
    empty receive, but off the moment at which it comes.
    """

    queues: Queues
    wait: Callable[[float], None]
    seconds: Callable[[], float]

    def take(self, limit: int = 10, wait_s: int = 1) -> list[str]:
        return [each.body for each in self.queues.receive(QUEUE, limit, HIDDEN_S, wait_s)]

    def takes_after(self, began: float) -> tuple[list[str], float]:
        """Wait for messages; return them, and the seconds since a moment."""
        taken = self.take(wait_s=WAIT_MAX_S) or self.take(wait_s=WAIT_MAX_S)
        return taken, self.seconds() - began


def in_memory() -> Bench:
    clock = ManualClock()
    return Bench(MemoryQueues(clock), clock.move, lambda: clock.now().timestamp())


def on_sqs(endpoint: str) -> Bench:
    client = boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    return Bench(SqsQueues(client, f"t{uuid4().hex[:8]}-"), time.sleep, time.monotonic)


@pytest.fixture(params=["memory", pytest.param("sqs", marks=pytest.mark.aws)])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = in_memory() if request.param == "memory" else on_sqs(_endpoint(request))
    made.queues.ensure(QUEUE)
    yield made


def _endpoint(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("emulated_aws"))


def test_what_is_sent_is_received(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one"), Message("zwölf ✓")])

    assert {"one", "zwölf ✓"} == set(bench.take())


def test_more_than_a_batch_is_sent_whole(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message(str(number)) for number in range(23)])

    assert {str(number) for number in range(23)} == {*bench.take(), *bench.take(), *bench.take()}


def test_a_receive_takes_no_more_than_asked_nor_than_ten(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message(str(number)) for number in range(14)])

    assert 3 == len(bench.take(limit=3))
    assert 10 == len(bench.take(limit=50))


def test_a_received_message_is_hidden_until_its_visibility_ends(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one"), Message("two")])
    began = bench.seconds()
    assert 1 == len(bench.queues.receive(QUEUE, 1, HIDDEN_S, 1))
    assert 1 == len(bench.queues.receive(QUEUE, 10, 2, 1))

    taken, after_s = bench.takes_after(began)

    assert 1 == len(taken)
    assert NEARLY * 2 <= after_s < HIDDEN_S


def test_a_deleted_message_does_not_come_back(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one")])
    (received,) = bench.queues.receive(QUEUE, 10, 1, 1)

    bench.queues.delete(QUEUE, [received.receipt])
    bench.wait(1.1)

    assert [] == bench.take(wait_s=0)
    bench.queues.delete(QUEUE, [received.receipt])


def test_many_messages_are_deleted_at_once(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message(str(number)) for number in range(12)])
    taken = [*bench.queues.receive(QUEUE, 10, 30, 1), *bench.queues.receive(QUEUE, 10, 30, 1)]

    bench.queues.delete(QUEUE, [each.receipt for each in taken])

    assert 0 == bench.queues.count(QUEUE)


def test_a_delayed_message_is_hidden_until_its_time(bench: Bench) -> None:
    began = bench.seconds()
    bench.queues.send(QUEUE, [Message("late", delay_s=900), Message("soon", delay_s=2)])

    taken, after_s = bench.takes_after(began)

    assert ["soon"] == taken
    assert NEARLY * 2 <= after_s


def test_a_receive_waits_for_the_first_message(bench: Bench) -> None:
    began = bench.seconds()
    bench.queues.send(QUEUE, [Message("soon", delay_s=1)])

    assert ["soon"] == bench.take(wait_s=WAIT_MAX_S)
    assert bench.seconds() - began < WAIT_MAX_S


def test_a_receive_that_finds_nothing_answers_empty_in_time(bench: Bench) -> None:
    began = bench.seconds()

    assert [] == bench.take(wait_s=1)
    assert NEARLY * 1 <= bench.seconds() - began < WAIT_MAX_S


def test_a_message_can_be_shown_again_at_once_or_later(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one")])
    (received,) = bench.queues.receive(QUEUE, 10, HIDDEN_S, 1)

    bench.queues.show_again(QUEUE, received.receipt, 0)
    (received,) = bench.queues.receive(QUEUE, 10, HIDDEN_S, 1)
    began = bench.seconds()
    bench.queues.show_again(QUEUE, received.receipt, 1)

    taken, after_s = bench.takes_after(began)

    assert ["one"] == taken
    assert NEARLY * 1 <= after_s < HIDDEN_S


def test_showing_a_message_again_that_is_gone_is_ignored(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one")])
    (received,) = bench.queues.receive(QUEUE, 10, HIDDEN_S, 1)
    bench.queues.delete(QUEUE, [received.receipt])

    bench.queues.show_again(QUEUE, received.receipt, 1)

    assert [] == bench.take()


@pytest.mark.parametrize("call", ["send", "receive"])
def test_a_queue_that_is_missing_is_said_to_be(bench: Bench, call: str) -> None:
    with pytest.raises(QueueMissing, match="j-nowhere"):
        if call == "send":
            bench.queues.send("j-nowhere", [Message("one")])
        else:
            bench.queues.receive("j-nowhere", 1, HIDDEN_S, 0)


def test_making_a_queue_twice_is_making_it_once(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one")])

    arn = bench.queues.ensure(QUEUE)

    assert arn.endswith(QUEUE)
    assert arn == bench.queues.ensure(QUEUE)
    assert ["one"] == bench.take()


def test_the_names_are_those_of_the_job_queues(bench: Bench) -> None:
    bench.queues.ensure("j-other-0123456789abcdef")

    assert [QUEUE, "j-other-0123456789abcdef"] == sorted(bench.queues.names())


def test_hidden_and_delayed_messages_are_counted_too(bench: Bench) -> None:
    bench.queues.send(QUEUE, [Message("one"), Message("two"), Message("late", delay_s=900)])
    bench.take(limit=1)

    assert 3 == bench.queues.count(QUEUE)
    assert 0 == bench.queues.count("j-nowhere")
