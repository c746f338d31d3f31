"""The scenarios: what clients, workers and operators do at the same time."""

from __future__ import annotations

from tests.simulation.scenarios import (
    failing,
    flowing,
    handing_out,
    operating,
    scheduling,
)

SCENARIOS = {
    scenario.name: scenario
    for module in (flowing, handing_out, failing, operating, scheduling)
    for scenario in module.SCENARIOS
}

# The scenarios that every change must hold up to in full: 1,000 seeds and all pairs of strikes.
CORE = (
    "sequence",
    "parallel-join",
    "boundary-timer",
    "two-workers",
    "failure-and-lapse",
    "cancel-and-complete",
)
