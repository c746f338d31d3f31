"""What is replaced in the emulator does what the original did, and no message gets lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from chalicelib.local import patches
from tests.aws.conftest import EmulatedSession

pytestmark = pytest.mark.aws


class Slow(list[Any]):
    """Messages of a queue, whose copy takes so long that others come in between."""

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        time.sleep(0.5)


@pytest.fixture
def sqs(emulated_aws: str) -> Any:
    return EmulatedSession(emulated_aws).client("sqs")


@pytest.fixture
def queue(sqs: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a queue of this test's own, with a dead-letter queue as `timers` has one."""
    name = f"{request.node.name}"[:60].replace("[", "-").replace("]", "")
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
    redrive = f'{{"deadLetterTargetArn": "{arn["QueueArn"]}", "maxReceiveCount": "1000"}}'
    url = sqs.create_queue(QueueName=name, Attributes={"RedrivePolicy": redrive})["QueueUrl"]
    yield url
    sqs.delete_queue(QueueUrl=url)
    sqs.delete_queue(QueueUrl=dead)


def test_a_message_sent_while_a_mapping_copies_its_queue_is_not_lost(sqs: Any, queue: str) -> None:
    from ministack.services import sqs as service  # noqa: PLC0415  after the emulator has started

    held = service._get_q(queue)
    held["messages"] = Slow(held["messages"])

    polling = threading.Thread(target=service._receive_messages_for_esm, args=(queue, 10))
    polling.start()
    time.sleep(0.1)
    sqs.send_message(QueueUrl=queue, MessageBody="in between")
    polling.join()

    received = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1)
    assert ["in between"] == [each["Body"] for each in received.get("Messages", [])]


def test_a_receive_takes_the_first_that_are_visible_and_hides_them(sqs: Any, queue: str) -> None:
    sqs.send_message(QueueUrl=queue, MessageBody="later", DelaySeconds=900)
    for body in ("first", "second", "third"):
        sqs.send_message(QueueUrl=queue, MessageBody=body)

    one = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=2, VisibilityTimeout=30)
    two = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=30)
    three = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)

    assert ["first", "second"] == [each["Body"] for each in one["Messages"]]
    assert ["third"] == [each["Body"] for each in two["Messages"]]
    assert "Messages" not in three


def test_a_received_message_comes_again_when_its_visibility_ends(sqs: Any, queue: str) -> None:
    sqs.send_message(QueueUrl=queue, MessageBody="again")

    sqs.receive_message(QueueUrl=queue, VisibilityTimeout=1)
    again = sqs.receive_message(
        QueueUrl=queue, WaitTimeSeconds=20, MessageSystemAttributeNames=["All"]
    )

    (message,) = again["Messages"]
    assert "2" == message["Attributes"]["ApproximateReceiveCount"]


def test_messages_older_than_the_retention_are_dropped(sqs: Any, queue: str) -> None:
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"MessageRetentionPeriod": "60"})
    sqs.send_message(QueueUrl=queue, MessageBody="old")
    from ministack.services import sqs as service  # noqa: PLC0415

    service._get_q(queue)["messages"][0]["sent_at"] -= 61

    assert "Messages" not in sqs.receive_message(QueueUrl=queue)


@pytest.mark.parametrize(
    ("work_s", "rest_s"), [(0.0, 0.2), (0.001, 0.2), (0.05, 1.0), (0.3, 6.0), (60.0, 10.0)]
)
def test_schedules_are_looked_at_less_often_when_a_look_is_much_work(
    work_s: float, rest_s: float
) -> None:
    scheduler = SimpleNamespace(_SCHEDULE_TICK_INTERVAL=0.0)
    worked = iter([7.0, 7.0 + work_s])

    patches._paced(scheduler, lambda: None, lambda: next(worked))()

    assert pytest.approx(rest_s) == scheduler._SCHEDULE_TICK_INTERVAL


def test_a_machine_that_stopped_during_a_look_puts_off_none() -> None:
    scheduler = SimpleNamespace(_SCHEDULE_TICK_INTERVAL=0.0)

    patches._paced(scheduler, lambda: time.sleep(0.3))()  # long, and no work

    assert scheduler._SCHEDULE_TICK_INTERVAL < 1


def test_only_calls_that_logged_have_a_log_stream() -> None:
    told: list[str] = []
    emit = patches._only_what_was_logged(lambda func, request_id, text, error: told.append(text))

    emit({}, "1", "", False)
    emit({}, "2", "a line", False)

    assert ["a line"] == told
