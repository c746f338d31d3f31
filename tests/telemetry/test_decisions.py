"""What an operator sees of decisions: how many, how they went, how long they took."""

from __future__ import annotations

import pytest

from chalicelib.errors import Rejected
from tests.dmn.models import decision, definitions, literal
from tests.operations.dmn import RULE_TASK, deploy_dmn, evaluate
from tests.telemetry.told import Seen, Told


def told_of(stage: Told) -> list[tuple[str, dict[str, str]]]:
    return [(name, labels) for name, labels, _ in stage.counted() if name.startswith("dmn")]


def test_a_decision_is_counted_with_its_outcome() -> None:
    stage = Told()
    deploy_dmn(stage)
    evaluate(stage, amount=550)

    assert [
        ("dmn_evaluations", {"decision_id": "discount", "outcome": "success"}),
        ("dmn_evaluation_duration", {"decision_id": "discount"}),
    ] == told_of(stage)


def test_one_that_stops_a_process_is_a_failure() -> None:
    stage = Told()
    deploy_dmn(stage)
    stage.create(RULE_TASK)
    stage.work("before", amount=5)

    assert ("dmn_evaluations", {"decision_id": "discount", "outcome": "failure"}) in told_of(stage)


def test_one_that_is_refused_is_a_failure_too() -> None:
    stage = Told()
    deploy_dmn(stage, definitions(decision("d", literal("for a in 1..1000000000 return a"))))
    with pytest.raises(Rejected):
        evaluate(stage, "d")

    assert ("dmn_evaluations", {"decision_id": "d", "outcome": "failure"}) in told_of(stage)


def test_a_decision_is_a_span_that_says_of_what_it_is(lines: Seen) -> None:
    stage = Told()
    info = deploy_dmn(stage)
    stage.clear(lines)
    made = evaluate(stage, amount=550)

    (span,) = stage.spans
    assert "dmn.evaluate-decision" == span["name"]
    assert {
        "zenbpm.decision.id": "discount",
        "zenbpm.decision.key": info.key,
        "zenbpm.decision.drd_id": "discounts",
        "zenbpm.decision.instance_key": made.key,
    } == span["metadata"]["headrace"]


def test_one_of_a_process_says_of_which(lines: Seen) -> None:
    stage = Told()
    deploy_dmn(stage)
    key = stage.create(RULE_TASK)
    (job,) = stage.activate("before")
    stage.clear(lines)
    stage.complete(job, amount=5)

    (span,) = [each for each in stage.spans if each["name"] == "dmn.evaluate-decision"]
    told = span["metadata"]["headrace"]
    assert (key, "decide") == (told["zenbpm.process.instance_key"], told["zenbpm.element.id"])
    assert "zenbpm.decision.instance_key" not in told
