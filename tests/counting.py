"""Ports that count what AWS would charge: requests, and read and write units of a table.

Source: DynamoDB Developer Guide, "Read and write operations": a write unit is 1 kB of the larger
of the item before and after; twice in a transaction, and one more for each index entry that is
made or removed. A read unit is 4 kB read consistently, half of it from an index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from chalicelib.delivery import sqs
from chalicelib.ports import (
    Attribute,
    Check,
    Delete,
    Item,
    ItemKey,
    Message,
    Page,
    Put,
    Query,
    Queues,
    Received,
    Refused,
    Schedules,
    Table,
    Update,
    Write,
    Written,
)
from chalicelib.store import quotas
from chalicelib.store.table import TABLES

HALF = Decimal("0.5")
WRITE_UNIT_BYTES = 1024
READ_UNIT_BYTES = 4096


def write_units(size: int) -> int:
    """Return the write units of one plain write of an item of that size; twice in a transaction."""
    return max(1, -(-size // WRITE_UNIT_BYTES))


def read_units(size: int) -> int:
    """Return the read units of one consistent read of that many bytes, at least one."""
    return max(1, -(-size // READ_UNIT_BYTES))


@dataclass(slots=True)
class Costs:
    """What was used since the last look."""

    requests: int = 0
    write_units: int = 0
    read_units: Decimal = field(default_factory=Decimal)
    index_queries: int = 0

    def __str__(self) -> str:
        return (
            f"{self.requests:3} requests {self.write_units:4} write units "
            f"{self.read_units:5} read units"
        )


class Partition(NamedTuple):
    """The items of one key, of a table or of an index of it (else "")."""

    table: str
    index_name: str
    pk: str


class CountingTable:
    """Passes every call on, and adds up what it costs; by partitions, too, for ever."""

    def __init__(self, inner: Table) -> None:
        self._inner = inner
        self._costs = Costs()
        self.written: Counter[Partition] = Counter()
        self.read: dict[Partition, Decimal] = {}

    def costs(self) -> Costs:
        """Return what was used since the last time this was asked."""
        used, self._costs = self._costs, Costs()
        return used

    def get(self, key: ItemKey) -> Item | None:
        item = self._inner.get(key)
        self._costs.requests += 1
        self._read(key, item)
        return item

    def get_many(self, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        found = self._inner.get_many(keys)
        batches = -(-len(set(keys)) // quotas.BATCH_KEYS)
        self._costs.requests += batches
        for key in dict.fromkeys(keys):
            self._read(key, found.get(key))
        return found

    def write(self, write: Put | Update | Delete) -> Written | Refused:
        before = self._inner.get(write.key)
        outcome = self._inner.write(write)
        self._costs.requests += 1
        self._charge(write, before, 1)
        return outcome

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        before = self._inner.get_many([write.key for write in writes])
        outcome = self._inner.transact(writes, token)
        self._costs.requests += 1
        for write in writes:
            self._charge(write, before.get(write.key), 2)
        return outcome

    def query(self, query: Query) -> Page:
        page = self._inner.query(query)
        self._costs.requests += 1
        units = Decimal(read_units(sum(map(quotas.size_of, page.items))))
        partition = Partition(query.table, query.index or "", query.pk)
        self._charge_read(partition, units * HALF if query.index else units)
        self._costs.index_queries += query.index is not None
        return page

    def scan(
        self, segment: int, segments: int, cursor: Mapping[str, Attribute] | None = None
    ) -> Page:
        page = self._inner.scan(segment, segments, cursor)
        self._costs.requests += 1
        self._costs.read_units += read_units(sum(map(quotas.size_of, page.items)))
        return page

    def _read(self, key: ItemKey, item: Item | None) -> None:
        units = Decimal(read_units(quotas.size_of(item or {})))
        self._charge_read(Partition(key.table, "", key.pk), units)

    def _charge_read(self, partition: Partition, units: Decimal) -> None:
        self._costs.read_units += units
        self.read[partition] = self.read.get(partition, Decimal(0)) + units

    def _charge(self, write: Write, before: Item | None, times: int) -> None:
        """Charge a write by the item it found and the one it left."""
        name, pk, _ = write.key
        after = before if isinstance(write, Check) else self._inner.get(write.key)
        size = max(quotas.size_of(before or {}), quotas.size_of(after or {}))
        self._charge_write(Partition(name, "", pk), times * write_units(size))
        for index in TABLES[name].indexes:
            old, new = _entry(before, index.pk, index.sk), _entry(after, index.pk, index.sk)
            if old != new:
                for entry in (old, new):
                    if entry is not None:
                        self._charge_write(Partition(name, index.name, str(entry[0])), 1)

    def _charge_write(self, partition: Partition, units: int) -> None:
        self._costs.write_units += units
        self.written[partition] += units


def _entry(item: Item | None, pk: str, sk: str) -> tuple[Attribute, Attribute] | None:
    return (item[pk], item[sk]) if item and pk in item and sk in item else None


SQS_CHUNK_BYTES = 64 * 1024  # of a request's messages; each chunk is billed as a request


@dataclass(slots=True)
class CountingQueues:
    """Passes every call on, and adds up the requests that SQS would bill.

    Source: Amazon SQS pricing: each call is a request, a batch of up to ten is one too, and each
    64 kB of what it carries is billed as one.
    """

    _inner: Queues
    requests: int = 0
    sent: int = 0

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        self._inner.send(queue, messages)
        self.sent += len(messages)
        for first in range(0, len(messages), sqs.BATCH_MAX):
            batch = messages[first : first + sqs.BATCH_MAX]
            self.requests += _chunks(message.body for message in batch)

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        received = self._inner.receive(queue, limit, visibility_s, wait_s)
        self.requests += _chunks(message.body for message in received)
        return received

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        self._inner.delete(queue, receipts)
        self.requests += -(-len(receipts) // sqs.BATCH_MAX)

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        self._inner.show_again(queue, receipt, after_s)
        self.requests += 1

    def ensure(self, queue: str) -> str:
        self.requests += 2  # CreateQueue, and GetQueueAttributes for its ARN
        return self._inner.ensure(queue)

    def names(self) -> list[str]:
        self.requests += 1
        return self._inner.names()

    def count(self, queue: str) -> int:
        self.requests += 1
        return self._inner.count(queue)


def _chunks(bodies: Iterable[str]) -> int:
    return max(1, -(-sum(len(body.encode()) for body in bodies) // SQS_CHUNK_BYTES))


@dataclass(slots=True)
class CountingSchedules:
    """Passes every schedule on, and counts those that will be invoked."""

    _inner: Schedules
    made: int = 0

    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        self._inner.create(name, at, queue, body)
        self.made += 1
