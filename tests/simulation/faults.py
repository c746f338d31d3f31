"""What may strike a call, which calls it may strike, and the plan of one run."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Call(StrEnum):
    """The kinds of calls an actor makes; each one is a point where the world may go wrong."""

    READ = "read"
    READ_MANY = "read many"
    WRITE = "write"
    TRANSACT = "transact"
    SEND = "send"
    RECEIVE = "receive"
    DELETE = "delete"
    SHOW = "show again"
    SCHEDULE = "schedule"
    ENSURE = "ensure"  # a queue is made
    REQUEST = "request"  # HTTP: a client calls our API
    DELIVER = "deliver"  # SQS mapping: a batch goes to a function
    WORK = "work"  # a worker does what the job asks


class Strike(StrEnum):
    """What goes wrong at a call."""

    CRASH_BEFORE = "crash-before"  # the process dies, the call was not made
    CRASH_AFTER = "crash-after"  # the process dies, the call took effect
    LOST_REQUEST = "lost-request"  # nothing took effect, the caller gets a fault
    LOST_ANSWER = "lost-answer"  # it took effect; the port repeats it, or the caller gets a fault
    NO_ANSWER = "no-answer"  # it took effect; the table's deadline passes and a fault comes out
    DUPLICATE = "duplicate"  # it takes effect twice
    LATE = "late"  # it takes effect later than the caller believes
    THROTTLE = "throttle"  # it is repeated after a while
    CONFLICT = "conflict"  # TransactionConflict: it is repeated at once
    PARTIAL = "partial"  # a part of a batch takes effect, the caller gets a fault
    TORN = "torn"  # the items of a batch are read at different moments
    STALL = "stall"  # the process stands still for longer than the commit window


_READ = (Strike.CRASH_BEFORE, Strike.LOST_REQUEST, Strike.THROTTLE, Strike.STALL)
_WRITE = (
    Strike.CRASH_BEFORE,
    Strike.CRASH_AFTER,
    Strike.LOST_REQUEST,
    Strike.LOST_ANSWER,
    Strike.NO_ANSWER,
    Strike.LATE,
    Strike.THROTTLE,
    Strike.STALL,
)

MAY_STRIKE: Mapping[Call, tuple[Strike, ...]] = {
    Call.READ: _READ,
    Call.READ_MANY: (*_READ, Strike.TORN),
    Call.WRITE: _WRITE,
    Call.TRANSACT: (*_WRITE, Strike.CONFLICT),
    Call.SEND: (
        Strike.CRASH_BEFORE,
        Strike.CRASH_AFTER,
        Strike.LOST_REQUEST,
        Strike.LOST_ANSWER,
        Strike.DUPLICATE,
        Strike.LATE,
        Strike.PARTIAL,
        Strike.STALL,
    ),
    Call.RECEIVE: (
        Strike.CRASH_BEFORE,
        Strike.CRASH_AFTER,
        Strike.LOST_REQUEST,
        Strike.LOST_ANSWER,
        Strike.DUPLICATE,
    ),
    Call.DELETE: (
        Strike.CRASH_BEFORE,
        Strike.CRASH_AFTER,
        Strike.LOST_REQUEST,
        Strike.DUPLICATE,
    ),
    Call.SHOW: (Strike.CRASH_BEFORE, Strike.LOST_REQUEST),
    Call.SCHEDULE: (
        Strike.CRASH_BEFORE,
        Strike.CRASH_AFTER,
        Strike.LOST_REQUEST,
        Strike.LOST_ANSWER,
        Strike.LATE,
        Strike.STALL,
    ),
    Call.ENSURE: (
        Strike.CRASH_BEFORE,
        Strike.CRASH_AFTER,
        Strike.LOST_REQUEST,
        Strike.LOST_ANSWER,
    ),
    Call.REQUEST: (Strike.LOST_REQUEST, Strike.LOST_ANSWER, Strike.DUPLICATE),
    Call.DELIVER: (Strike.DUPLICATE, Strike.LATE, Strike.LOST_ANSWER),
    Call.WORK: (Strike.CRASH_BEFORE, Strike.STALL),
}

PAIRED = frozenset({Strike.CRASH_BEFORE, Strike.CRASH_AFTER, Strike.LOST_ANSWER, Strike.DUPLICATE})
LASTING = frozenset({Call.WRITE, Call.TRANSACT, Call.SCHEDULE, Call.ENSURE})
READS = frozenset({Call.READ, Call.READ_MANY})


@dataclass(slots=True)
class Point:
    """A call that could be struck: by whom it was made, and whether it changed anything.

    Shapes: `begins` is the process that serves a request or a batch, if it was over before the
        world healed, and `is_answered` says whether there was an answer to lose; `ends` that its
        process ended by the answer that this call lost, as if it had crashed.
    """

    call: Call
    process: object
    is_effective: bool = True
    begins: object = None
    is_answered: bool = True
    ends: bool = False


def last_effect(points: Sequence[Point]) -> int:
    """Return the number of the latest call that changed more than queues, -1 if none did."""
    changing = (i for i, point in enumerate(points) if point.call in LASTING and point.is_effective)
    return max(changing, default=-1)


def ones(points: Sequence[Point]) -> list[tuple[int, Strike]]:
    """Return the calls, by number, each with every strike it may suffer."""
    return [(i, strike) for i, point in enumerate(points) for strike in MAY_STRIKE[point.call]]


def paired(points: Sequence[Point], start: int) -> list[tuple[int, Strike]]:
    """Return the calls from a number on, each with the strikes of PAIRED that differ.

    A process that dies between two calls that change something leaves the same behind wherever
    it dies: of these crashes the first is taken. A call that changed nothing has no effect to
    double and no answer to lose that a lost request would not lose. A request whose answer is lost
    leaves the same behind as its process that died after its last effect; where there was none, or
    no answer to lose, it leaves what another run does.
    """
    found: list[tuple[int, Strike]] = []
    latest: dict[int, Point] = {}  # of each process, from the start on
    last: dict[int, Point] = {}  # of each process, in all
    for point in points:
        if point.call not in READS or last.get(id(point.process), point).call in READS:
            last[id(point.process)] = point
    for index in range(start, len(points)):
        point = points[index]
        for strike in MAY_STRIKE[point.call]:
            if strike not in PAIRED or _is_spare(strike, point, latest.get(id(point.process))):
                continue
            if strike is Strike.LOST_ANSWER and _is_as_dead(point, last.get(id(point.begins))):
                continue
            found.append((index, strike))
        latest[id(point.process)] = point
    return found


def _is_spare(strike: Strike, point: Point, before: Point | None) -> bool:
    """Say whether another strike leaves the same behind; `before` is the process's call before."""
    match strike:
        case Strike.CRASH_BEFORE:
            return before is not None and (
                before.call in READS or Strike.CRASH_AFTER in MAY_STRIKE[before.call]
            )
        case Strike.CRASH_AFTER:
            return not point.is_effective
        case _:
            return point.call is Call.RECEIVE and not point.is_effective


