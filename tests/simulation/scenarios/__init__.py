"""The scenarios: what clients, workers and operators do at the same time."""

from __future__ import annotations

from tests.simulation.scenarios import (
    activating,
    calling,
    deciding,
    failing,
    flowing,
    handing_out,
    listening,
    meeting,
    operating,
    polling,
    routing,
    scheduling,
    starting,
)

SCENARIOS = {
    scenario.name: scenario
    for module in (
        *(flowing, handing_out, failing, operating, polling, scheduling, meeting, deciding),
        *(calling, activating, listening, routing, starting),
    )
    for scenario in module.SCENARIOS
}

# The scenarios that every change must hold up to with 1,000 seeds.
CORE = (
    "sequence",
    "parallel-join",
    "boundary-timer",
    "two-workers",
    "failure-and-lapse",
    "cancel-and-complete",
)

# Those whose pairs of strikes are all run, however long it takes: what races for one decision.
WHOLE = (
    *CORE,
    "extended-by-its-namesake",
    "last-failure-twice",
    "resolved-and-cancelled",
    "decided-or-cancelled",
    "set-at-last-failure",
    "ad-hoc-listed",
    *(scenario.name for scenario in scheduling.SCENARIOS),
)
