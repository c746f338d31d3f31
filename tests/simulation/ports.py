"""The in-memory ports, wrapped so that every call may be struck and lets others act.

What a strike means is said here once for each kind of call. Each wrapper tells the watch
(`watch.py`) what really took effect, so that the invariants are checked as things happen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from greenlet import getcurrent

from chalicelib.ports import (
    LIVE,
    Attribute,
    Delete,
    Item,
    ItemKey,
    Message,
    Page,
    Put,
    Query,
    Received,
    Refused,
    Update,
    Write,
    Written,
)
from chalicelib.store import quotas
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable, Partition, outcome
from tests.simulation.faults import Call, Strike
from tests.simulation.tape import taped
from tests.simulation.watch import Watch
from tests.simulation.world import Fault, World

THROTTLED_MS = 300
CONFLICT_MS = 40
REPEAT_MS = 60  # after which a port repeats a call whose answer was lost
GIVE_UP_MS = 2_000  # after which a port whose calls are lost raises
LATE_MS = 3_000  # by which a late call takes effect after its caller gave up
LATE_MESSAGE_S = 7  # by which a late message is visible later than it should
LATE_SCHEDULE = timedelta(seconds=60)  # AWS promises schedules to the minute
DELAY_MAX_S = 900


class LightTable(MemoryTable):
    """The table in memory, without the copies and the sizes that other tests need.

    Nobody in here changes an item that was read: what is written is a new one.
    """

    def peek(self, key: ItemKey) -> Item | None:
        """Return the very item."""
        return self._find(key)

    def collection(self, pk: str) -> dict[ItemKey, Item]:
        """Return all items of a partition of the live table."""
        partition = self._partitions.get((LIVE, pk))
        items = partition.items if partition else {}
        return {ItemKey(LIVE, pk, sk): item for sk, (item, _) in items.items()}

    def copy(self) -> LightTable:
        """Return a table of its own with the same items."""
        copy = LightTable()
        for place, partition in self._partitions.items():
            copy._partitions[place] = Partition(dict(partition.items), list(partition.order))
        for name, shelves in self._indexes.items():
            copy._indexes[name] = {pk: list(shelf) for pk, shelf in shelves.items()}
        return copy

    def _copied(self, item: Mapping[str, Attribute]) -> Item:
        return item if isinstance(item, dict) else dict(item)

    def _outcome(self, write: Put | Update | Delete, old: Item | None) -> Item | None:
        return outcome(write, old, self._copied)

    def _check_all(self, writes: Sequence[Write]) -> None:
        quotas.check_targets(writes)

    def _check(self, key: ItemKey, item: Item | None) -> int:
        return 0


class StruckTable:
    """A table whose calls are struck.

    It repeats a write whose answer was lost as `DynamoTable` does: a transaction under its token,
    a conditional write under an id that it left on the item.
    """

    def __init__(self, world: World, inner: LightTable, watch: Watch) -> None:
        self.world = world
        self.inner = inner
        self.watch = watch
        self._last_writes: dict[ItemKey, Put | Update | Delete] = {}

    def get(self, key: ItemKey) -> Item | None:
        self._read(Call.READ, "get", key)
        return self.inner.get(key)

    @taped
    def get_many(self, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        ordered = sorted(set(keys))
        strike = self._read(Call.READ_MANY, "get many", ordered)
        if strike is not Strike.TORN:
            return self.inner.get_many(keys)
        found = self.inner.get_many(ordered[::2])
        self.world.pause(THROTTLED_MS)
        return found | self.inner.get_many(ordered[1::2])

    def query(self, query: Query) -> Page:
        self._read(Call.READ, "query", query)
        return self.inner.query(query)

    def scan(
        self, segment: int, segments: int, cursor: Mapping[str, Attribute] | None = None
    ) -> Page:
        self._read(Call.READ, "scan", segment)
        return self.inner.scan(segment, segments, cursor)

    @taped
    def write(self, write: Put | Update | Delete) -> Written | Refused:
        return self._write(Call.WRITE, write, lambda: self._apply(write))

    @taped
    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        return self._write(Call.TRANSACT, writes, lambda: self._apply_all(writes, token))

    @taped
    def _read(self, call: Call, name: str, what: object) -> Strike | None:
        strike = self.world.call(call, name, what)
        if strike is Strike.THROTTLE:
            self.world.pause(THROTTLED_MS)
        return strike

    def _write(
        self, call: Call, what: object, apply: Callable[[], Written | Refused]
    ) -> Written | Refused:
        strike = self.world.call(call, call.value, what)
        match strike:
            case Strike.THROTTLE:
                self.world.pause(THROTTLED_MS)
            case Strike.CONFLICT:
                self.world.pause(CONFLICT_MS)
            case Strike.LATE:
                self.world.spawn_echo(f"a late {call}", apply, LATE_MS)
                self.world.pause(GIVE_UP_MS)
                raise Fault(f"a {call} got no answer")
        point = self.world.point
        result = apply()
        point.is_effective = isinstance(result, Written)
        match strike:
            case Strike.CRASH_AFTER:
                self.world.crash()
            case Strike.NO_ANSWER:
                self.world.pause(GIVE_UP_MS)
                raise Fault(f"a {call} got no answer")
            case Strike.LOST_ANSWER:
                self.world.pause(REPEAT_MS)
                result = apply()
        if isinstance(result, Refused):
            self.world.note(f"     refused: {result}")
        return result

    def _apply(self, write: Put | Update | Delete) -> Written | Refused:
        before = self.inner.peek(write.key)
        result = self.inner.write(write)
        if isinstance(result, Written):
            self.watch.wrote(write.key, before, self.inner.peek(write.key))
            self.watch.found_by[getcurrent()] = before
            if write.condition:
                self._last_writes[write.key] = write
        elif self._last_writes.get(write.key) is write:
            return Written(result.item)  # our own id is on it: we were first
        return result

    def _apply_all(self, writes: Sequence[Write], token: str) -> Written | Refused:
        before = [self.inner.peek(write.key) for write in writes]
        result = self.inner.transact(writes, token)
        if isinstance(result, Written):
            for write, old in zip(writes, before, strict=True):
                new = self.inner.peek(write.key)
                if new is not old:  # a repeat under the same token does nothing
                    self.watch.wrote(write.key, old, new)
        return result


@dataclass(frozen=True, slots=True)
class WatchedQueues:
    """Queues as they are: watched, but not struck; waiting for a message lets others act."""

    world: World
    inner: MemoryQueues
    watch: Watch

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        if messages:
            self.inner.send(queue, messages)
            self.watch.sent(queue, messages)
            self.world.notify(queue)

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        return self.take(queue, limit, visibility_s, self.world.now_ms + wait_s * 1000)

    def take(
        self, queue: str, limit: int, visibility_s: int, until_ms: int | None
    ) -> list[Received]:
        """Receive, waiting for the first message until a time, or without end."""
        while True:
            received = self.inner.receive(queue, limit, visibility_s, 0)
            if received or (until_ms is not None and self.world.now_ms >= until_ms):
                self.watch.received(queue, received, visibility_s)
                return received
            self._wait(queue, until_ms)

    def await_message(self, queue: str) -> None:
        """Wait until there is something to receive, also if the queue is not there yet."""
        while not self.inner.count(queue) or not self.inner.visible(queue):
            self._wait(queue, None)

    def _wait(self, queue: str, until_ms: int | None) -> None:
        """Wait until something may have become visible, or until a time."""
        next_ms = self.watch.visible_in_ms(queue)
        times = [] if until_ms is None else [until_ms]
        times += [] if next_ms is None else [self.world.now_ms + next_ms]
        self.world.wait(queue, min(times, default=None))

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        self.inner.delete(queue, receipts)
        self.watch.deleted(queue, receipts)

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        self.inner.show_again(queue, receipt, after_s)
        self.watch.shown(queue, after_s)
        self.world.notify(queue)

    def ensure(self, queue: str) -> str:
        return self.inner.ensure(queue)

    def names(self) -> list[str]:
        return self.inner.names()

    def count(self, queue: str) -> int:
        return self.inner.count(queue)


@dataclass(frozen=True, slots=True)
class StruckQueues:
    """Queues whose calls are struck."""

    world: World
    inner: WatchedQueues

    @taped
    def send(self, queue: str, messages: Sequence[Message]) -> None:
        strike = self.world.call(Call.SEND, "send", queue, messages)
        if strike is Strike.PARTIAL:
            self.inner.send(queue, messages[: len(messages) // 2])
            raise Fault("a part of the batch was not sent")
        if strike is Strike.LATE:
            messages = [
                replace(m, delay_s=min(m.delay_s + LATE_MESSAGE_S, DELAY_MAX_S)) for m in messages
            ]
        self.inner.send(queue, messages)
        if strike is Strike.DUPLICATE:
            self.inner.send(queue, messages)
        if strike is Strike.CRASH_AFTER:
            self.world.crash()
        if strike is Strike.LOST_ANSWER:
            raise Fault(f"the answer to a send to {queue} was lost")

    @taped
    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        strike = self.world.call(Call.RECEIVE, "receive", queue)
        point = self.world.point
        received = self.inner.receive(queue, limit, visibility_s, wait_s)
        point.is_effective = bool(received)
        if strike is Strike.CRASH_AFTER:
            self.world.crash()
        if strike is Strike.LOST_ANSWER:
            return []
        if strike is Strike.DUPLICATE:
            self.inner.send(queue, [Message(one.body) for one in received])
        return received

    @taped
    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        strike = self.world.call(Call.DELETE, "delete", queue, receipts)
        if strike is not Strike.DUPLICATE:
            self.inner.delete(queue, receipts)
        if strike is Strike.CRASH_AFTER:
            self.world.crash()

    @taped
    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        self.world.call(Call.SHOW, "show again", queue, after_s)
        self.inner.show_again(queue, receipt, after_s)

    @taped
    def ensure(self, queue: str) -> str:
        strike = self.world.call(Call.ENSURE, "ensure", queue)
        arn = self.inner.ensure(queue)
        if strike is Strike.CRASH_AFTER:
            self.world.crash()
        if strike is Strike.LOST_ANSWER:
            raise Fault(f"the answer to making {queue} was lost")
        return arn

    def names(self) -> list[str]:
        return self.inner.names()

    def count(self, queue: str) -> int:
        return self.inner.count(queue)


@dataclass(frozen=True, slots=True)
class StruckSchedules:
    """Schedules whose calls are struck; each fires by itself when its time has come."""

    world: World
    inner: MemorySchedules
    watch: Watch

    @taped
    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        strike = self.world.call(Call.SCHEDULE, "schedule", name, at)
        self._plan(name, at + LATE_SCHEDULE if strike is Strike.LATE else at, queue, body)
        if strike is Strike.CRASH_AFTER:
            self.world.crash()
        if strike is Strike.LOST_ANSWER:
            raise Fault(f"the answer to the schedule {name} was lost")

    def _plan(self, name: str, at: datetime, queue: str, body: str) -> None:
        if name in self.inner.planned:
            return
        self.inner.create(name, at, queue, body)
        self.watch.scheduled(body)
        wait_ms = (at - self.world.now()) // timedelta(milliseconds=1)
        self.world.spawn(f"schedule {name}", lambda: self._fire(body), max(0, wait_ms))

    def _fire(self, body: str) -> None:
        self.inner.fire_due()
        self.watch.fired(body)


@dataclass(frozen=True, slots=True)
class StruckClock:
    """The clock of the process that asks, which may be wrong; waiting lets others act."""

    world: World

    def now(self) -> datetime:
        return self.world.local_now()

    @taped
    def sleep(self, seconds: float) -> None:
        self.world.pause(round(seconds * 1000))

    def is_stopping(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class StruckChance:
    """Chance that all processes share, so that each draw is one of their calls."""

    world: World
    inner: SeededChance

    @taped
    def id(self) -> str:
        return self.inner.id()

    @taped
    def share(self) -> float:
        return self.inner.share()


class TrueClock(ManualClock):
    """The true time, for queues and schedules."""

    def __init__(self, world: World) -> None:
        super().__init__(world.now())
        self._world = world

    def now(self) -> datetime:
        return self._world.now()
