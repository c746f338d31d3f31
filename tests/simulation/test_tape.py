"""A run that is told by the tapes of another is the same run, to the last call."""

from __future__ import annotations

import random

import pytest

from chalicelib.store import blocks, definitions, dmn_definitions
from tests.simulation import tape
from tests.simulation.faults import Plan, Strike, paired
from tests.simulation.scenario import Outcome, Scenario, play
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.tape import Script

EACH = 4  # first strikes of a scenario, and second ones of each
NAMES = (
    *("sequence", "cycle", "held", "two-deployments", "decided-again"),
    *("call-and-cancel", "broadcast", "routed-count", "discarded", "rescheduled"),
)


def traced(
    scenario: Scenario, plan: Plan, script: Script | None = None
) -> tuple[list[str], Outcome]:
    lines: list[str] = []
    return lines, play(scenario, plan, lines.append, script)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_by_tapes_has_the_trace_of_one_without(name: str) -> None:
    scenario, chance, calm = SCENARIOS[name], random.Random(name), Script()
    firsts = paired(play(scenario, Plan(), None, calm).points, 0)
    for index, first in chance.sample(firsts, EACH):
        once = Script(calm.tapes, index)
        plan = Plan(0, {index: first})
        lines, outcome = traced(scenario, plan, once)
        assert traced(scenario, plan)[0] == lines
        seconds = paired(outcome.points, index + 1)
        for later, second in chance.sample(seconds, min(EACH, len(seconds))):
            twice = Script(once.tapes, later, is_recording=False)
            plan = Plan(0, {index: first, later: second})
            assert traced(scenario, plan)[0] == traced(scenario, plan, twice)[0]


def test_what_is_known_is_not_decided_again() -> None:
    scenario, calm = SCENARIOS["sequence"], Script()
    points = play(scenario, Plan(), None, calm).points
    script = Script(calm.tapes, len(points))
    play(scenario, Plan(0, {len(points): Strike.CRASH_BEFORE}), None, script)

    known = [each for each in calm.tapes if each.ended is not None and each.ended <= len(points)]
    assert known == [each for each in script.tapes if each in calm.tapes]
    assert len(known) > 6


def test_all_that_a_container_remembers_of_a_table_is_brought_back() -> None:
    remembered = {id(each) for each in tape._caches()}

    assert remembered >= {id(blocks._RANGES), id(definitions._KEPT._of), id(definitions._ASKED._of)}
    assert remembered >= {id(dmn_definitions._KEPT._of), id(dmn_definitions._BOUND._of)}


def test_a_fault_that_ends_its_process_is_told_by_its_crash() -> None:
    scenario = SCENARIOS["cancel-and-complete"]
    sends = [
        index
        for index, point in enumerate(play(scenario, Plan()).points)
        if point.call.value == "send"
    ]
    strikes = {sends[0]: Strike.LOST_ANSWER}

    lost, told = play(scenario, Plan(0, strikes)), play(scenario, Plan(0, strikes), is_cut=True)
    died = play(scenario, Plan(0, {sends[0]: Strike.CRASH_AFTER}))
    assert (True, False, True) == (told.is_told, lost.is_told, lost.points[sends[0]].ends)
    assert [point.call for point in died.points] == [point.call for point in lost.points]
    assert died.calls == lost.calls
