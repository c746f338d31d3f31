"""Each model that others drew is driven by chance to its end, or refused for what is wrong in it.

What is refused, and in which words, stands in `refusals.txt`, which
`python -m tests.conformance.corpus` writes anew: its difference is what a change did.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from chalicelib.operations.dmn_definitions import create_dmn_resource_definition
from chalicelib.profile import Profile
from chalicelib.store import definitions
from chalicelib.store.definitions import Definition
from tests.conformance.corpus import (
    MODELS,
    called_by,
    decisions_of,
    elements_of,
    file_of,
    needs_models,
    process_of,
    processes_of,
    refusals,
    runs,
    starts_of,
    written,
)
from tests.conformance.random_worker import RandomWorker
from tests.dmn import models as dmn
from tests.operations.stage import Stage

RUNS = runs()
SEEDS_MIN, SEEDS_MAX = 2, 60  # for each profile and start event; until all was entered that can be

# What no way leads to, by the numbers of the models, and why.
UNREACHED: dict[str, set[str]] = {
    "001": {  # behind a gateway one of whose conditions is `false`, the other `true`
        *("ServiceTask_10hm6pn", "BoundaryEvent_0s43v6m", "Task_0sdkq4x", "Task_1yuae6d"),
        *("BoundaryEvent_025mscv", "EndEvent_1no2aoc", "CreditCardChargedEvent"),
    },
    "032": {"Event_0mrwk3f", "Event_0670o3g"},  # an escalation always interrupts what they are in
    "047": {"BoundaryEvent_1uy9o9h", "EndEvent_1irlotk", "Task_0q869n2"},  # nothing escalates
}


def named(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(value)


@needs_models
def test_what_is_wrong_with_each_refused_model_is_told_in_full() -> None:
    found = {path.stem: written(path) for path in MODELS}

    assert refusals() == {name: text for name, text in found.items() if text}


@needs_models
@pytest.mark.parametrize(("path", "process_id"), RUNS, ids=named)
def test_a_model_is_driven_to_its_end_by_every_way_there_is(path: Path, process_id: str) -> None:
    unreached = UNREACHED.get(path.stem[:3], set())
    missed = elements_of(path, process_id)
    profiles = [profile for profile in Profile if processes_of(path, profile)]
    for seed in range(SEEDS_MAX):
        for profile, start in product(profiles, starts_of(path, process_id)):
            worker, definition = ready(path, process_id, profile, seed)
            key = worker.start(definition, definition.process.elements[start])

            assert "completed" == worker.drive(key), f"seed {seed}, {profile}, from {start}"
            assert [] == worker.left(), f"seed {seed}, {profile}, from {start}"
            missed -= worker.entered()
        if seed >= SEEDS_MIN and missed == unreached:
            break

    assert unreached == missed


@needs_models
def test_a_decision_that_nobody_deployed_is_what_a_model_waits_for() -> None:
    (path,) = (path for path in MODELS if path.stem.startswith("014"))
    stage = Stage()
    worker = RandomWorker(stage, processes_of(path, Profile.ZENBPM), Profile.ZENBPM, seed=0)

    waits = worker.drive(stage.create(path.read_bytes()), steps_max=20)

    expected = "expected a deployed decision, found none with id benchmark-decision"
    assert f"Incident at Activity_0ehlkav decisionId of Activity_0ehlkav: {expected}" in waits


def ready(
    path: Path, process_id: str, profile: Profile, seed: int
) -> tuple[RandomWorker, Definition]:
    """Deploy a process with what it calls, and a decision wherever it asks for one."""
    stage = Stage()
    called = called_by(process_of(path, process_id))
    files = [path, *(file for each in called if (file := file_of(each)))]
    for file in files:
        stage.deploy(file.read_bytes(), profile)
    processes = [each for file in files for each in processes_of(file, profile)]
    for decision_id in {each for process in processes for each in decisions_of(process)}:
        made = dmn.decision(decision_id, dmn.literal("7"))
        made = made.replace(f'id="{dmn.id_of(decision_id)}"', f'id="{decision_id}"')
        decision = dmn.definitions(made)
        create_dmn_resource_definition(stage.ports, decision, profile)
    definition = definitions.latest_of(stage.table, process_id, profile)
    assert definition is not None
    return RandomWorker(stage, processes, profile, seed), definition
