"""What a trace shows of tokens and of callers who change variables."""

from __future__ import annotations

from typing import Any

from chalicelib.engine.commands import (
    CancelInstance,
    CreateInstance,
    DeleteVariable,
    ModifyInstance,
    SetVariables,
)
from chalicelib.engine.limits import Limits
from chalicelib.operations.advance import advance, start
from chalicelib.ports import Settings
from chalicelib.telemetry import spans
from tests.operations.models import typed_task, wide_fork
from tests.operations.watched import fault, watched
from tests.telemetry.told import Told


def shown(stage: Told, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the names, and the attributes, of the spans of one kind."""
    return [
        (span["name"], span["metadata"]["headrace"])
        for span in stage.spans
        if span["name"].startswith(f"{kind}:")
    ]


def standing(stage: Told) -> list[tuple[str, str]]:
    """Return where tokens stay or ended, and how, since the last time."""
    found = [(name, told["zenbpm.token.status"]) for name, told in shown(stage, "token")]
    stage.spans.clear()
    return found


def test_a_token_is_shown_where_it_stays_and_where_it_ends() -> None:
    stage = Told()

    key = stage.create("one_task.bpmn")
    waiting = shown(stage, "token")
    stage.work("charge")

    ((name, told),) = waiting
    job = stage.jobs_of(key)[0]
    assert "token:charge" == name
    assert {
        "zenbpm.process.instance_key": key,
        "zenbpm.token.key": job.element_key,
        "zenbpm.token.status": "TokenStateWaiting",
        "zenbpm.element.id": "charge",
        "zenbpm.element.key": job.element_key,
        "zenbpm.element.type": "SERVICE_TASK",
    }.items() <= told.items()
    assert [("token:charge", "TokenStateWaiting"), ("token:end", "TokenStateCompleted")] == (
        standing(stage)
    )


def test_a_token_that_an_incident_keeps_has_failed_and_one_that_is_ended_was_canceled() -> None:
    stage = Told()

    key = stage.create(typed_task("=nothing"))
    failed = standing(stage)
    advance(stage.ports, key, CancelInstance())

    assert [("token:task", "TokenStateFailed")] == failed
    assert [("token:task", "TokenStateCanceled")] == standing(stage)


def test_an_element_is_shown_by_its_name_if_it_has_one() -> None:
    stage = Told()
    xml = typed_task("work").replace(b'id="task"', b'id="task" name="Do it"', 1)

    stage.create(xml)

    names = {name: told.get("zenbpm.element.name") for name, told in shown(stage, "flow-node")}
    assert {"flow-node:start": None, "flow-node:task": "Do it"} == names


def test_tokens_take_no_more_than_their_share_of_a_trace() -> None:
    stage = Told()

    stage.create(wide_fork(60))
    stage.work("work")

    of_tokens = shown(stage, "flow-node") + shown(stage, "token")
    assert spans.OF_TOKENS_MAX - 1 == len(of_tokens)  # beside the start of the instance
    assert 2 == len(shown(stage, "job"))


def test_changing_variables_is_shown() -> None:
    stage = Told()
    key = stage.create("one_task.bpmn", old=1)

    advance(stage.ports, key, SetVariables({"new": "secret"}))
    advance(stage.ports, key, DeleteVariable("old"))

    modified, deleted = shown(stage, "modify-instance"), shown(stage, "delete-instance-variable")
    assert [["modify-instance:one_task"], ["delete-instance-variable:one_task"]] == [
        [name for name, _ in modified],
        [name for name, _ in deleted],
    ]
    assert key == modified[0][1]["zenbpm.process.instance_key"]
    assert "secret" not in str(stage.spans)


def test_starting_elsewhere_and_moving_tokens_is_shown() -> None:
    stage = Told()
    definition = stage.deploy("sequence.bpmn")
    command = CreateInstance(
        definition.key, definition.version, definition.profile, starting_elements=("charge",)
    )

    key = start(stage.ports, definition, command).after.key
    (job,) = stage.jobs_of(key)
    advance(stage.ports, key, ModifyInstance(start=("ship",), terminate=(job.element_key,)))

    of_instance = [span["name"] for span in stage.spans if "-instance" in span["name"]]
    assert ["start-instance-on-elements:sequence", "modify-instance:sequence"] == of_instance
    assert [
        ("token:charge", "TokenStateWaiting"),
        ("token:charge", "TokenStateCanceled"),
        ("token:ship", "TokenStateWaiting"),
    ] == standing(stage)


def test_a_turn_that_only_makes_way_for_a_command_is_not_told_as_it() -> None:
    stage = Told(Settings(limits=Limits(moves_max=2)))
    definition = stage.deploy(wide_fork(9))
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = lambda: watch.before.update({("table.get", 1): fault})
    key = stage.create(definition)
    stage.ports = whole
    before = stage.instance(key).root

    advance(stage.ports, key, SetVariables({"new": "x"}))

    assert before.agenda and stage.instance(key).root.version > before.version + 1
    assert 1 == len(shown(stage, "modify-instance"))
