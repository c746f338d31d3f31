"""Deploying a file: all of its processes or none, with their queues, and not twice."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.parser import PROCESSES_MAX
from chalicelib.delivery.bells import PREFIX
from chalicelib.delivery.promise import TYPES_MAX
from chalicelib.errors import Busy, Rejected
from chalicelib.operations.definitions import (
    WantedDefinitions,
    create_process_definition,
    get_process_definition,
    get_process_definitions,
)
from chalicelib.profile import Profile
from chalicelib.store.lists import Cut
from tests.bpmn.models import NAMESPACES, flow
from tests.fakes.queues import MemoryQueues
from tests.operations.stage import Stage
from tests.play import DIAGRAMS

SEQUENCE = (DIAGRAMS / "sequence.bpmn").read_bytes()
BY_KEY = Cut(sort_by="key")


def test_each_profile_has_versions_of_its_own() -> None:
    stage = Stage()

    zenbpm = stage.deploy(SEQUENCE, Profile.ZENBPM)
    priostack = stage.deploy(SEQUENCE, Profile.PRIOSTACK)

    assert (1, 1) == (zenbpm.version, priostack.version)
    latest = get_process_definitions(stage.ports, WantedDefinitions(only_latest=True), BY_KEY)
    assert [priostack.key, zenbpm.key] == [info.key for info in latest.items]


def test_equal_content_is_the_same_definition_for_zenbpm_and_a_new_one_for_priostack() -> None:
    stage = Stage()

    for profile, is_new in ((Profile.ZENBPM, False), (Profile.PRIOSTACK, True)):
        create_process_definition(stage.ports, SEQUENCE, profile)
        assert is_new is create_process_definition(stage.ports, SEQUENCE, profile).created


def test_the_file_comes_back_byte_for_byte() -> None:
    stage = Stage()
    definition = stage.deploy(SEQUENCE)

    _, xml = get_process_definition(stage.ports, definition.key)

    assert SEQUENCE == xml


def test_a_file_that_is_refused_leaves_no_definition_and_no_queue() -> None:
    stage = Stage()
    broken = SEQUENCE.replace(b'targetRef="', b'targetRef="nowhere-', 1)

    with pytest.raises(Rejected, match="nowhere-"):
        stage.deploy(broken)

    assert [] == stage.queues.names()
    assert 0 == get_process_definitions(stage.ports, WantedDefinitions(), BY_KEY).total


def test_the_types_of_listeners_have_queues_too() -> None:
    stage = Stage()
    listener = b'<zeebe:executionListener eventType="start" type="audit"/>'
    listeners = b"<zeebe:executionListeners>" + listener + b"</zeebe:executionListeners>"

    stage.deploy(
        SEQUENCE.replace(b"<bpmn:extensionElements>", b"<bpmn:extensionElements>" + listeners, 1)
    )

    assert "audit" in [name.split("-")[1] for name in stage.queues.names()]


def test_each_literal_type_has_a_queue_before_its_first_job() -> None:
    stage = Stage()

    stage.deploy(SEQUENCE)

    assert ["charge", "reserve", "ship"] == sorted(
        name.split("-")[1] for name in stage.queues.names()
    )


def jobs_of_types(types: int, processes: int = 1, tag: str = "") -> bytes:
    """Return a file of processes that have a job of each type, as many in each."""
    tagged = f'<extensionElements><zeebe:versionTag value="{tag}"/></extensionElements>'
    made = [
        f'<process id="p{n}" isExecutable="true">{tagged if tag else ""}<startEvent id="s{n}"/>'
        + "".join(
            f'<serviceTask id="t{n}-{type_}"><extensionElements><zeebe:taskDefinition '
            f'type="type-{type_}"/></extensionElements></serviceTask>'
            + flow(f"s{n}", f"t{n}-{type_}")
            for type_ in range(types)
        )
        + "</process>"
        for n in range(processes)
    ]
    return f"<definitions {NAMESPACES}>{''.join(made)}</definitions>".encode()


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        (
            jobs_of_types(1, processes=PROCESSES_MAX + 1),
            "expected at most 30 executable processes, found 31",
        ),
        (jobs_of_types(TYPES_MAX + 1), "expected at most 1000 job types, found 1001"),
        (jobs_of_types(2, tag="taken"), "version tag"),
    ],
)
def test_what_is_refused_takes_no_queue_from_others(xml: bytes, told: str) -> None:
    stage = Stage()
    stage.deploy(jobs_of_types(0, tag="taken"))

    with pytest.raises(Rejected, match=told):
        create_process_definition(stage.ports, xml, Profile.ZENBPM)

    assert [] == stage.queues.names()


class Refusing(MemoryQueues):
    """Queues of which none more can be made."""

    def ensure(self, queue: str) -> str:
        if queue.startswith(PREFIX):
            raise Busy("SQS", "ThrottlingException")
        return super().ensure(queue)


def test_a_queue_that_cannot_be_made_now_is_left_to_the_first_job() -> None:
    stage = Stage(queues=Refusing)

    assert create_process_definition(stage.ports, SEQUENCE, Profile.PRIOSTACK).created
