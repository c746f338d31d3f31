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
PARTS = 8  # of a scenario's singles
ROUNDS = 24  # in each of which every scenario has as large a part of its pairs run


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

    def unrun(self) -> list[str]:
        """Return the scenarios that do not have all of their pairs run, each with how many."""
        tallies = {name: each for (series, name), each in self.tallies.items() if series == "pairs"}
        return [
            f"{name} ({each.possible - each.runs})"
            for name, each in tallies.items()
            if each.runs < each.possible
        ]


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


def pairs_tasks(names: Sequence[str], turn: int) -> list[Task]:
    """Return the pairs of some scenarios in rounds: a part of each one's, then another.

    Shapes: whatever time they are given, all scenarios have as large a part of their pairs run;
        which part comes first, and which scenario in each round, is another one each `turn`.
    """
    return [
        Task("pairs", names[(turn + number) % len(names)], (turn + part) % ROUNDS)
        for part in range(ROUNDS)
        for number in range(len(names))
    ]


def run_task(task: Task, seconds: float) -> tuple[Task, Tally]:
    """Do one task; pairs are run for so many seconds, and what is left of them is counted."""
    scenario = SCENARIOS[task.scenario]
    match task.series:
        case "singles":
            return task, runner.singles(scenario, task.part, PARTS)
        case "seeds":
            first = task.part * SEEDS_A_TASK + 1
            return task, runner.seeds(scenario, first, first + SEEDS_A_TASK - 1)
        case _:
            is_core = task.scenario in CORE
            return task, runner.pairs(scenario, task.part, ROUNDS, seconds, strikes_spare=is_core)


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
            (pairs_tasks(whole, turn), inf),
            (pairs_tasks(others, turn), end),
        ):
            for task, tally in _spread(pool, jobs, tasks, until):
                count.add(task, tally)
                for failure in tally.failures:
                    say(f"broken: {failure}")
            for series in {task.series for task in tasks}:
                say(f"{series}: {count.runs_of(series)} runs")
    count.report(say)
    if unrun := count.unrun():
        say(f"not all pairs were run of: {', '.join(unrun)}")
        say(f"more are with more minutes, others with another turn; this was --turn {turn}")
    return are_noticed and not count.failures


def _spread(
    pool: Executor, jobs: int, tasks: Sequence[Task], end: float
) -> Iterator[tuple[Task, Tally]]:
    """Keep all processes at work; each task has the time that is left until the end."""
    left, running = list(reversed(tasks)), set[Future[tuple[Task, Tally]]]()
    while left or running:
        while left and len(running) < jobs:
            seconds = max(0.0, end - time.monotonic())
            running.add(pool.submit(run_task, left.pop(), seconds))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)
