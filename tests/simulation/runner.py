"""Many runs of a scenario: calm, each single strike, pairs of strikes, random seeds."""

from __future__ import annotations

import gc
import itertools
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from tests.simulation.faults import Plan, Strike, ones, paired
from tests.simulation.scenario import Outcome, Scenario, play
from tests.simulation.tape import Script

RATES = (0.0, 0.01, 0.03, 0.1)  # of calls struck, by turns over the seeds
FAILURES_KEPT = 5  # of one series; the rest says nothing new
DELAYS = frozenset({Strike.THROTTLE, Strike.CONFLICT, Strike.STALL})
COLLECT_EVERY = 50  # runs; whoever makes many lets the cyclic collector run no more often


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that broke an invariant, and how to see it again."""

    scenario: str
    plan: str
    violations: tuple[str, ...]

    def __str__(self) -> str:
        lines = "\n".join(f"    {violation}" for violation in self.violations)
        return f"python -m tests.simulation --scenario {self.scenario} {self.plan}\n{lines}"


@dataclass(slots=True)
class Tally:
    """How many runs were made, and those that failed."""

    runs: int = 0
    calls: int = 0
    told: int = 0  # runs that were cut where another is the same
    possible: int = 0  # pairs there are, run or not
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another tally in."""
        self.runs += other.runs
        self.calls += other.calls
        self.told += other.told
        self.possible += other.possible
        self.seconds += other.seconds
        self.failures = (self.failures + other.failures)[:FAILURES_KEPT]


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Let the cyclic collector run only now and then: by itself it costs a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def try_plan(
    scenario: Scenario,
    plan: Plan,
    tally: Tally,
    script: Script | None = None,
    *,
    is_cut: bool = False,
) -> Outcome:
    """Run once and count it. A failure of a run that was told by tapes is seen again without."""
    began = time.monotonic()
    outcome = play(scenario, plan, None, script, is_cut=is_cut)
    violations = tuple(outcome.violations)
    if violations and script is not None:
        violations = tuple(play(scenario, plan).violations) or ("by its tapes alone:", *violations)
    tally.runs += 1
    if tally.runs % COLLECT_EVERY == 0:
        gc.collect(0)  # nothing of a run outlives it, but what it left in caches
    tally.calls += outcome.calls
    tally.told += outcome.is_told
    tally.seconds += time.monotonic() - began
    if violations and len(tally.failures) < FAILURES_KEPT:
        tally.failures.append(Failure(scenario.name, str(plan), violations))
    return outcome


@rarely_collecting()
def calm(scenario: Scenario) -> Tally:
    """Run once with nothing going wrong."""
    tally = Tally()
    try_plan(scenario, Plan(), tally)
    return tally


@rarely_collecting()
def singles(scenario: Scenario, part: int = 0, parts: int = 1, seed: int = 0) -> Tally:
    """Strike each call in each way it can be struck; `part` takes every `parts`-th call."""
    tally, calm = Tally(), Script()
    for index, strike in ones(play(scenario, Plan(seed), None, calm).points):
        if index % parts == part:
            script = Script(calm.tapes, index, is_recording=False)
            try_plan(scenario, Plan(seed, {index: strike}), tally, script)
    return tally


@rarely_collecting()
def pairs(
    scenario: Scenario,
    part: int,
    parts: int,
    seconds: float = math.inf,
    *,
    strikes_spare: bool = True,
) -> Tally:
    """Strike twice, each in a way of PAIRED, the second anywhere after the first.

    Shapes: `part` takes every `parts`-th of the first strikes; when so many seconds are over, what
        is left is counted and not run; `strikes_spare` says whether calls are struck, too, after
        which only queues change.
    """
    tally, end, calm = Tally(), time.monotonic() + seconds, Script()
    outcome = play(scenario, Plan(), None, calm)
    for index, first in _worth(outcome, 0, strikes_spare)[part::parts]:
        once = Script(calm.tapes, index)
        outcome = play(scenario, Plan(0, {index: first}), None, once)
        if outcome.points[index].ends:
            continue  # all is as after a crash
        found = _worth(outcome, index + 1, strikes_spare)
        tally.possible += len(found)
        for later, second in found:
            if time.monotonic() >= end:
                break
            script = Script(once.tapes, later, is_recording=False)
            plan = Plan(0, {index: first, later: second})
            try_plan(scenario, plan, tally, script, is_cut=True)
    return tally


def _worth(outcome: Outcome, start: int, strikes_spare: bool) -> list[tuple[int, Strike]]:
    found = paired(outcome.points, start)
    return [each for each in found if strikes_spare or each[0] < outcome.lively]


@rarely_collecting()
def seeds(scenario: Scenario, first: int, last: int) -> Tally:
    """Run each seed from first to last, with a rate of strikes that goes round."""
    tally = Tally()
    for seed in range(first, last + 1):
        try_plan(scenario, Plan(seed, rate=RATES[seed % len(RATES)]), tally)
    return tally


@rarely_collecting()
def first_failure(
    scenarios: Sequence[Scenario],
    runs_max: int,
    under: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> tuple[Failure | None, int]:
    """Run calm, random and single plans of the scenarios by turns until one fails.

    Returns the failure, if any, and how many runs it took.
    """
    tally = Tally()
    with under():
        streams = [(scenario, _plans(scenario)) for scenario in scenarios]
        while tally.runs < runs_max:
            for scenario, plans in streams:
                try_plan(scenario, next(plans), tally)
                if tally.failures:
                    return tally.failures[0], tally.runs
    return None, tally.runs


def _plans(scenario: Scenario) -> Iterator[Plan]:
    """Yield plans without end: calm, then seeds and singles by turns.

    Of the singles those come first that only delay a call: a guard is for what happens meanwhile.
    """
    yield Plan()
    struck = ones(play(scenario, Plan()).points)
    random.Random(0).shuffle(struck)
    struck.sort(key=lambda one: one[1] not in DELAYS)
    for number in itertools.count(1):
        yield Plan(number, rate=RATES[number % len(RATES)])
        if number <= len(struck):
            index, strike = struck[number - 1]
            yield Plan(0, {index: strike})
