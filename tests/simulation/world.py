"""One simulated afternoon: actors that take turns, a clock that jumps, strikes as planned."""

from __future__ import annotations

import heapq
import itertools
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar, cast

from greenlet import GreenletExit, getcurrent, greenlet

from chalicelib.errors import Conflict, Rejected
from chalicelib.ports import Table
from tests.simulation.faults import MAY_STRIKE, Call, Plan, Point, Strike
from tests.simulation.tape import Kept, Script, Tape, record, replay

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FUNCTION_TIMEOUT_MS = 30_000  # of every function that commits (design section 4, "Time")
STALL_MS = 25_000  # longer than the commit window of 20 s, shorter than the function's timeout
WORK_STALL_MS = 70_000  # longer than any lock that a scenario asks for
STEPS_MAX = 20_000  # calls of one run: one that makes more goes in circles

T = TypeVar("T")


class Crash(BaseException):
    """The process of an invocation died; only the invocation itself may catch it."""

    def __init__(self, invocation: Invocation) -> None:
        super().__init__(invocation.name)
        self.invocation = invocation


class Fault(Exception):
    """A call failed in a way that its caller cannot explain: a fault of AWS's."""


class Told(BaseException):
    """What follows is told by another run: the process ended as if it had died of its last call."""


class NoAnswer(Exception):
    """A client got no answer, or one that says nothing of the outcome (5xx)."""


@dataclass(eq=False, slots=True)
class Invocation:
    """A process while it serves one request or one batch; its clock may be wrong."""

    name: str
    skew_ms: int
    began_ms: int
    timeout_ms: int | None
    is_dead: bool = False


@dataclass(eq=False, slots=True)
class Actor:
    """Somebody who acts on his own: a client, a worker, a queue's mapping, an operator."""

    name: str
    thread: greenlet
    ticket: int = 0  # entries of the agenda with another number are out of date
    channel: str | None = None
    stack: list[Invocation] = field(default_factory=list)
    tape: Tape | None = None  # of the process it is, if that is recorded


# When somebody acts next: the time, who goes first of those due then, and his ticket.
Entry = tuple[int, float, int, int, Actor]


def _is_outdated(entry: Entry) -> bool:
    return entry[3] != entry[4].ticket or entry[4].thread.dead


