"""The whole campaign: every scenario in every way, spread over processes, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
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
        for name in SCENARIOS:
            row = {s: self.tallies.get((s, name), Tally()) for s in ("singles", "seeds", "pairs")}
            pairs = row["pairs"]
            say(
                f"{name:28} {row['singles'].runs:6} single strikes, {row['seeds'].runs:5} seeds, "
                f"{pairs.runs:6} of {pairs.possible:6} pairs, "
                f"{sum(len(tally.failures) for tally in row.values())} broken"
            )
        runs = sum(tally.runs for tally in self.tallies.values())
        calls = sum(tally.calls for tally in self.tallies.values())
        say(f"{runs} runs, {calls} calls, {len(self.failures)} broken")


def singles_tasks() -> list[Task]:
    """Return each single strike of every scenario, always done whole."""
    return [Task("singles", name, part) for part in range(PARTS) for name in SCENARIOS]


def seeds_tasks() -> list[Task]:
    """Return the seeds of every scenario, always done whole: all of CORE's, some of the others'."""
    return [
        Task("seeds", name, part)
        for part in range(SEEDS // SEEDS_A_TASK)
        for name in SCENARIOS
        if name in CORE or part < SEEDS_OF_OTHERS // SEEDS_A_TASK
    ]


def pairs_tasks(names: Iterable[str]) -> list[Task]:
    """Return the pairs of some scenarios."""
    return [Task("pairs", name, part) for part in range(PARTS) for name in names]


def run_task(task: Task, seconds: float) -> tuple[Task, Tally]:
    """Do one task; pairs are drawn so that they take about so many seconds."""
    scenario = SCENARIOS[task.scenario]
    match task.series:
        case "singles":
            return task, runner.singles(scenario, task.part, PARTS)
        case "seeds":
            first = task.part * SEEDS_A_TASK + 1
            return task, runner.seeds(scenario, first, first + SEEDS_A_TASK - 1)
        case _:
            return task, runner.pairs(scenario, task.part, PARTS, seconds)


def run_all(jobs: int, seconds: float, say: Callable[[str], None]) -> bool:
    """Run everything, pairs not of WHOLE until about so many seconds passed; say if all held."""
    count, end = Count(), time.monotonic() + seconds
    others = [name for name in SCENARIOS if name not in WHOLE]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        are_noticed = mutations.run_all(pool, say)
        whole = [singles_tasks(), seeds_tasks(), pairs_tasks(WHOLE)]
        for queue in (*whole, pairs_tasks(others)):
            for task, tally in _spread(pool, jobs, queue, inf if queue in whole else end):
                count.add(task, tally)
                for failure in tally.failures:
                    say(f"broken: {failure}")
            say(f"{queue[0].series}: {count.runs_of(queue[0].series)} runs")
    count.report(say)
    return are_noticed and not count.failures


def _spread(
    pool: Executor, jobs: int, queue: list[Task], end: float
) -> Iterator[tuple[Task, Tally]]:
    """Keep all processes at work; each task gets its share of the time that is left."""
    waiting, running = list(reversed(queue)), set[Future[tuple[Task, Tally]]]()
    while waiting or running:
        while waiting and len(running) < jobs:
            share = max(0.0, end - time.monotonic()) * jobs / len(waiting)
            running.add(pool.submit(run_task, waiting.pop(), share))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)
