"""The scenarios: what clients, workers and operators do at the same time."""

from __future__ import annotations

from tests.simulation.scenarios import failing, flowing, handing_out, operating

SCENARIOS = {
    scenario.name: scenario
    for module in (flowing, handing_out, failing, operating)
    for scenario in module.SCENARIOS
}
