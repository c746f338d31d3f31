"""Guard mutation: take away one condition, or one ordering, and the simulation must notice.

Every clause of `store/conditions.py`, `run_conditions.py` and `route_conditions.py` is taken out in
turn, and so is each ordering that design section 9 names. Where two clauses guard the same thing,
each alone may go unnoticed; such a one is in COVERED with the reason and with what it is taken out
together with, and then it must be noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

from chalicelib.engine.guards import Guard
from chalicelib.store.conditions import GUARDS
from chalicelib.store.route_conditions import ROUTE_GUARDS, RouteGuard
from chalicelib.store.run_conditions import RUN_GUARDS, RunGuard
from tests.simulation import mutants, route_mutations, run_mutations
from tests.simulation.run_mutations import AnyGuard, Named
from tests.simulation.runner import Failure, first_failure
from tests.simulation.scenarios import SCENARIOS

RUNS_MAX = 4_000  # of one mutation before it counts as unnoticed


@dataclass(frozen=True, slots=True)
class Mutation:
    """One thing taken away; `scenarios` are those most likely to notice, tried by turns."""

    name: str
    apply: Callable[[], AbstractContextManager[None]]
    scenarios: tuple[str, ...]


TURN_VERSION: Named = (Guard.TURN, "version as read")

# Clauses that others imply, with the reason and with those others: only without all of them is
# anything wrong, and that must be noticed.
COVERED: dict[Named, tuple[str, tuple[Named, ...]]] = {
    (Guard.CLAIM, "not waiting"): (
        "whatever makes a job wait raises its ring",
        ((Guard.CLAIM, "ring as read"),),
    ),
    (Guard.CLAIM, "not held"): (
        "whatever hands a job out raises its ring; an extension that does not comes before the "
        "lapse by the extender's clock, and only clocks that differ let a claim read one",
        ((Guard.CLAIM, "ring as read"),),
    ),
    (Guard.RETRIED_FAILURE, "delivery_token as read"): (
        "a delivery raises the ring",
        ((Guard.RETRIED_FAILURE, "ring as read"),),
    ),
    (Guard.RETRIED_FAILURE, "attempts as read"): (
        "a retried failure raises the ring, an exhausting one changes the state",
        ((Guard.RETRIED_FAILURE, "ring as read"), (Guard.RETRIED_FAILURE, "retries as read")),
    ),
    (Guard.RETRIED_FAILURE, "retries as read"): (
        "setting retries raises the ring",
        ((Guard.RETRIED_FAILURE, "ring as read"), (Guard.RETRIED_FAILURE, "attempts as read")),
    ),
    (Guard.EXHAUSTING_FAILURE, "active"): (
        "only turns change a job's state",
        (TURN_VERSION,),
    ),
    (Guard.EXHAUSTING_FAILURE, "attempts as read"): (
        "a retried failure lowers the retries, if the request does not name them",
        ((Guard.EXHAUSTING_FAILURE, "retries as read"),),
    ),
    (Guard.COMPLETE, "active"): ("only turns change a job's state", (TURN_VERSION,)),
    (Guard.CANCEL, "state as read"): ("only turns change a job's state", (TURN_VERSION,)),
    (Guard.SET_RETRIES, "attempts as read"): (
        "a retried failure raises the ring, an exhausting one changes the state",
        ((Guard.SET_RETRIES, "ring as read"),),
    ),
    (Guard.RESOLVE, "failed"): (
        "only turns change a job's state, and a resolve raises the ring",
        (TURN_VERSION, (Guard.RESOLVE, "ring as read")),
    ),
    (Guard.RESOLVE, "retries_set_by_operator as read"): (
        "setting retries raises the ring",
        ((Guard.RESOLVE, "ring as read"),),
    ),
    (Guard.RELEASE, "owner as read"): (
        "another owner has another token, and no owner another ring",
        ((Guard.RELEASE, "delivery_token as read"), (Guard.RELEASE, "ring as read")),
    ),
    (Guard.RELEASE, "delivery_token as read"): (
        "a delivery raises the ring",
        ((Guard.RELEASE, "owner as read"), (Guard.RELEASE, "ring as read")),
    ),
    (Guard.RELEASE, "ring as read"): (
        "what raises the ring of a job that is held takes its owner away",
        ((Guard.RELEASE, "owner as read"), (Guard.RELEASE, "delivery_token as read")),
    ),
    **run_mutations.COVERED,
}

# Clauses that nothing can break as things are, with the reason.
IDLE: dict[Named, str] = {
    (Guard.CLAIM, "kind as read"): "the kind of a job never changes",
    (Guard.CLAIM, "type as read"): "the type of a job never changes",
    **run_mutations.IDLE,
    **route_mutations.IDLE,
}

NOTICED_BY: dict[AnyGuard, tuple[str, ...]] = {
    Guard.START: ("call-and-cancel", "call"),
    Guard.NEW: ("deleted-while-called-twice",),
    Guard.TURN: ("parallel-join", "cancel-and-complete", "claimed-by-two"),
    Guard.CLAIM: ("cancel-and-complete", "doubled-bell", "backoff-and-doubled-bell", "extended"),
    Guard.EXTEND: ("extended", "extended-by-its-namesake", "extended-far"),
    Guard.ASSIGN: ("assigned",),
    Guard.RETRIED_FAILURE: ("failure-and-completion", "failure-and-lapse", "rung-at-work"),
    Guard.EXHAUSTING_FAILURE: (
        "last-failure-and-lapse",
        "set-at-last-failure",
        "last-failure-and-completion",
    ),
    Guard.COMPLETE: ("cancel-and-complete", "late-completion"),
    Guard.CANCEL: ("cancel-and-complete", "terminate-and-complete"),
    Guard.SET_RETRIES: ("set-at-work", "set-at-last-failure", "held", "rung-at-work"),
    Guard.RESOLVE: ("resolved-and-set",),
    Guard.RELEASE: ("held",),
    Guard.RING_AGAIN: ("rung-at-work",),
    Guard.START_MARK: ("started-once", "failed-once", "ad-hoc-activated"),
    Guard.REQUEST: ("asked-again",),
    Guard.START_LOCK: ("started-one-by-one",),
    Guard.NAME: ("two-arm-one-name",),
    Guard.START_TIMER: ("timer-start", "timer-start-replaced"),
    Guard.CLIENT_CAP: ("capped",),
    **run_mutations.NOTICED_BY,
    **route_mutations.NOTICED_BY,
}


def clauses() -> dict[AnyGuard, list[str]]:
    """Return the names of the clauses of each guard, of all tables."""
    names: dict[AnyGuard, list[str]] = {}
    names |= {guard: [clause.name for clause in rule] for guard, rule in GUARDS.items()}
    names |= {guard: [clause.name for clause in rule] for guard, rule in RUN_GUARDS.items()}
    names |= {guard: [clause.name for clause in rule] for guard, rule in ROUTE_GUARDS.items()}
    return names


def clause_mutations() -> list[Mutation]:
    """Return one mutation for each clause of each row."""
    return [
        Mutation(
            f"{guard.value}: {', '.join(dict.fromkeys(name for _, name in taken))}",
            partial(_without, taken),
            NOTICED_BY.get(guard, ("sequence", "failure-and-lapse")),
        )
        for guard, names in clauses().items()
        for clause in names
        if (guard, clause) not in IDLE
        for taken in [((guard, clause), *COVERED.get((guard, clause), ("", ()))[1])]
    ]


@contextmanager
def _without(taken: tuple[Named, ...]) -> Iterator[None]:
    """Take clauses out of the tables of guards while this lasts."""
    whole, whole_of_runs, whole_of_routes = dict(GUARDS), dict(RUN_GUARDS), dict(ROUTE_GUARDS)
    for guard, name in taken:
        if isinstance(guard, RunGuard):
            RUN_GUARDS[guard] = tuple(each for each in RUN_GUARDS[guard] if each.name != name)
        elif isinstance(guard, RouteGuard):
            ROUTE_GUARDS[guard] = tuple(each for each in ROUTE_GUARDS[guard] if each.name != name)
        else:
            GUARDS[guard] = tuple(each for each in GUARDS[guard] if each.name != name)
    try:
        yield
    finally:
        GUARDS.update(whole)
        RUN_GUARDS.update(whole_of_runs)
        ROUTE_GUARDS.update(whole_of_routes)


def ordering_mutations() -> list[Mutation]:
    """Return the mutations of orderings and of what messages are kept for."""
    return [
        Mutation(
            "promise before commit, of a turn",
            mutants.turn_promised_late,
            ("sequence", "far-timer", "agenda", "ad-hoc-steered"),
        ),
        Mutation(
            "promise before commit, of a claim", mutants.claim_promised_late, ("two-workers",)
        ),
        Mutation(
            "promise before commit, of a failure", mutants.failure_promised_late, ("far-backoff",)
        ),
        Mutation("keeping an early bell", mutants.early_dropped, ("sequence", "lambda-worker")),
        Mutation("ring numbers", mutants.rings_ignored, ("retries-set", "far-backoff")),
        Mutation("claim before its bell is deleted", mutants.bells_deleted_first, ("two-workers",)),
        Mutation(
            "only changed attributes",
            mutants.records_written_whole,
            ("late-completion",),
        ),
        Mutation(
            "looking for who waits, after publishing",
            mutants.publisher_does_not_look,
            ("armed-while-published",),
        ),
        Mutation(
            "looking for what was published, after subscribing",
            mutants.subscriber_does_not_look,
            ("armed-while-published",),
        ),
        Mutation(
            "a broadcast is over for who waits in answer to it",
            mutants.broadcasts_answered_again,
            ("broadcast-beside",),
        ),
        Mutation(
            "one job of an ad-hoc subprocess at a time", mutants.asked_twice, ("ad-hoc-steered",)
        ),
        Mutation("root-first load", mutants.records_first, ("parallel-join",)),
        Mutation("deploy: latest as read", mutants.latest_not_compared, ("two-deployments",)),
        Mutation(
            "deploy: latest of DMN as read",
            mutants.dmn_latest_not_compared,
            ("two-dmn-deployments",),
        ),
        Mutation("ringing on before a 409", mutants.not_rung_on, ("lambda-and-http",)),
        *(Mutation(*each) for each in run_mutations.ORDERINGS),
        *(Mutation(*each) for each in route_mutations.ORDERINGS),
    ]


def engine_mutations() -> list[Mutation]:
    """Return those of what the engine hears, keeps and tells when something ends."""
    return [
        Mutation("a decision within its turn", mutants.decisions_apart, ("decided-or-cancelled",)),
        Mutation(
            "hearing a user task before it ends", mutants.tasks_end_unheard, ("ended-and-heard",)
        ),
        Mutation("a denial of a user task's listener", mutants.denials_pass, ("denied",)),
        Mutation(
            "hearing a process before it ends",
            mutants.processes_end_unheard,
            ("heard-at-its-end", "heard-at-its-cancel"),
        ),
        Mutation(
            "hearing what a child threw before its end",
            mutants.ends_come_first,
            ("escalation-from-child", "escalation-by-messages"),
        ),
        Mutation("having lost iterations reported", mutants.reports_stay_lost, ("net-of-reports",)),
        Mutation(
            "telling a body of an iteration that was ended",
            mutants.withdrawals_untold,
            ("iteration-withdrawn",),
        ),
        Mutation(
            "telling parts before what names them goes", mutants.parts_told_late, ("parts-retired",)
        ),
        Mutation(
            "taking back the place of what cannot be called",
            mutants.places_stay_free,
            ("deleted-while-called-twice",),
        ),
        Mutation("keeping what a scope left", mutants.nothing_left, ("undone-as-left",)),
    ]


def mutations() -> list[Mutation]:
    """Return all mutations."""
    return [*clause_mutations(), *ordering_mutations(), *engine_mutations()]


def attempt(name: str, runs_max: int = RUNS_MAX) -> tuple[str, Failure | None, int]:
    """Try one mutation; return the failure that notices it, if any, and the runs it took."""
    mutation = next(each for each in mutations() if each.name == name)
    scenarios = [SCENARIOS[scenario] for scenario in mutation.scenarios]
    failure, runs = first_failure(scenarios, runs_max, mutation.apply)
    return name, failure, runs


def run_all(pool: Executor, say: Callable[[str], None]) -> bool:
    """Try every mutation; return whether each one was noticed."""
    unnoticed, total = [], 0
    for name, failure, runs in pool.map(attempt, [each.name for each in mutations()]):
        total += runs
        if failure is None:
            unnoticed.append(name)
            say(f"not noticed in {runs} runs: without {name}")
    say(f"{len(mutations())} mutations, {total} runs, {len(unnoticed)} not noticed")
    return not unnoticed
