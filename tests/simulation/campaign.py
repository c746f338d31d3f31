"""The whole campaign: every scenario in every way, spread over processes, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from math import inf
from multiprocessing import get_context

from tests.simulation import mutations, runner
from tests.simulation.runner import Failure, Tally
from tests.simulation.scenarios import CORE, SCENARIOS, WHOLE

SEEDS = 1_000  # of each scenario of CORE (design section 9)
SEEDS_OF_OTHERS = 100
SEEDS_A_TASK = 100
PARTS = 8  # of a scenario's singles and pairs


@dataclass(frozen=True, slots=True)
class Task:
    """What one process does at a time: a part of a series of one scenario."""

    series: str
    scenario: str
    part: int


@dataclass(slots=True)
class Count:
    """The tallies by series and scenario."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(self, task: Task, tally: Tally) -> None:
        """Count a task's runs in."""
        self.tallies.setdefault((task.series, task.scenario), Tally()).add(tally)

    def runs_of(self, series: str) -> int:
        """Return how many runs there were of one series."""
        return sum(tally.runs for (each, _), tally in self.tallies.items() if each == series)

    @property
    def failures(self) -> list[Failure]:
        return [failure for tally in self.tallies.values() for failure in tally.failures]

    def report(self, say: Callable[[str], None]) -> None:
        """Say how many runs there were, by scenario and series, and in all."""
        for name in dict.fromkeys(name for _, name in self.tallies):
            row = {s: self.tallies.get((s, name), Tally()) for s in ("singles", "seeds", "pairs")}
            pairs = row["pairs"]
            say(
                f"{name:28} {row['singles'].runs:6} single strikes, {row['seeds'].runs:5} seeds, "
                f"{pairs.runs:6} of {pairs.possible:6} pairs, "
                f"{sum(len(tally.failures) for tally in row.values())} broken, "
                f"{sum(tally.seconds for tally in row.values()):5.0f} s"
            )
        runs = sum(tally.runs for tally in self.tallies.values())
        calls = sum(tally.calls for tally in self.tallies.values())
        possible = sum(tally.possible for tally in self.tallies.values())
        seconds = sum(tally.seconds for tally in self.tallies.values())
        told = sum(tally.told for tally in self.tallies.values())
        say(
            f"{self.runs_of('pairs')} of {possible} pairs, {told} cut where another run is the same"
        )
        say(f"{runs} runs, {calls} calls, {seconds:.0f} s of work, {len(self.failures)} broken")

    def weight_of(self, task: Task) -> float:
        """Return how long all pairs of a task may take, as its scenario's single strikes say."""
        singles = self.tallies.get(("singles", task.scenario), Tally())
        return singles.runs * singles.seconds


def singles_tasks(names: Iterable[str]) -> list[Task]:
    """Return each single strike of some scenarios, always done whole."""
    return [Task("singles", name, part) for part in range(PARTS) for name in names]


def seeds_tasks(names: Iterable[str]) -> list[Task]:
    """Return the seeds of some scenarios, always done whole: all of CORE's, some of the others'."""
    return [
        Task("seeds", name, part)
        for part in range(SEEDS // SEEDS_A_TASK)
        for name in names
        if name in CORE or part < SEEDS_OF_OTHERS // SEEDS_A_TASK
    ]


def pairs_tasks(names: Iterable[str]) -> list[Task]:
    """Return the pairs of some scenarios."""
    return [Task("pairs", name, part) for part in range(PARTS) for name in names]


def run_task(task: Task, seconds: float, turn: int) -> tuple[Task, Tally]:
    """Do one task; pairs are drawn so that they take about so many seconds, others each turn."""
    scenario = SCENARIOS[task.scenario]
    match task.series:
        case "singles":
            return task, runner.singles(scenario, task.part, PARTS)
        case "seeds":
            first = task.part * SEEDS_A_TASK + 1
            return task, runner.seeds(scenario, first, first + SEEDS_A_TASK - 1)
        case _:
            is_core = task.scenario in CORE
            return task, runner.pairs(
                scenario, task.part, PARTS, seconds, turn, strikes_spare=is_core
            )


def run_all(
    jobs: int, seconds: float, turn: int, only: Sequence[str], say: Callable[[str], None]
) -> bool:
    """Run everything, pairs not of WHOLE until about so many seconds passed; say if all held.

    Shapes: `only` are the scenarios to run, without the mutations; none of them is all.
    """
    count, end = Count(), time.monotonic() + seconds
    names = only or tuple(SCENARIOS)
    whole = [name for name in names if name in WHOLE]
    others = [name for name in names if name not in WHOLE]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        are_noticed = bool(only) or mutations.run_all(pool, say)
        for tasks, until in (
            (singles_tasks(names), inf),
            (seeds_tasks(names), inf),
            (pairs_tasks(whole), inf),
            (pairs_tasks(others), end),
        ):
            for task, tally in _spread(pool, jobs, Shares(tasks, count, jobs, until), turn):
                count.add(task, tally)
                for failure in tally.failures:
                    say(f"broken: {failure}")
            for series in {task.series for task in tasks}:
                say(f"{series}: {count.runs_of(series)} runs")
    count.report(say)
    say(f"where not all pairs were run, others are with another turn; this was --turn {turn}")
    return are_noticed and not count.failures


class Shares:
    """How long each task of a queue may take, so that all of them end at about a time."""

    def __init__(self, queue: list[Task], count: Count, jobs: int, end: float) -> None:
        self.left = list(reversed(queue))
        self._weights = {task: count.weight_of(task) or 1.0 for task in queue}
        self._jobs, self._end = jobs, end

    def next(self) -> tuple[Task, float]:
        """Return the next task and its seconds."""
        whole = sum(self._weights[task] for task in self.left)
        task = self.left.pop()
        seconds = max(0.0, self._end - time.monotonic()) * self._jobs
        return task, seconds * self._weights[task] / whole


def _spread(pool: Executor, jobs: int, shares: Shares, turn: int) -> Iterator[tuple[Task, Tally]]:
    """Keep all processes at work; each task gets its share of the time that is left."""
    running = set[Future[tuple[Task, Tally]]]()
    while shares.left or running:
        while shares.left and len(running) < jobs:
            running.add(pool.submit(run_task, *shares.next(), turn))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)
