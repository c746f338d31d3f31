"""The part of the simulation that the gate runs: 100 seeds, and the single strikes.

All single strikes of every scenario; the seeds are dealt out to the scenarios. The rest (1,000
seeds of each core scenario, pairs of strikes, guard mutation) is `make simulate`.
"""

from __future__ import annotations

import pytest

from tests.simulation import runner
from tests.simulation.runner import Tally
from tests.simulation.scenarios import SCENARIOS

SEEDS = 100
PARTS = 2  # of a scenario's calls


def told(tally: Tally) -> list[str]:
    return [str(failure) for failure in tally.failures]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_holds_when_nothing_goes_wrong(name: str) -> None:
    assert [] == told(runner.calm(SCENARIOS[name]))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_holds_under_single_strikes(name: str, part: int) -> None:
    assert [] == told(runner.singles(SCENARIOS[name], part, PARTS))


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_a_scenario_holds_under_a_random_seed(seed: int) -> None:
    names = sorted(SCENARIOS)
    scenario = SCENARIOS[names[seed % len(names)]]

    assert [] == told(runner.seeds(scenario, seed, seed))
