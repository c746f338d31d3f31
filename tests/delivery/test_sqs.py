"""What SqsQueues asks of SQS, and what it makes of answers that the emulated one never gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from chalicelib.delivery.sqs import NotSent, SqsQueues
from chalicelib.errors import Busy
from chalicelib.ports import Message, QueueMissing

Answer = dict[str, Any]


class StubClient:
    """An SQS that notes what it is asked, and answers as it is told."""

    def __init__(self, answers: Sequence[Answer | ClientError] = ()) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, Answer]] = []

    def get_queue_url(self, **asked: Any) -> Answer:
        self.calls.append(("get_queue_url", asked))
        return {"QueueUrl": f"https://sqs/{asked['QueueName']}"}

    def send_message_batch(self, **asked: Any) -> Answer:
        return self._answer("send_message_batch", asked)

    def receive_message(self, **asked: Any) -> Answer:
        return self._answer("receive_message", asked)

    def change_message_visibility(self, **asked: Any) -> Answer:
        return self._answer("change_message_visibility", asked)

    def named(self, name: str) -> list[Answer]:
        return [asked for call, asked in self.calls if call == name]

    def _answer(self, name: str, asked: Answer) -> Answer:
        self.calls.append((name, asked))
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, ClientError):
            raise answer
        return answer


def queues_of(client: StubClient) -> SqsQueues:
    return SqsQueues(cast(Any, client), "headrace-test-", sleep=lambda _: None)


def error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, "Operation")


def failed(*ids: str, sender: bool = False) -> Answer:
    return {
        "Failed": [{"Id": each, "SenderFault": sender, "Code": "InternalError"} for each in ids]
    }


def test_sending_makes_one_batch_of_ten_after_the_other() -> None:
    client = StubClient()

    queues_of(client).send("j-x", [Message(str(number)) for number in range(12)])

    assert [10, 2] == [len(call["Entries"]) for call in client.named("send_message_batch")]


def test_delays_beyond_what_sqs_allows_are_clamped() -> None:
    client = StubClient()

    queues_of(client).send("j-x", [Message("far", 901), Message("past", -1)])

    (call,) = client.named("send_message_batch")
    assert [900, 0] == [entry["DelaySeconds"] for entry in call["Entries"]]


def test_only_the_entries_that_failed_are_sent_again() -> None:
    client = StubClient([failed("1"), {}])

    queues_of(client).send("j-x", [Message("one"), Message("two"), Message("three")])

    first, second = client.named("send_message_batch")
    assert ["one", "two", "three"] == [entry["MessageBody"] for entry in first["Entries"]]
    assert ["two"] == [entry["MessageBody"] for entry in second["Entries"]]


def test_entries_that_keep_failing_say_that_sqs_is_busy() -> None:
    client = StubClient([failed("0")] * 5)

    with pytest.raises(Busy, match=r"j-x to take all, it refused 1: .*InternalError"):
        queues_of(client).send("j-x", [Message("one")])

    assert 5 == len(client.named("send_message_batch"))


def test_an_entry_that_is_our_own_fault_is_not_sent_again() -> None:
    client = StubClient([failed("0", sender=True)])

    with pytest.raises(NotSent):
        queues_of(client).send("j-x", [Message("one")])

    assert 1 == len(client.named("send_message_batch"))


def test_the_address_of_a_queue_is_asked_for_once() -> None:
    client = StubClient()
    queues = queues_of(client)

    queues.send("j-x", [Message("one")])
    queues.send("j-x", [Message("two")])

    assert [{"QueueName": "headrace-test-j-x"}] == client.named("get_queue_url")


def test_the_address_of_a_queue_that_went_missing_is_forgotten() -> None:
    client = StubClient([{}, error("AWS.SimpleQueueService.NonExistentQueue"), {}])
    queues = queues_of(client)
    queues.send("j-x", [Message("one")])

    with pytest.raises(QueueMissing, match="headrace-test-j-x"):
        queues.send("j-x", [Message("two")])
    queues.send("j-x", [Message("three")])

    assert 2 == len(client.named("get_queue_url"))


@pytest.mark.parametrize(("asked", "given"), [((0, 25), (1, 20)), ((50, 0), (10, 0))])
def test_a_receive_stays_within_what_sqs_allows(
    asked: tuple[int, int], given: tuple[int, int]
) -> None:
    client = StubClient()

    queues_of(client).receive("j-x", asked[0], 30, asked[1])

    (call,) = client.named("receive_message")
    assert given == (call["MaxNumberOfMessages"], call["WaitTimeSeconds"])


@pytest.mark.parametrize("code", ["MessageNotInflight", "ReceiptHandleIsInvalid"])
def test_showing_again_what_is_gone_is_ignored(code: str) -> None:
    queues_of(StubClient([error(code)])).show_again("j-x", "receipt", 1)


def test_other_errors_come_out_as_they_are() -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        queues_of(StubClient([error("AccessDenied")])).show_again("j-x", "receipt", 1)


def test_a_prefix_that_leaves_no_room_for_the_name_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 32 characters"):
        SqsQueues(cast(Any, StubClient()), "x" * 33)


def test_a_batch_holds_no_more_bytes_than_one_request_takes() -> None:
    client = StubClient()
    messages = [Message("x" * 200_000), Message("x" * 62_144), Message("x" * 100_000)]

    queues_of(client).send("commands", messages)

    sent = [len(asked["Entries"]) for asked in client.named("send_message_batch")]
    assert [2, 1] == sent
