"""Definitions are deleted: their starts go back to the version before, what runs goes on."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import Incident, InstanceState
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import messages
from chalicelib.operations.conditionals import evaluate_conditionals
from chalicelib.operations.definitions import delete_process_definition
from chalicelib.operations.dmn_definitions import (
    create_dmn_resource_definition,
    delete_dmn_resource_definition,
)
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.operations.messages import Message
from chalicelib.profile import Profile
from chalicelib.store import definitions, dmn_definitions, start_timers
from chalicelib.store.definitions import Definition
from tests.engine.event_models import conditional, several, timer
from tests.engine.models import (
    end,
    line,
    message_event,
    process,
    service,
    signal_event,
    start,
    task,
)
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.play import DIAGRAMS, to_json
from tests.simulation.replacing import replaced

FIRST, SECOND = "first", "second"


def started_by(event: str, type_: str, **names: object) -> bytes:
    return process(event, service(type_), flows=f"e > {type_}", **names)  # type: ignore[arg-type]


def message_start(type_: str) -> bytes:
    event = message_event("startEvent", "e", "paid")
    return started_by(event, type_, messages={"paid": None})


def delete(stage: Stage, definition: Definition) -> None:
    delete_process_definition(stage.ports, definition.key)


def refused(stage: Stage, **named: object) -> Reason:
    with pytest.raises(Rejected) as found:
        create_process_instance(stage.ports, Start(profile=Profile.ZENBPM, **named))  # type: ignore[arg-type]
    return found.value.reason


def has_jobs(stage: Stage, type_: str) -> int:
    return len(stage.activate(type_, max_jobs=10))


# --- what is gone, and what goes on --------------------------------------------------------------


def test_what_is_deleted_starts_nothing_and_its_instances_go_on() -> None:
    stage = Stage()
    definition = stage.deploy(line(service("a"), service("b")))
    key = stage.create(definition)

    delete(stage, definition)

    assert Reason.NOT_FOUND is refused(stage, definition_key=definition.key)
    assert Reason.NOT_FOUND is refused(stage, bpmn_process_id="p")
    stage.work("a")
    stage.work("b")
    assert InstanceState.COMPLETED is stage.state(key)


def test_one_that_is_not_there_is_not_found_nor_one_that_was_deleted() -> None:
    stage = Stage()
    definition = stage.deploy(line(task("a")))
    delete(stage, definition)

    for key in (1, definition.key):
        with pytest.raises(Rejected) as found:
            delete_process_definition(stage.ports, key)
        assert Reason.NOT_FOUND is found.value.reason
    assert [] == definitions.list_all(stage.table)


def test_a_number_is_never_given_twice() -> None:
    stage = Stage()
    one, two = stage.deploy(line(task("a"))), stage.deploy(line(task("b")))
    delete(stage, two)
    assert (1, 2) == (one.version, two.version)

    three = stage.deploy(line(task("b")))
    assert 3 == three.version
    for each in (one, three):
        delete(stage, each)

    assert 4 == stage.deploy(line(task("b"))).version


def test_the_latest_before_it_is_the_latest_again() -> None:
    stage = Stage()
    one, two, three = (stage.deploy(line(service(f"s{n}"))) for n in range(3))

    delete(stage, two)
    assert three.key == latest(stage)
    delete(stage, three)
    assert one.key == latest(stage)
    assert one.key == stage.deploy(line(service("s0"))).key


def latest(stage: Stage) -> int | None:
    found = definitions.latest_of(stage.table, "p", Profile.ZENBPM)
    return None if found is None else found.key


def test_its_version_tag_is_free_again() -> None:
    stage = Stage()
    tag = b"<extensionElements><zeebe:versionTag value='v1'/></extensionElements>"
    tagged = line(task("a")).replace(b'isExecutable="true">', b'isExecutable="true">' + tag)
    definition = stage.deploy(tagged)
    delete(stage, definition)

    again = stage.deploy(tagged)

    found = definitions.tagged(stage.table, "p", Profile.ZENBPM, "v1")
    assert found is not None
    assert (again.key, 2) == (found.key, found.version)


# --- what starts instances -----------------------------------------------------------------------


def test_a_message_and_a_condition_start_the_version_before() -> None:
    stage = Stage()
    stage.deploy(message_start(FIRST))
    newer = stage.deploy(message_start(SECOND))
    delete(stage, newer)

    messages.publish_message(stage.ports, Message("paid"))
    assert (1, 0) == (has_jobs(stage, FIRST), has_jobs(stage, SECOND))

    event = several("startEvent", "e", conditional("x"))
    stage.deploy(started_by(event, FIRST))
    newer = stage.deploy(started_by(event, SECOND))
    delete(stage, newer)
    (started,) = evaluate_conditionals(stage.ports, to_json({"x": True}))
    assert [FIRST] == [job.type for job in stage.activate(FIRST, client="b")]
    assert InstanceState.ACTIVE is stage.state(started.instance_key)


def test_a_signal_and_a_message_start_nothing_when_the_last_version_is_gone() -> None:
    stage = Stage()
    for source in (
        message_start(FIRST),
        started_by(signal_event("startEvent", "e", "s"), FIRST, signals={"s": "alarm"}),
    ):
        delete(stage, stage.deploy(source))

    with pytest.raises(Rejected) as found:
        messages.publish_message(stage.ports, Message("paid"))
    assert Reason.NOT_FOUND is found.value.reason
    assert 0 == has_jobs(stage, FIRST)


def cycle(type_: str, text: str) -> bytes:
    return started_by(several("startEvent", "e", timer(cycle=text)), type_)


def test_a_cycle_of_the_version_before_begins_anew_and_the_deleted_one_is_over() -> None:
    stage = Stage()
    stage.deploy(cycle(FIRST, "R2/PT10S"))
    stage.wait(11)
    stage.work(FIRST)
    newer = stage.deploy(cycle(SECOND, "R/PT10S"))
    stage.wait(5)

    delete(stage, newer)
    stage.wait(40)

    assert (2, 0) == (has_jobs(stage, FIRST), has_jobs(stage, SECOND))


def test_a_date_that_is_past_is_not_met_again() -> None:
    stage = Stage()
    due = (stage.clock.now()).isoformat()
    event = several("startEvent", "e", timer(date=due))
    stage.deploy(started_by(event, FIRST))
    stage.wait(2)
    assert 1 == has_jobs(stage, FIRST)
    newer = stage.deploy(cycle(SECOND, "R/PT1H"))

    delete(stage, newer)
    stage.wait(10)

    assert 0 == has_jobs(stage, FIRST)


def test_the_message_of_a_timer_that_comes_before_the_pointer_is_moved_back_is_kept() -> None:
    stage = Stage()
    stage.deploy(cycle(FIRST, "R1/PT1S"))
    stage.wait(2)
    newer = stage.deploy(cycle(SECOND, "R/PT1H"))
    assert 1 == has_jobs(stage, FIRST)

    transact = stage.table.transact

    def late(*args: object) -> object:
        stage.wait(3)  # its message is due, and judged by the pointer as it was
        return transact(*args)  # type: ignore[arg-type]

    with replaced(stage.table, transact=late):
        delete(stage, newer)
    stage.wait(5)

    assert 1 == has_jobs(stage, FIRST)


def test_a_timer_of_the_version_before_that_was_lost_is_mended_by_the_sweeper() -> None:
    stage = Stage()
    stage.deploy(cycle(FIRST, "R1/PT10S"))
    delete(stage, stage.deploy(cycle(SECOND, "R/PT1H")))
    stage.queues.lose("timers")
    stage.wait(400)
    assert 0 == has_jobs(stage, FIRST)

    sweep_all(stage.ports)
    stage.wait(2)

    assert 1 == has_jobs(stage, FIRST)


def test_a_pointer_that_was_moved_back_and_empty_ones_are_swept_over() -> None:
    stage = Stage()
    delete(stage, stage.deploy(cycle(FIRST, "R1/PT10S")))

    assert 0 == sweep_all(stage.ports).mended
    assert start_timers.read(stage.table, Profile.ZENBPM, "p") is None


# --- DMN -----------------------------------------------------------------------------------------


def deploy_dmn(stage: Stage, name: str) -> int:
    xml = (DIAGRAMS / "dmn" / "discount.dmn").read_text()
    xml = xml.replace('name="Discounts"', f'name="{name}"')
    return create_dmn_resource_definition(stage.ports, xml.encode(), Profile.ZENBPM)[0].key


def deciding(stage: Stage) -> int | None:
    found = dmn_definitions.latest_of(stage.table, "discount", Profile.ZENBPM)
    return None if found is None else found.key


def test_a_decision_is_made_by_the_version_before_again() -> None:
    stage = Stage()
    one, two = deploy_dmn(stage, "Discounts"), deploy_dmn(stage, "Others")
    assert two == deciding(stage)

    delete_dmn_resource_definition(stage.ports, two)
    assert one == deciding(stage)
    delete_dmn_resource_definition(stage.ports, one)
    assert deciding(stage) is None
    assert [] == dmn_definitions.list_all(stage.table)

    third = deploy_dmn(stage, "Discounts")
    (info,) = dmn_definitions.list_all(stage.table)
    assert (third, 3) == (info.key, info.version)


def test_a_decision_of_another_file_is_left_alone() -> None:
    stage = Stage()
    one = deploy_dmn(stage, "Discounts")
    xml = (DIAGRAMS / "dmn" / "discount.dmn").read_text().replace('id="discounts"', 'id="other"')
    other = create_dmn_resource_definition(stage.ports, xml.encode(), Profile.ZENBPM)[0].key
    assert other == deciding(stage)

    delete_dmn_resource_definition(stage.ports, one)
    assert other == deciding(stage)
    delete_dmn_resource_definition(stage.ports, other)
    assert deciding(stage) is None


def test_a_task_that_calls_what_was_deleted_is_an_incident_until_it_is_deployed_again() -> None:
    stage = Stage()
    dmn = deploy_dmn(stage, "Discounts")
    definition = stage.deploy("dmn/rule_task.bpmn")
    delete_dmn_resource_definition(stage.ports, dmn)

    key = stage.create(definition, amount=550)
    stage.work("before")

    records = stage.instance(key).records.values()
    (incident,) = (each for each in records if isinstance(each, Incident))
    assert "CALLED_DECISION_ERROR" == incident.error_type


def test_nothing_deleted_is_in_the_way_of_end_events() -> None:
    stage = Stage()
    definition = stage.deploy(process(start(), end(), flows="start > end"))
    key = stage.create(definition)
    delete(stage, definition)

    assert InstanceState.COMPLETED is stage.state(key)
