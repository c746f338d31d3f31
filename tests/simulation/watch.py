"""What really took effect, and whether it was right: the invariants that hold at every moment.

The wrapped ports tell the watch each write, message and schedule that took effect. It keeps
which messages are alive, so that it can say at once, not after a day of waiting, when an open
job has lost its bell or a timer its message.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from chalicelib.engine.state import USER_TASK
from chalicelib.ports import HISTORY, Item, ItemKey, Message, Received
from chalicelib.store import execution
from chalicelib.store.table import SCHEDULED_JOB
from tests.simulation.changes import ENDED, SKEW_TOLERATED_MS, number, wrong_changes
from tests.simulation.route_watch import RouteWatch, awaited, is_routed, number_of
from tests.simulation.run_watch import RunWatch

ENDS = 12  # where a live element's row says that a child of it was asked to end


class Subject(NamedTuple):
    """What a message is about: a job's bell, a timer, a command; with its number."""

    kind: str
    key: int
    number: int


@lru_cache(maxsize=4096)
def time_of(body: str) -> int:
    """Return the time a message is for, in epoch milliseconds; a command is for at once."""
    said = json.loads(body)
    at: int = said.get("at") or said.get("due") or 0
    return at


@lru_cache(maxsize=4096)
def subject_of(body: str) -> Subject:
    """Return what a message body is about."""
    said = json.loads(body)
    if (routed := number_of(body)) is not None:
        return Subject(*routed)
    if "instance" not in said and "job" not in said:
        return Subject("other", 0, 0)
    if "job" in said:
        return Subject("bell", said["job"], said["number"])
    if "timer" in said:
        return Subject("timer", said["timer"], said["due"])
    return Subject("command", said["instance"], said.get("version", 0))


