"""Runs that broke an invariant once, of this code or of a mutation of it; each stays for ever.

`make simulate` prints a failing run as a command; its scenario, seed, rate and strikes go here.
"""

from __future__ import annotations

import pytest

from tests.simulation.faults import Plan, Strike
from tests.simulation.scenario import play
from tests.simulation.scenarios import SCENARIOS

REPLAYS = [
    # a start that nobody was told of, made by a duplicate after everybody had gone home
    ("boundary-timer", Plan(35, rate=0.1)),
    # a claim that found its job completed while it was stalled
    ("cancel-and-complete", Plan(0, {8: Strike.STALL})),
    # a hold that was released while its job was completed
    ("held", Plan(6, rate=0.03)),
    # an extension judged by a clock that stood still
    ("extended", Plan(62, rate=0.03)),
    # a completion that was read before, and written after, the next delivery
    ("late-completion", Plan(0, {19: Strike.CONFLICT})),
    # a record read before its root: a write that was acknowledged was lost
    ("parallel-join", Plan(1, rate=0.01)),
    # a bell that came before its job and was dropped
    ("sequence", Plan(1, rate=0.01)),
    # retries set while the bell of the old backoff was in the air
    ("retries-set", Plan(35, rate=0.1)),
    # a claim refused with 409, whose message was deleted without another one
    ("lambda-and-http", Plan(31, rate=0.1)),
    # a repeat of a request that came while its first attempt was still claiming
    ("asked-again", Plan(34, rate=0.03)),
    # a page of one broadcast done again, after another broadcast had come in between
    ("broadcast-beside", Plan(0, {11: Strike.DUPLICATE, 30: Strike.CRASH_AFTER})),
    # a message that failed since its route was read slowly: that counted as time of evaluation
    ("routed-parts", Plan(0, {7: Strike.STALL})),
]


@pytest.mark.parametrize(("name", "plan"), REPLAYS, ids=[f"{n} {p}" for n, p in REPLAYS])
def test_what_broke_once_holds_now(name: str, plan: Plan) -> None:
    outcome = play(SCENARIOS[name], Plan(plan.seed, plan.strikes, plan.rate))
    assert [] == outcome.violations
