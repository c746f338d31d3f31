"""Puts the messages that are parked in dead-letter queues back into the queues they came from.

It moves them one batch after the other, as SQS's own move task does, so that it works on emulated
AWS too. A message is sent before it is removed, so whatever ends this in between leaves it twice;
that harms nobody, for whoever receives a message checks it against the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra import names

if TYPE_CHECKING:
    import boto3

QUEUES = {queue.removeprefix(names.QUEUE_PREFIX): queue for queue in names.QUEUES.values()}
BATCH_MAX = 10  # messages of a receive (SQS quota)
HIDDEN_S = 60  # while a batch is moved
WAIT_S = 1  # shorter polls ask only some of SQS's servers, and so lie
MOVED_MAX = 100_000  # of one queue at a time: what is parked meanwhile is for the next time


class NotMoved(Exception):
    """A queue did not take a message back; those before it are moved."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """How many messages were put back into a queue of the stage, by its full name."""

    queue: str
    moved: int


def redrive(session: boto3.session.Session, stage: str, which: Sequence[str]) -> Iterator[Redriven]:
    """Put back what is parked, queue after queue. Raises: NotMoved.

    Shapes: `which` are keys of QUEUES.
    """
    client = session.client("sqs")
    for key in which:
        name = names.resolve(QUEUES[key], stage=stage, account="", region="")
        source = client.get_queue_url(QueueName=name + names.DEAD)["QueueUrl"]
        target = client.get_queue_url(QueueName=name)["QueueUrl"]
        moved = 0
        while moved < MOVED_MAX and (batch := _batch(client, source, target)):
            moved += batch
        yield Redriven(name, moved)


def _batch(client: Any, source: str, target: str) -> int:
    """Move up to ten messages; return how many, 0 if there is none. Raises: NotMoved."""
    received = client.receive_message(
        QueueUrl=source,
        MaxNumberOfMessages=BATCH_MAX,
        VisibilityTimeout=HIDDEN_S,
        WaitTimeSeconds=WAIT_S,
    ).get("Messages", [])
    if not received:
        return 0
    sent = client.send_message_batch(
        QueueUrl=target,
        Entries=[
            {"Id": str(number), "MessageBody": each["Body"]} for number, each in enumerate(received)
        ],
    )
    refused = {each["Id"]: each for each in sent.get("Failed", [])}
    taken = [each for number, each in enumerate(received) if str(number) not in refused]
    if taken:
        client.delete_message_batch(
            QueueUrl=source,
            Entries=[
                {"Id": str(number), "ReceiptHandle": each["ReceiptHandle"]}
                for number, each in enumerate(taken)
            ],
        )
    if refused:
        codes = sorted({each["Code"] for each in refused.values()})
        raise NotMoved(
            f"expected {target.rpartition('/')[2]} to take all back, it refused {len(refused)} "
            f"({', '.join(codes)}): they stay parked, repeat the command"
        )
    return len(taken)