class Watch:
    """The one who sees everything and forgives nothing."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        find: Callable[[ItemKey], Item | None],
        complain: Callable[[str], None],
    ) -> None:
        self._now_ms = now_ms  # epoch milliseconds, the true time
        self._find = find
        self._complain = complain
        self._alive: dict[Subject, list[int]] = {}  # the times its messages are for
        self._held: dict[str, str] = {}  # bodies of received messages
        self._is_forgiving = False
        self._visible: dict[str, list[int]] = {}
        self._places: dict[Subject, ItemKey] = {}
        self.roots: dict[int, Item] = {}
        self.open_roots: set[int] = set()
        # Timers that ended before their time and not, by instance and element.
        self.early_timers = Counter[tuple[int, str]]()
        self.due_timers = Counter[tuple[int, str]]()
        self.messages = 0  # in queues and schedules
        self.caps: dict[str, int] = {}  # how many jobs a client may hold
        self.found_by: dict[object, Item | None] = {}  # by the latest single write of an actor
        self.jobs: dict[str, Item] = {}  # as they are, by sort key
        self.runs = RunWatch(now_ms, complain)
        self.routes = RouteWatch(complain)

    # --- messages ----------------------------------------------------------------------------

    def sent(self, queue: str, messages: Sequence[Message]) -> None:
        for message in messages:
            self._begin(message.body)
            self.shown(queue, message.delay_s)

    def shown(self, queue: str, after_s: int) -> None:
        heappush(self._visible.setdefault(queue, []), self._now_ms() + after_s * 1000)

    def received(self, queue: str, received: Sequence[Received], visibility_s: int) -> None:
        for message in received:
            self._held[_number_of(queue, message.receipt)] = message.body
            self.shown(queue, visibility_s)

    def deleted(self, queue: str, receipts: Sequence[str]) -> None:
        for receipt in receipts:
            body = self._held.pop(_number_of(queue, receipt), None)
            if body is not None:
                self._end(body)
                self._check_missed(subject_of(body))

    def scheduled(self, body: str) -> None:
        self._begin(body)

    def fired(self, body: str) -> None:
        self._end(body)

    def left(self) -> list[Subject]:
        """Return what messages are left about."""
        return sorted(subject for subject, times in self._alive.items() if times)

    def forgive(self) -> None:
        """Expect nothing of messages any more: somebody lost them all."""
        self._is_forgiving = True
        self._alive.clear()
        self._held.clear()
        self.messages = 0

    def _begin(self, body: str) -> None:
        self._alive.setdefault(subject_of(body), []).append(time_of(body))
        self.messages += 1

    def _end(self, body: str) -> None:
        times = self._alive.get(subject_of(body), [])
        if time_of(body) in times:
            times.remove(time_of(body))
            self.messages -= 1

    def is_quiet(self) -> bool:
        """Say whether no message is in a queue and no schedule is planned."""
        return not self.messages

    def visible_in_ms(self, queue: str) -> int | None:
        """Return in how many milliseconds something may become visible in the queue."""
        times, now = self._visible.get(queue, []), self._now_ms()
        while times and times[0] <= now:
            heappop(times)
        return times[0] - now if times else None

    # --- writes ------------------------------------------------------------------------------

    def wrote(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        """Check one write that took effect."""
        if key.pk.startswith("I#") and _is_retired(before, after):
            return
        if key.table == HISTORY:
            if before is not None and before != after:
                self._complain(f"history {key.sk} of {key.pk} was written twice")
            return
        if key.pk.startswith(SCHEDULED_JOB):
            self.runs.wrote(key, before, after)
            return
        if is_routed(key):
            self.routes.wrote(key, before, after)
            self._wrote_routed(key, after)
            return
        match key.sk[:2]:
            case "R":
                self._wrote_root(key, before, after)
            case "J#":
                self._wrote_job(key, before, after)
            case "T#" if key.pk.startswith("I#"):  # elsewhere it is a version tag
                self._wrote_timer(key, before, after)

    def _wrote_root(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        if after is None:
            self._complain(f"root {key.pk} was deleted")
            return
        if "alias_of" in after:
            return
        was = number(before, "version") if before else 0
        if number(after, "version") != was + 1:
            self._complain(f"root {key.pk} went from version {was} to {number(after, 'version')}")
        if before and before["state"] in ENDED:
            self._complain(f"root {key.pk} was {before['state']!s} and was written again")
        instance = int(key.pk[2:])
        self.roots[instance] = after
        if after["state"] in ENDED:
            self.open_roots.discard(instance)
        else:
            self.open_roots.add(instance)
        if _has_agenda(after):
            subject = Subject("command", instance, number(after, "version"))
            self._places[subject] = key
            self._check_alive(subject, f"the agenda of {key.pk}", self._now_ms())

    def _wrote_job(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        name = f"job {key.sk}"
        if after is None:
            self._complain(f"{name} was deleted")
            return
        if before is not None:
            for wrong in wrong_changes(before, after, self._now_ms()):
                self._complain(f"{name} {wrong}")
        self.jobs[key.sk] = after
        self._check_cap(after)
        self._places[self._bell_of(key, after)] = key
        if _is_open(after):
            out_at = max(self._now_ms(), number(after, "retry_at"), number(after, "lock_until"))
            self._check_alive(self._bell_of(key, after), name, out_at)

    def _wrote_timer(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        if after is not None:
            subject = Subject("timer", int(key.sk[2:]), number(after, "due"))
            self._places[subject] = key
            self._check_alive(subject, f"timer {key.sk}", subject.number)
        elif before is not None:
            of = int(key.pk[2:]), str(before["element_id"])
            is_early = number(before, "due") > self._now_ms() + SKEW_TOLERATED_MS
            (self.early_timers if is_early else self.due_timers)[of] += 1

    def _wrote_routed(self, key: ItemKey, after: Item | None) -> None:
        found = None if after is None else awaited(key, after)
        if found is not None:
            subject, due_ms = Subject(*found[0]), found[1]
            self._places[subject] = key
            self._check_alive(subject, f"{key.pk} {key.sk}", max(self._now_ms(), due_ms))

    def _check_cap(self, claimed: Item) -> None:
        owner, latest = str(claimed.get("owner")), self._now_ms() + SKEW_TOLERATED_MS
        if owner not in self.caps:
            return
        held = [
            item
            for item in self.jobs.values()
            if item.get("owner") == owner
            and item["state"] == "active"
            and number(item, "lock_until") > latest
        ]
        if len(held) > self.caps[owner]:
            self._complain(f"{owner} holds {len(held)} jobs and may hold {self.caps[owner]}")

    # --- what must be alive ------------------------------------------------------------------

    def _check_alive(self, subject: Subject, name: str, at_ms: int) -> None:
        """Complain unless a message of the subject is alive, and for no later than a time."""
        if self._is_forgiving:
            return
        times = self._alive.get(subject)
        if not times:
            self._complain(f"{name} is open and no message of number {subject.number} is alive")
        elif min(times) > at_ms + SKEW_TOLERATED_MS:
            self._complain(f"{name} is out at {at_ms}, its message is for {min(times)}")

    def _check_missed(self, subject: Subject) -> None:
        """Complain if the last message of a subject was deleted that is still waited for."""
        place = self._places.get(subject)
        if self._alive.get(subject) or place is None or self._is_forgiving:
            return
        item = self._find(place)
        if item is None:
            return
        match subject.kind:
            case "bell":
                missed = _is_open(item) and number(item, "ring") == subject.number
            case "timer":
                missed = number(item, "due") == subject.number
            case "handle" | "group":
                found = awaited(place, item)
                missed = found is not None and Subject(*found[0]) == subject
            case _:
                missed = number(item, "version") == subject.number and _has_agenda(item)
        if missed:
            self._complain(f"the last message for {subject.kind} {place.sk} was deleted")

    def _bell_of(self, key: ItemKey, item: Item) -> Subject:
        return Subject("bell", int(key.sk[2:]), number(item, "ring"))


def _number_of(queue: str, receipt: str) -> str:
    """Return what names a message whoever received it: the in-memory receipt begins with it."""
    return f"{queue}/{receipt.split('.', maxsplit=1)[0]}"


def _is_retired(before: Item | None, after: Item | None) -> bool:
    """Say whether an item of an instance was given its time to live, and is as it was else."""
    if before is None or after is None or "expires_at" not in after:
        return False
    return before | {"expires_at": after["expires_at"]} == after


def _is_open(item: Item) -> bool:
    """Say whether a job's item is one that a worker is to get, now or later."""
    is_hold = "owner" in item and "lock_until" not in item
    return item["state"] == "active" and item.get("kind") != USER_TASK and not is_hold


def _has_agenda(root: Item) -> bool:
    """Say whether a root still has moves to make, so that it must be told to continue.

    While a child is asked to end, a purge waits for that one's own command.
    """
    return _is_left(execution.unpack(root["execution"]))


@lru_cache(maxsize=4096)
def _is_left(text: str) -> bool:
    left = json.loads(text)
    is_asked = any(len(row) > ENDS and row[ENDS] for row in left.get("live", ()))
    return bool(left.get("agenda") or (left.get("purges") and not is_asked))
