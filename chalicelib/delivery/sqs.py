"""The queues on SQS: batches of ten, whose failed entries are sent again, and cached addresses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from botocore.exceptions import ClientError

from chalicelib.delivery.bells import PREFIX, STAGE_PREFIX_MAX
from chalicelib.delivery.later import DELAY_MAX_S
from chalicelib.errors import Busy
from chalicelib.faults import THROTTLED, calling, code_of
from chalicelib.ports import Message, QueueMissing, Received

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import (
        BatchResultErrorEntryTypeDef,
        SendMessageBatchRequestEntryTypeDef,
    )

BATCH_BYTES_MAX = 256 * 1024  # of all messages of a batch (SQS quota)
BATCH_MAX = 10  # entries of a batch, and messages of a receive (SQS quota)
WAIT_MAX_S = 20  # of a receive (SQS quota)
SENDS_MAX = 5  # times an entry that SQS refuses for a reason of its own is sent
PAUSE_S = 0.05  # before the second, doubling
RETENTION_S = 14 * 86_400  # the longest there is (SQS quota)
VISIBILITY_S = 900  # of a job queue: as long as a Lambda function may run (design section 5)
PAGE_MAX = 1_000  # names of a page (SQS ListQueues)

SQS = "SQS"
_MISSING = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})
_EXISTS = frozenset({"QueueAlreadyExists", "QueueNameExists"})
_GONE = frozenset(
    {
        "AWS.SimpleQueueService.MessageNotInflight",
        "MessageNotInflight",
        "ReceiptHandleIsInvalid",
        "InvalidParameterValue",  # SQS's word for a receipt whose time is over
    }
)
_COUNTS: tuple[QueueAttributeNameType, ...] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)

T = TypeVar("T")


class NotSent(Exception):
    """A fault: SQS refused entries of a batch, and will again."""


@dataclass(slots=True)
class SqsQueues:
    """Queues of one stage; their names here lack the stage's prefix.

    Raises: Busy, whatever is called, if SQS takes no more calls for now or does not answer.
    """

    client: SQSClient
    prefix: str
    sleep: Callable[[float], None] = time.sleep
    _urls: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.prefix) > STAGE_PREFIX_MAX:
            raise ValueError(
                f"expected a queue prefix of at most {STAGE_PREFIX_MAX} characters, "
                f"found {self.prefix!r}"
            )

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        """Send all of them. Raises: QueueMissing; NotSent, if any was refused; Busy."""
        for batch in _fitting(messages):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {
                    "Id": str(number),
                    "MessageBody": message.body,
                    "DelaySeconds": max(0, min(DELAY_MAX_S, message.delay_s)),
                }
                for number, message in enumerate(batch)
            ]
            self._send_batch(queue, entries)

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        """Take up to 10 messages, waiting for the first. Raises: QueueMissing."""
        with self._address(queue) as url:
            answer = self.client.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=max(1, min(BATCH_MAX, limit)),
                VisibilityTimeout=visibility_s,
                WaitTimeSeconds=max(0, min(WAIT_MAX_S, wait_s)),
            )
        return [
            Received(each["Body"], each["ReceiptHandle"]) for each in answer.get("Messages", [])
        ]

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        """Be done with received messages. One that SQS keeps comes back and is found spare."""
        for batch in _batches(receipts):
            with self._address(queue) as url:
                self.client.delete_message_batch(
                    QueueUrl=url,
                    Entries=[
                        {"Id": str(number), "ReceiptHandle": receipt}
                        for number, receipt in enumerate(batch)
                    ],
                )

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        """Make a received message visible again after some seconds; gone ones are ignored."""
        with self._address(queue) as url:
            try:
                self.client.change_message_visibility(
                    QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=after_s
                )
            except ClientError as error:
                if code_of(error) not in _GONE:
                    raise

    def ensure(self, queue: str) -> str:
        """Make the queue unless it is there; return its ARN."""
        try:
            with calling(SQS):
                answer = self.client.create_queue(
                    QueueName=self.prefix + queue,
                    Attributes={
                        "MessageRetentionPeriod": str(RETENTION_S),
                        "VisibilityTimeout": str(VISIBILITY_S),
                    },
                )
            self._urls[queue] = answer["QueueUrl"]
        except ClientError as error:
            if code_of(error) not in _EXISTS:  # it exists with attributes an operator chose
                raise
        with self._address(queue) as url:
            answer_of = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return answer_of["Attributes"]["QueueArn"]

    @calling(SQS)
    def names(self) -> list[str]:
        """Return the names of all job queues of this stage."""
        pages = self.client.get_paginator("list_queues").paginate(
            QueueNamePrefix=self.prefix + PREFIX, PaginationConfig={"PageSize": PAGE_MAX}
        )
        urls = (url for page in pages for url in page.get("QueueUrls", []))
        return [url.rsplit("/", 1)[1].removeprefix(self.prefix) for url in urls]

    def count(self, queue: str) -> int:
        """Return about how many messages it holds, hidden and delayed ones too; 0 if missing."""
        try:
            with self._address(queue) as url:
                answer = self.client.get_queue_attributes(
                    QueueUrl=url, AttributeNames=list(_COUNTS)
                )
        except QueueMissing:
            return 0
        return sum(int(answer["Attributes"][name]) for name in _COUNTS)

    def _send_batch(
        self, queue: str, entries: Sequence[SendMessageBatchRequestEntryTypeDef]
    ) -> None:
        """Send up to ten; those that SQS alone is to blame for again, until all are sent."""
        for attempt in range(SENDS_MAX):
            with self._address(queue) as url:
                answer = self.client.send_message_batch(QueueUrl=url, Entries=entries)
            failed = {each["Id"]: each for each in answer.get("Failed", [])}
            if not failed:
                return
            if any(_is_ours(each) for each in failed.values()):
                break
            entries = [each for each in entries if each["Id"] in failed]
            self.sleep(PAUSE_S * 2**attempt)
        reasons = sorted({f"{each['Code']}: {each.get('Message', '')}" for each in failed.values()})
        told = f"expected queue {queue} to take all, it refused {len(failed)}: {reasons}"
        raise NotSent(told) if any(map(_is_ours, failed.values())) else Busy(told)

    @contextmanager
    def _address(self, queue: str) -> Iterator[str]:
        """Give the queue's URL for one call. Raises: QueueMissing, out of that call too."""
        try:
            if queue not in self._urls:
                with calling(SQS):
                    answer = self.client.get_queue_url(QueueName=self.prefix + queue)
                self._urls[queue] = answer["QueueUrl"]
            with calling(SQS):
                yield self._urls[queue]
        except ClientError as error:
            if code_of(error) not in _MISSING:
                raise
            self._urls.pop(queue, None)
            raise QueueMissing(f"expected queue {self.prefix}{queue}, found none") from error


def _is_ours(failed: BatchResultErrorEntryTypeDef) -> bool:
    """Say whether an entry was refused for what it is."""
    return failed["SenderFault"] and failed["Code"] not in THROTTLED


def _fitting(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Yield batches whose messages fit into one request together."""
    batch: list[Message] = []
    size = 0
    for message in messages:
        length = len(message.body.encode())
        if batch and (len(batch) == BATCH_MAX or size + length > BATCH_BYTES_MAX):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield batch


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(things), BATCH_MAX):
        yield things[first : first + BATCH_MAX]
