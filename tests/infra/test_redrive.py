"""`headrace redrive`: what is parked goes back, each message once at least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import boto3
import pytest
from moto import mock_aws

from chalicelib.local import deploying
from chalicelib.local.deploying import Account, NotDone
from infra import names, redrive
from infra.redrive import NotMoved, Redriven

STAGE = "test"


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.session.Session]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        made = boto3.session.Session("test", "test", region_name="eu-west-1")
        client = made.client("sqs")
        for queue in redrive.QUEUES.values():
            for suffix in ("", names.DEAD):
                client.create_queue(QueueName=queue.replace("${Stage}", STAGE) + suffix)
        yield made


def url(client: Any, queue: str, suffix: str = "") -> str:
    return str(client.get_queue_url(QueueName=f"headrace-{STAGE}-{queue}{suffix}")["QueueUrl"])


def park(client: Any, queue: str, count: int) -> None:
    for number in range(count):
        body = f"{queue} {number}"
        client.send_message(QueueUrl=url(client, queue, names.DEAD), MessageBody=body)


def bodies(client: Any, queue: str, suffix: str = "") -> list[str]:
    found: list[str] = []
    while received := client.receive_message(
        QueueUrl=url(client, queue, suffix), MaxNumberOfMessages=10
    ).get("Messages"):
        found += [each["Body"] for each in received]
    return sorted(found)


def test_all_that_is_parked_goes_back_and_is_counted(session: boto3.session.Session) -> None:
    client = session.client("sqs")
    park(client, "timers", 23)
    park(client, "runs", 1)

    done = list(redrive.redrive(session, STAGE, list(redrive.QUEUES)))

    assert [
        Redriven("headrace-test-timers", 23),
        Redriven("headrace-test-commands", 0),
        Redriven("headrace-test-runs", 1),
        Redriven("headrace-test-routing", 0),
    ] == done
    assert sorted(f"timers {number}" for number in range(23)) == bodies(client, "timers")
    assert [] == bodies(client, "timers", names.DEAD)


def test_the_command_says_how_many_of_which_queue(
    session: boto3.session.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    client = session.client("sqs")
    park(client, "timers", 1)
    park(client, "commands", 2)

    assert 0 == deploying.redrive(Account(region="eu-west-1"), STAGE, ["commands"])

    told = capsys.readouterr().out.split()
    assert ["headrace-test-commands", "2", "messages", "put", "back"] == told
    assert ["timers 0"] == bodies(client, "timers", names.DEAD)


def test_a_name_that_is_no_stage_is_refused() -> None:
    with pytest.raises(NotDone, match="expected a stage"):
        deploying.redrive(Account(region="eu-west-1"), "Not A Stage", None)


class Partly:
    """An SQS that takes all of a batch but its first message."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    def client(self, service: str) -> Partly:
        return self

    def get_queue_url(self, **asked: Any) -> Any:
        return {"QueueUrl": f"https://sqs/{asked['QueueName']}"}

    def receive_message(self, **asked: Any) -> Any:
        return {"Messages": [{"Body": each, "ReceiptHandle": f"r-{each}"} for each in "abc"]}

    def send_message_batch(self, **asked: Any) -> Any:
        return {"Failed": [{"Id": "0", "Code": "InternalError", "SenderFault": False}]}

    def delete_message_batch(self, **asked: Any) -> None:
        self.deleted += [each["ReceiptHandle"] for each in asked["Entries"]]


def test_a_message_that_its_queue_does_not_take_stays_parked_and_is_told() -> None:
    partly = Partly()

    with pytest.raises(NotMoved, match=r"headrace-test-timers .* refused 1 \(InternalError\)"):
        list(redrive.redrive(cast("boto3.session.Session", partly), STAGE, ["timers"]))

    assert ["r-b", "r-c"] == partly.deleted
