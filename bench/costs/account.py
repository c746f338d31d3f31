"""An account in memory: the app over the fakes, with a meter at every door and port.

Requests and triggers go through the app as API Gateway and Lambda call it, so what is counted is
what the app does, and what it writes to its log. How long a function runs cannot be counted here:
it is the time that passed on the clock, and for each call to AWS, and for the work itself, what
`Assumed` says.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import app as doors
from bench.costs.units import GB, Unit
from chalicelib import logs, wiring
from chalicelib.access import Access, Role
from chalicelib.delivery import commands, timers
from chalicelib.json_text import JsonValue
from chalicelib.operations import api_keys
from chalicelib.ports import LIVE, Ports, Received, Settings
from chalicelib.store import quotas
from chalicelib.store.table import TABLES
from chalicelib.telemetry import metrics
from chalicelib.telemetry.journal import LinesAndMore
from chalicelib.telemetry.metrics import Point
from tests.api.client import Answer, Client, LambdaContext
from tests.counting import CountingQueues, CountingSchedules, CountingTable
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable

TRIGGER_VISIBILITY_S = 90
SERVICE = "headrace-costs"
# What EventBridge sends by the hour.
HOUR: dict[str, Any] = {
    **dict.fromkeys(("version", "account", "region", "source", "id", "time"), "0"),
    "detail-type": "Scheduled Event",
    "detail": {},
    "resources": [],
}


class Assumed(NamedTuple):
    """What no count in memory can tell; each with where it comes from."""

    memory_gb: float = 1.0  # .chalice/config.json: lambda_memory_size
    work_ms: float = 15.0  # of one invocation at that memory; `make costs` prints what it was here
    table_ms: float = 6.0  # of one request; "single-digit milliseconds" (DynamoDB product page)
    queue_ms: float = 10.0  # of one request, long polls apart
    platform_log_bytes: int = 400  # START, END and REPORT of one invocation, as Lambda writes them
    log_event_bytes: int = 26  # that CloudWatch adds to each line (PutLogEvents)
    answer_header_bytes: int = 500  # of an answer of API Gateway
    item_bytes: int = 100  # that DynamoDB adds to each stored item and index entry
    # A gzip of log lines that differ in a few numbers; CloudWatch bills what it keeps compressed.
    log_compression: float = 0.15


ASSUMED = Assumed()


@dataclass
class Meter:
    """What was used since the last look."""

    used: dict[Unit, float] = field(default_factory=dict)
    series: set[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=set)
    body_bytes: int = 0  # of requests
    worked_s: float = 0.0  # of this machine's processor, in invocations
    invocations: int = 0

    def add(self, unit: Unit, amount: float) -> None:
        self.used[unit] = self.used.get(unit, 0) + amount

    def taken(self) -> dict[Unit, float]:
        """Return what was used, and begin anew."""
        used, self.used = self.used, {}
        return used


class Stored(NamedTuple):
    """Bytes: of the tables with their indexes, and of what a scan of the live one is billed for."""

    live: float
    history: float
    scanned: float


class _Log(io.StringIO):
    """Takes the lines of the log, of which only the number and the bytes matter."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def write(self, text: str) -> int:
        size = len(text.encode()) + text.count("\n") * ASSUMED.log_event_bytes
        self.bytes += size
        return len(text)