def _is_as_dead(point: Point, last: Point | None) -> bool:
    """Say whether what loses the answer of a request or batch leaves the same as another run;
    `last` is the latest call of the process that served it, a read only if there are but reads."""
    if point.call not in (Call.REQUEST, Call.DELIVER):
        return False
    if not point.is_answered:
        return True
    if last is None:
        return False
    return last.call in READS or (last.is_effective and Strike.CRASH_AFTER in MAY_STRIKE[last.call])


LATENCIES_MS = (0, 0, 1, 2, 5, 10, 50, 200)
SKEWS_MS = (-1000, 0, 1000)  # two seconds between the fastest and the slowest clock
CALM_LATENCY_MS = 2
JITTER_MS = 60


@dataclass(slots=True)
class Plan:
    """What happens in one run: who waits how long, whose clock is wrong, what strikes when.

    Shapes: `strikes` by the number of the call, from 0 in the order the calls took place;
        seed 0 is calm: equal latencies and right clocks.
    """

    seed: int = 0
    strikes: Mapping[int, Strike] = field(default_factory=dict)
    rate: float = 0.0  # of calls that are struck at random
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def latency_ms(self) -> int:
        """Return how long the next call waits before it takes effect."""
        if not self.seed:
            return CALM_LATENCY_MS
        return LATENCIES_MS[int(self.chance.random() * len(LATENCIES_MS))]

    def skew_ms(self) -> int:
        """Return how wrong the clock of the next process is."""
        return SKEWS_MS[int(self.chance.random() * len(SKEWS_MS))] if self.seed else 0

    def jitter_ms(self) -> int:
        """Return by how much somebody who acts by himself is early or late."""
        return round((self.chance.random() - 0.5) * 2 * JITTER_MS) if self.seed else 0

    def order(self) -> float:
        """Return who goes first of those that are due at the same moment: the smallest."""
        return self.chance.random() if self.seed else 0.0

    def strike(self, index: int, call: Call) -> Strike | None:
        """Return what strikes this call."""
        if self.strikes:
            planned = self.strikes.get(index)
            if planned is not None and planned in MAY_STRIKE[call]:
                return planned
        if self.rate and self.chance.random() < self.rate:
            kinds = MAY_STRIKE[call]
            return kinds[int(self.chance.random() * len(kinds))]
        return None

    def __str__(self) -> str:
        struck = ",".join(f"{index}:{strike}" for index, strike in sorted(self.strikes.items()))
        rate = f" --rate {self.rate}" if self.rate else ""
        return f"--seed {self.seed}{rate}" + (f" --strikes {struck}" if struck else "")