class World:
    """Who acts when, and what strikes whom."""

    def __init__(
        self,
        plan: Plan,
        trace: Callable[[str], None] | None = None,
        script: Script | None = None,
        *,
        is_cut: bool = False,
    ) -> None:
        self.plan = plan
        self.cast: dict[type, Any] = {}  # the ports, by their types
        self.store: Table
        self._script = script
        self._is_cut = is_cut  # where another run tells the rest
        self._turns = 0
        self._lost: tuple[Point, int] | None = None  # the latest lost answer, and in which turn
        self.now_ms = 0
        self._now = 0, BEGIN  # asked for more often than it changes
        self.calls = 0
        self.violations: list[str] = []
        self.struck: list[str] = []
        self.points: list[Point] = []  # the calls that could be struck
        self.point: Point  # the latest call
        self.healed = False
        self.echoes = 0  # calls that are still to take effect
        self._trace = trace
        self._agenda: list[Entry] = []
        self._until_ms = 0  # the end of the run that goes on, and when it is done
        self._is_done: Callable[[], bool] = lambda: False
        self._count = itertools.count()
        self._actors: list[Actor] = []
        self._hub = getcurrent()
        self._actor: Actor | None = None

    @property
    def actor(self) -> Actor | None:
        """Return who acts now."""
        return self._actor

    # --- time and turns ----------------------------------------------------------------------

    def now(self) -> datetime:
        """Return the true time."""
        if self._now[0] != self.now_ms:
            self._now = self.now_ms, BEGIN + timedelta(milliseconds=self.now_ms)
        return self._now[1]

    def local_now(self) -> datetime:
        """Return the time as the current process believes it to be."""
        skew = self._actor.stack[-1].skew_ms if self._actor and self._actor.stack else 0
        return self.now() + timedelta(milliseconds=skew) if skew else self.now()

    def spawn(self, name: str, act: Callable[[], None], after_ms: int = 0) -> None:
        """Let somebody act, from a time on."""
        actor = Actor(name, greenlet(partial(self._live, name, act), self._hub))
        self._actors.append(actor)
        self._plan_turn(actor, self.now_ms + after_ms)

    def spawn_echo(self, name: str, act: Callable[[], object], after_ms: int) -> None:
        """Let a call take effect again, or later than its caller believes."""
        self.echoes += 1

        def live() -> None:
            try:
                act()
            finally:
                self.echoes -= 1

        self.spawn(name, live, after_ms)

    def pause(self, ms: int) -> None:
        """Let the current actor wait while others act, if any of them acts before."""
        actor = self._current()
        actor.ticket += 1
        entry = (self.now_ms + ms, self.plan.order(), next(self._count), actor.ticket, actor)
        if self._is_next(entry):
            self.now_ms = entry[0]
            self._turns += 1
            return
        heapq.heappush(self._agenda, entry)
        self._hub.switch()

    def _is_next(self, entry: Entry) -> bool:
        """Say whether `run` would let go on at once who has this entry, not on the agenda yet."""
        while self._agenda and _is_outdated(self._agenda[0]):
            heapq.heappop(self._agenda)
        is_first = not self._agenda or entry < self._agenda[0]
        is_in_time = entry[0] <= self._until_ms and self.calls <= STEPS_MAX
        return is_first and is_in_time and not self._is_done()

    def wait(self, channel: str, until_ms: int | None) -> None:
        """Let the current actor wait until the channel is notified, or until a time."""
        actor = self._current()
        actor.channel = channel
        actor.ticket += 1
        if until_ms is not None:
            self._plan_turn(actor, max(until_ms, self.now_ms))
        self._hub.switch()

    def notify(self, channel: str) -> None:
        """Wake all who wait on the channel."""
        for actor in self._actors:
            if actor.channel == channel:
                actor.channel = None
                self._plan_turn(actor, self.now_ms)

    def run(self, until_ms: int, is_done: Callable[[], bool] = lambda: False) -> bool:
        """Let all act until a time, or until it is done; return whether it is done."""
        self._until_ms, self._is_done = until_ms, is_done
        while self._agenda and not is_done():
            at_ms, *_, actor = entry = self._agenda[0]
            if at_ms > until_ms:
                break
            heapq.heappop(self._agenda)
            if _is_outdated(entry):
                continue
            if self.calls > STEPS_MAX:
                self.violations.append(f"more than {STEPS_MAX} calls: it goes in circles")
                break
            self.now_ms = max(self.now_ms, at_ms)
            actor.channel = None
            self._actor = actor
            self._turns += 1
            actor.thread.switch()
            self._actor = None
        else:
            return is_done()
        self.now_ms = max(self.now_ms, until_ms)
        return is_done()

    def skip(self, ms: int) -> None:
        """Let time pass in which nobody acts: what waits is late by so much at most."""
        self.now_ms += ms

    def end(self) -> None:
        """Let everybody go home."""
        for actor in self._actors:
            self._actor = actor
            if not actor.thread.dead:
                actor.thread.throw(GreenletExit)
        self._actors.clear()
        self._agenda.clear()

    def _current(self) -> Actor:
        if self._actor is None:
            raise AssertionError("only an actor may wait")
        return self._actor

    def _plan_turn(self, actor: Actor, at_ms: int) -> None:
        actor.ticket += 1
        entry = (at_ms, self.plan.order(), next(self._count), actor.ticket, actor)
        heapq.heappush(self._agenda, entry)

    def _live(self, name: str, act: Callable[[], None]) -> None:
        try:
            act()
        except GreenletExit:
            raise
        except Exception:
            self.violations.append(f"{name} raised {traceback.format_exc()}")

    # --- processes ---------------------------------------------------------------------------

    @contextmanager
    def process(
        self, name: str, timeout_ms: int | None = FUNCTION_TIMEOUT_MS
    ) -> Iterator[Invocation]:
        """Run a process of its own, with its own clock; a Crash of it comes out as NoAnswer."""
        stack = self._current().stack
        skew_ms = 0 if self.healed else self.plan.skew_ms()
        invocation = Invocation(name, skew_ms, self.now_ms, timeout_ms)
        stack.append(invocation)
        try:
            yield invocation
        except Crash as crash:
            if crash.invocation is not invocation:
                raise
            raise NoAnswer(f"{name} died") from None
        finally:
            stack.pop()

    def request(self, name: str, operation: Callable[[], T]) -> T:
        """Call our API as a client does, over a wire that loses and repeats.

        Raises: Rejected as the API answers it; NoAnswer if the outcome is unknown.
        """
        strike = self.call(Call.REQUEST, name)
        point = self.point
        if strike is Strike.LOST_REQUEST:
            raise NoAnswer(f"{name} never arrived")
        if strike is Strike.DUPLICATE:
            self.spawn_echo(f"{name} again", lambda: self.serve_unheard(name, operation), 30)
        point.is_answered = False
        answer = self._serve(name, operation, point)
        point.is_answered = True
        self.pause(self.plan.latency_ms())
        if strike is Strike.LOST_ANSWER:
            raise NoAnswer(f"the answer of {name} was lost")
        return answer

    def _serve(self, name: str, operation: Callable[[], T], point: Point | None = None) -> T:
        try:
            with self.process(name) as process:
                answer = self.perform(operation)
            if point is not None and not self.healed:
                point.begins = process
            return answer
        except Rejected as rejected:
            self.note(f"{name} is refused: {rejected}")
            raise
        except (Fault, Conflict) as error:
            self.end_as_dead(process)
            raise NoAnswer(f"{name}: {error}") from None

    def serve_unheard(self, name: str, operation: Callable[[], object]) -> None:
        """Serve a request whose client does not wait for the answer."""
        try:
            self._serve(name, operation)
        except (Rejected, NoAnswer):
            return

    # --- tapes -------------------------------------------------------------------------------

    def perform(self, operation: Callable[[], T]) -> T:
        """Let the code of a process run, or make the calls that it is known to make.

        Shapes: it changes nothing but by ports, and its answer is not changed.
        """
        if self._script is None:
            return operation()
        tape, is_known = self._script.next()
        if is_known:
            return cast(T, replay(self, tape))
        return record(self, tape, operation) if self._script.is_recording else operation()

    def keep(self) -> Kept:
        """Return what is remembered of the table now."""
        return () if self._script is None else self._script.keep(self.store)

    def bring_back(self, kept: Kept) -> None:
        """Let that be remembered of the table which was."""
        if self._script is not None:
            self._script.bring_back(self.store, kept)

    # --- calls -------------------------------------------------------------------------------

    def call(self, kind: Call, name: str, *about: object) -> Strike | None:
        """Take part in the world: wait, let others act, and learn what strikes this call.

        A crash before, a request that is lost or a stall has happened when this returns or
        raises; the rest is for the wrapper to do.
        """
        self.pause(self.plan.latency_ms())
        strike = None if self.healed else self.plan.strike(self.calls, kind)
        self.calls += 1
        stack = self._current().stack
        self.point = Point(kind, stack[-1] if stack else self._actor)
        if not self.healed:
            self.points.append(self.point)
        if self._trace:
            struck = f"   <-- {strike}" if strike else ""
            self.note(f"{self.calls - 1:4} {name} {' '.join(map(str, about))}{struck}")
        if strike:
            self.struck.append(f"{self.calls - 1}:{strike}")
        if strike is Strike.LOST_ANSWER and Strike.CRASH_AFTER in MAY_STRIKE[kind]:
            self._lost = self.point, self._turns
        if strike is Strike.STALL:
            self.pause(WORK_STALL_MS if kind is Call.WORK else STALL_MS)
        self._die_if_over()
        if strike is Strike.CRASH_BEFORE:
            self.crash()
        if strike is Strike.LOST_REQUEST and kind is not Call.REQUEST:
            raise Fault(f"{name} failed")
        return strike

    def _die_if_over(self) -> None:
        """Let a process die that is dead already, or has run for longer than it may."""
        for process in self._current().stack:
            if process.is_dead:
                raise Crash(process)
            if process.timeout_ms and self.now_ms - process.began_ms > process.timeout_ms:
                self.note(f"{process.name} timed out")
                process.is_dead = True
                raise Crash(process)

    def end_as_dead(self, process: Invocation) -> None:
        """Note that a process ends and leaves nothing but what its calls did.

        If it was its latest call that lost its answer, and nobody acted since, all is as if it had
        crashed after that call.
        Raises: Told, if this run is cut where another one tells the rest.
        """
        if self._lost is None or self._lost[1] != self._turns:
            return
        point = self._lost[0]
        point.ends = point is self.point and point.process is process
        if point.ends and self._is_cut and len(self.struck) == len(self.plan.strikes):
            raise Told

    def crash(self) -> None:
        """Let the current process die."""
        stack = self._current().stack
        if not stack:
            raise AssertionError("only a process can die")
        stack[-1].is_dead = True
        raise Crash(stack[-1])

    def complain(self, violation: str) -> None:
        """Note that an invariant is broken."""
        self.note(f"!!! {violation}")
        self.violations.append(violation)

    def note(self, text: str) -> None:
        """Add a line to the trace, if there is one."""
        if self._trace:
            actor = self._actor.name if self._actor else "-"
            self._trace(f"{self.now_ms / 1000:10.3f} {actor:20} {text}")
