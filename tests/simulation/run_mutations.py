"""What guards and orderings of scheduled jobs are taken away, and by whom it is to be noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import partial
from types import SimpleNamespace

from greenlet import getcurrent

from chalicelib.delivery import runs as messages
from chalicelib.engine.guards import Guard
from chalicelib.operations import firings, runs
from chalicelib.ports import Ports, Table
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Row
from chalicelib.store import runs as rows
from chalicelib.store.route_conditions import RouteGuard
from chalicelib.store.run_conditions import RunGuard
from chalicelib.store.runs import Finish, Finished
from tests.simulation.replacing import replaced

AnyGuard = Guard | RunGuard | RouteGuard
Named = tuple[AnyGuard, str]
Mutant = AbstractContextManager[None]

COVERED: dict[Named, tuple[str, tuple[Named, ...]]] = {
    (RunGuard.BEGIN, "open"): (
        "a row that is no more open has begun another attempt",
        ((RunGuard.BEGIN, "attempt as read"),),
    ),
    (RunGuard.BEGIN, "attempt as read"): (
        "a row that has begun another attempt is open again only after a backoff",
        ((RunGuard.BEGIN, "open"),),
    ),
    (RunGuard.FINISH, "attempt as read"): (
        "an executor that is taken for dead and lives is done before another attempt is due",
        ((RunGuard.FINISH, "running"),),
    ),
}

IDLE: dict[Named, str] = {
    (RunGuard.NEW_JOB, "absent"): "a job's id is of chance, so nobody else has it",
    (RunGuard.DELETE_JOB, "revision as read"): (
        "a job that was changed is deleted all the same; the clause tells the second of two"
    ),
    (RunGuard.BEGIN, "due"): "a row's time changes only with its attempt",
}

NOTICED_BY: dict[AnyGuard, tuple[str, ...]] = {
    RunGuard.REPLACE_JOB: ("edited-at-its-end",),
    RunGuard.INSERT_ROW: ("fired-at-once", "side-by-side"),
    RunGuard.BEGIN: ("fired-at-once", "pool-with-retry"),
    RunGuard.FINISH: ("outlived",),
    RunGuard.TAKE_LOCK: ("fired-in-a-loop",),
    RunGuard.KEEP_LOCK: ("stale-lock",),
    RunGuard.RELEASE_LOCK: ("unlocked",),
    RunGuard.ALARM: ("alarmed",),
}


# --- orderings ---------------------------------------------------------------------------------


@contextmanager
def run_promised_late() -> Iterator[None]:
    """Send the message of what follows an attempt only after it is written down."""
    owed: dict[object, Callable[[], datetime]] = {}
    finish = rows.finish

    def hold(ports: Ports, following: Iterable[Row]) -> datetime:
        owed[getcurrent()] = partial(messages.send, ports, list(following))
        return ports.clock.now()

    def finish_then_send(store: Table, asked: Finish, *, token: str) -> Finished:
        finished = finish(store, asked, token=token)
        owed.pop(getcurrent(), lambda: None)()
        return finished

    late = SimpleNamespace(send=hold, judge_run=messages.judge_run, RunMessage=messages.RunMessage)
    with replaced(runs, runs=late), replaced(rows, finish=finish_then_send):
        yield


def trigger_not_insured() -> Mutant:
    """Let a manual trigger rely on its own life."""

    def insure(ports: Ports, job: ScheduledJob, run_id: str) -> datetime:
        return ports.clock.now()

    return replaced(messages, insure=insure)


def left_over_forgotten() -> Mutant:
    """Let a firing that comes again and starts nothing look for nothing it left."""
    return replaced(firings, _left_over=lambda *_: [])


ORDERINGS: tuple[tuple[str, Callable[[], Mutant], tuple[str, ...]], ...] = (
    ("promise before commit, of a run", run_promised_late, ("fired-in-a-loop", "discarded")),
    ("the insurance of a trigger", trigger_not_insured, ("triggered-at-once",)),
    ("what a firing left behind", left_over_forgotten, ("paused",)),
)
