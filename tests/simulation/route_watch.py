"""Message routing as it really went: what waits in channels, and what must be true of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from zlib import crc32

from chalicelib.ports import Item, ItemKey
from chalicelib.routing.messages import Entry, Group, Place, State
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row
from chalicelib.store import entries, routing_keys
from tests.simulation.faults import Call
from tests.simulation.tape import taped
from tests.simulation.world import World

# What a message may become in one write; one that failed may be tried again by an operator.
FINAL = frozenset(State) - {State.WAITING, State.FAILED}

Answers = Callable[[int], int]  # the status that the n-th call is answered by, from 1


@dataclass(slots=True)
class RouteWatch:
    """Who sees each write of a message in a channel, and of a group.

    Shapes: `waiting` and `groups` are those that are not at their end; `put` holds each
        acknowledged message; `calls` counts those made, by idempotency key.
    """

    complain: Callable[[str], None]
    waiting: dict[ItemKey, Entry] = field(default_factory=dict)
    groups: dict[ItemKey, Group] = field(default_factory=dict)
    put: set[Place] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def is_played(self) -> bool:
        """Whether every message and every group came to its end."""
        return not (self.waiting or self.groups)

    def wrote(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        """Check one write that took effect."""
        if key.pk.startswith(routing_keys.ENTRY):
            self._wrote_entry(key, before, after)
        elif key.sk == routing_keys.OPEN_GROUP:
            self._wrote_group(key, before, after)

    def _wrote_entry(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        if after is None:
            self.complain(f"a message {key.pk} was deleted")
            return
        entry = entries.to_entry(after)
        was = None if before is None else entries.to_entry(before)
        if was is not None and was.nonce != entry.nonce:
            self.complain(f"message {entry.place} took the place of another")
        elif was is not None and (was.state in FINAL or entry.revision != was.revision + 1):
            self.complain(f"message {entry.place} went from {was.state} to {entry.state}")
        if entry.state is State.WAITING:
            self.waiting[key] = entry
        else:
            self.waiting.pop(key, None)

    def _wrote_group(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        was = None if before is None else entries.to_group(before)
        if after is None:
            self.groups.pop(key, None)
            return
        group = entries.to_group(after)
        if was is not None and was.members != group.members[:-1]:
            self.complain(f"group {group.id} went from {was.members} to {group.members}")
        self.groups[key] = group


def is_routed(key: ItemKey) -> bool:
    """Say whether an item is watched here."""
    return key.pk.startswith((routing_keys.ENTRY, routing_keys.GROUP))


def number_of(body: str) -> tuple[str, int, int] | None:
    """Return what a message of the queue is about, None if it is of another queue."""
    said = json.loads(body)
    if "handle" in said:
        return "handle", crc32(said["nonce"].encode()), said["revision"]
    return ("group", crc32(said["group"].encode()), 0) if "group" in said else None


def awaited(key: ItemKey, item: Item) -> tuple[tuple[str, int, int], int] | None:
    """Return of which message an item waits, and for when; None if it waits for none."""
    if key.pk.startswith(routing_keys.ENTRY):
        entry = entries.to_entry(item)
        if entry.state is not State.WAITING:
            return None
        due = fields_ms(item, "due")
        return ("handle", crc32(entry.nonce.encode()), entry.revision), due
    if key.sk != routing_keys.OPEN_GROUP:
        return None
    return ("group", crc32(str(item["id"]).encode()), 0), fields_ms(item, "due")


def fields_ms(item: Item, name: str) -> int:
    """Return a time of an item in epoch milliseconds."""
    return int(str(item[name]))


@dataclass(frozen=True, slots=True)
class PlayedCalls:
    """Calls URLs for routed messages: each takes a while, and whoever makes it may die."""

    world: World
    watch: RouteWatch
    answers: Answers
    work_ms: int = 200

    @taped
    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        self.world.call(Call.WORK, "call", job.http.url, row.attempt)
        started_at = self.world.local_now()
        self.watch.calls[row.run_id] += 1
        self.world.pause(self.work_ms)
        status = self.answers(row.attempt)
        is_done = 200 <= status < 300
        return Attempt(
            Outcome.SUCCEEDED if is_done else Outcome.FAILED,
            started_at,
            self.world.local_now(),
            status_code=status,
            error="" if is_done else f"found {status}",
        )