class Account:
    """One stage of Headrace, whose every use is metered."""

    def __init__(self, ttl_s: int = 0) -> None:
        self.meter = Meter()
        self.clock = ManualClock()
        self.items = MemoryTable()
        self.table = CountingTable(self.items)
        self.memory = MemoryQueues(self.clock)
        self.queues = CountingQueues(self.memory)
        self.schedules = CountingSchedules(MemorySchedules(self.clock, self.queues))
        self._journal = LinesAndMore(write=self._write_metrics)
        self._log = _Log()
        self.ports = Ports(
            self.table,
            self.queues,
            self.schedules,
            self.clock,
            SeededChance(),
            Settings(history_time_to_live_s=ttl_s, access=Access.KEYS),
            self._journal,
        )
        self._client = Client(doors.app)
        self._key = api_keys.create_key(self.ports, "costs", Role.OPERATOR)

    @contextmanager
    def opened(self) -> Iterator[Account]:
        """Let the app's doors lead here; its lines go to a meter."""
        handler: Any = logs.logger().handlers[0]
        ports, journal, stream = wiring.ports, wiring.journal, handler.stream
        wiring.ports, wiring.journal = lambda: self.ports, lambda: self._journal
        handler.setStream(self._log)
        try:
            with redirect_stdout(self._log):
                yield self
        finally:
            wiring.ports, wiring.journal = ports, journal
            handler.setStream(stream)

    # --- doors -------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: JsonValue | bytes = None, **more: str) -> Answer:
        """Send a request through API Gateway, with an API key."""
        headers = {"x-api-key": self._key, **more}
        with self._invocation():
            answer = self._client.request(method, path, body, headers)
        self.meter.add(Unit.HTTP_REQUEST, 1)
        self.meter.add(Unit.OUT_GB, (len(answer.text) + ASSUMED.answer_header_bytes) / GB)
        self.meter.body_bytes += len(str(body)) if body is not None else 0
        if answer.status >= 500:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text}")
        return answer

    def pump(self, batch: int) -> None:
        """Let Lambda hand what is visible in the fixed queues to its functions."""
        served = ((timers.QUEUE, doors.on_timers), (commands.QUEUE, doors.on_commands))
        for queue, function in served:
            while received := self.take(queue, batch):
                with self._invocation():
                    answer = function(_event(received), LambdaContext())
                again = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
                self.done(queue, [m.receipt for m in received if m.receipt not in again])

    def take(self, queue: str, batch: int) -> list[Received]:
        """Receive what is visible, as Lambda does; nothing is asked of an empty queue."""
        if not self.memory.visible(queue):
            return []
        return self.queues.receive(queue, batch, TRIGGER_VISIBILITY_S, 0)

    def done(self, queue: str, receipts: Sequence[str]) -> None:
        """Delete what was received, as Lambda does."""
        if receipts:
            self.queues.delete(queue, receipts)

    def sweep(self, batch: int) -> dict[Unit, float]:
        """Let the hour come; return what the sweep uses."""
        self.used()
        with self._invocation():
            doors.sweep(HOUR, LambdaContext())
        self.pump(batch)
        return self.used()

    # --- meters ------------------------------------------------------------------------------

    def used(self) -> dict[Unit, float]:
        """Return what was used since the last time, outside of invocations too."""
        self._settle()
        return self.meter.taken()

    def stored(self) -> Stored:
        """Return what is stored now."""
        live = history = scanned = 0
        for name, item in self.items.all_items():
            size = quotas.size_of(item)
            bytes_ = size + ASSUMED.item_bytes
            for index in TABLES[name].indexes:
                if index.pk in item and index.sk in item:
                    keys = ("pk", "sk", index.pk, index.sk)
                    bytes_ += quotas.size_of({each: item[each] for each in keys})
                    bytes_ += ASSUMED.item_bytes
            if name == LIVE:
                live, scanned = live + bytes_, scanned + size
            else:
                history += bytes_
        return Stored(live, history, scanned)

    @contextmanager
    def _invocation(self) -> Iterator[None]:
        """Meter one invocation of a function."""
        self._settle()
        began, worked = self.clock.now(), time.process_time()
        yield
        self.meter.worked_s += time.process_time() - worked
        self.meter.invocations += 1
        requests, sqs = self._settle()
        passed_ms = (self.clock.now() - began).total_seconds() * 1_000
        called_ms = requests * ASSUMED.table_ms + sqs * ASSUMED.queue_ms
        lasted_s = (ASSUMED.work_ms + called_ms + passed_ms) / 1_000
        self.meter.add(Unit.LAMBDA_REQUEST, 1)
        self.meter.add(Unit.LAMBDA_GB_S, lasted_s * ASSUMED.memory_gb)
        self._log.bytes += ASSUMED.platform_log_bytes
        self._settle()

    def _settle(self) -> tuple[int, int]:
        """Move what the ports counted to the meter; return the requests to tables and queues."""
        costs, sqs, made = self.table.costs(), self.queues.requests, self.schedules.made
        self.queues.requests = self.schedules.made = 0
        self.meter.add(Unit.WRITE_UNIT, costs.write_units)
        self.meter.add(Unit.READ_UNIT, float(costs.read_units))
        self.meter.add(Unit.SQS_REQUEST, sqs)
        self.meter.add(Unit.SCHEDULE, made)
        logged, self._log.bytes = self._log.bytes, 0
        self.meter.add(Unit.LOG_GB, logged / GB)
        return costs.requests, sqs

    def _write_metrics(self, points: Sequence[Point]) -> None:
        self.meter.series |= {(point.name, point.labels) for point in points}
        metrics.write(points, SERVICE)


def _event(received: Sequence[Received]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": message.receipt,
                "receiptHandle": message.receipt,
                "body": message.body,
                "attributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:queue",
            }
            for message in received
        ]
    }
