"""Decisions: made for callers and for business rule tasks, kept with their audit, listed."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.engine.commands import ResolveIncident, SetVariables
from chalicelib.engine.state import Incident, InstanceState
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.operations.advance import advance
from chalicelib.operations.dmn_decisions import Evaluation, evaluate_decision, get_decision_instance
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.ports import HISTORY, Put, Query, Settings
from chalicelib.profile import Profile
from chalicelib.store import dmn_decisions, history, table
from chalicelib.store.lists import Cut
from chalicelib.store.moments import to_ms
from tests.dmn.models import decision, definitions, literal
from tests.engine.models import io, line, rule, service
from tests.operations.dmn import DISCOUNT, RULE_TASK, decisions, deploy_dmn, evaluate
from tests.operations.stage import Stage
from tests.play import DIAGRAMS, to_json

KEPT = timedelta(days=20)
IN_A_SUBPROCESS = (
    (DIAGRAMS / RULE_TASK)
    .read_text()
    .replace(
        '<businessRuleTask id="decide"',
        '<subProcess id="decide"><startEvent id="s"/>'
        '<sequenceFlow id="i" sourceRef="s" targetRef="rule"/><businessRuleTask id="rule"',
    )
    .replace("</businessRuleTask>", "</businessRuleTask></subProcess>")
)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def decided(stage: Stage, amount: int, source: str | bytes = RULE_TASK) -> int:
    """Run an instance up to the decision, or past it."""
    key = stage.create(source)
    stage.work("before", amount=amount)
    return key


def incident_of(stage: Stage, key: int) -> Incident:
    records = stage.instance(key).records.values()
    (found,) = [r for r in records if isinstance(r, Incident) and r.resolved_at is None]
    return found


def test_a_business_rule_task_makes_its_decision_between_two_jobs(stage: Stage) -> None:
    deploy_dmn(stage)
    key = decided(stage, 550)

    assert {"percent": 5, "reason": "a few points"} == stage.variables(key)["discount"]
    stage.work("after")
    assert InstanceState.COMPLETED == stage.state(key)


def test_what_a_process_decided_is_kept_with_its_audit(stage: Stage) -> None:
    info = deploy_dmn(stage)
    key = decided(stage, 550)

    (made,) = decisions(stage, instance_key=key).items
    assert ("discount", info.key, "discounts") == made[1:4]
    assert (key, key, "decide") == (made.instance_key, made.scope, made.element_id)
    assert made == get_decision_instance(stage.ports, made.key)[0]
    points, discount = made.evaluated.audit
    assert ("points", "literalExpression", 5) == (points["id"], points["kind"], points["output"])
    assert [
        {"id": "in_points", "name": "Points", "expression": "points", "value": Decimal(5)}
    ] == discount["inputs"]
    assert [("few", 1)] == [(rule["id"], rule["number"]) for rule in discount["rules"]]


def test_a_decision_is_part_of_its_turn_and_of_no_other_history(stage: Stage) -> None:
    deploy_dmn(stage)
    key = decided(stage, 550)

    assert stage.instance(key).root.version == max(
        int(str(item["sk"]).split("#")[1])
        for item in stage.table.query(Query(HISTORY, table.instance_pk(key), first="H#")).items
    )
    assert list(history.events(stage.table, key))


def test_a_decision_in_a_subprocess_is_listed_under_that(stage: Stage) -> None:
    deploy_dmn(stage)
    key = decided(stage, 550, IN_A_SUBPROCESS.encode())

    (made,) = decisions(stage).items
    assert key == made.instance_key != made.scope
    assert [made] == list(decisions(stage, instance_key=made.scope).items)
    assert [] == list(decisions(stage, instance_key=key).items)


def test_a_decision_that_no_rule_makes_is_an_incident_that_resolving_makes_again(
    stage: Stage,
) -> None:
    deploy_dmn(stage)
    key = decided(stage, 5)

    incident = incident_of(stage, key)
    assert "DECISION_EVALUATION_ERROR" == incident.error_type
    assert "decision discount of decide: no rule matches" in incident.message
    assert [] == list(decisions(stage).items)

    advance(stage.ports, key, SetVariables(to_json({"amount": 900})))
    advance(stage.ports, incident.key, ResolveIncident(incident.key))
    assert ["after"] == [job.type for job in stage.jobs_of(key) if job.state == "active"]
    assert {"percent": 9, "reason": "a few points"} == decisions(stage).items[0].evaluated.output


def test_a_decision_that_is_deployed_later_is_found_when_the_incident_is_resolved(
    stage: Stage,
) -> None:
    key = decided(stage, 550)
    incident = incident_of(stage, key)
    assert "CALLED_DECISION_ERROR" == incident.error_type

    deploy_dmn(stage)
    advance(stage.ports, incident.key, ResolveIncident(incident.key))
    assert "discount" in stage.variables(key)


def test_an_incident_says_what_was_null_on_the_way(stage: Stage) -> None:
    deploy_dmn(stage)
    key = stage.create(line(rule("decide", "discount")))

    message = incident_of(stage, key).message
    assert "no rule matches" in message and "points_text: no variable 'amount'" in message


def test_a_process_may_begin_with_a_decision(stage: Stage) -> None:
    deploy_dmn(stage)
    key = stage.create(line(rule("decide", "discount"), service("after")), amount=5000)

    assert {"percent": 15, "reason": "many points"} == stage.variables(key)["result"]
    assert ["after"] == [job.type for job in stage.jobs_of(key)]


def test_a_decision_whose_audit_fits_into_no_item_is_an_incident_of_its_task(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("d", literal("given"))))
    before = service("before", extensions=io(outputs={"given": "=given"}))
    decide = rule("decide", "d", extensions=io(outputs={"count": "=count(result)"}))
    key = stage.create(line(before, decide))
    stage.work("before", given=[stage.chance.id() for _ in range(9_000)])

    incident = incident_of(stage, key)
    assert ("decide", "SIZE_LIMIT") == (incident.element_id, incident.error_type)
    assert "in the audit of decision" in incident.message
    assert [] == list(decisions(stage).items)


@pytest.mark.parametrize(
    ("policy", "problem"),
    [("UNIQUE", "expected one rule to match, found rules [1, 2]"), ("ANY", "to say the same")],
)
def test_rules_that_contradict_each_other_are_an_incident(
    stage: Stage, policy: str, problem: str
) -> None:
    text = (DIAGRAMS / DISCOUNT).read_text().replace("[1..9]", ">= 1").replace("UNIQUE", policy)
    deploy_dmn(stage, text.replace(">= 1", "&gt;= 1").encode())
    key = decided(stage, 5000)

    assert problem in incident_of(stage, key).message


def test_a_null_that_a_rule_says_is_a_result(stage: Stage) -> None:
    text = (DIAGRAMS / DISCOUNT).read_text()
    only = text.replace('<output id="out_reason" name="reason" typeRef="string"/>', "")
    for name in ("few", "many"):
        start = only.index(f'<outputEntry id="{name}_reason">')
        only = only[:start] + only[only.index("</outputEntry>", start) + len("</outputEntry>") :]
    says = "<text>{}</text></outputEntry>"
    deploy_dmn(stage, only.replace(says.format("points"), says.format("null")).encode())
    key = decided(stage, 550)

    assert {"amount": 550, "discount": None} == stage.variables(key)


def test_a_caller_gets_null_where_no_rule_matches(stage: Stage) -> None:
    deploy_dmn(stage)

    made = evaluate(stage, amount=5)
    assert (None, None) == (made.evaluated.output, made.evaluated.problem)
    assert [made._replace(evaluated=made.evaluated._replace(lasted=timedelta(0)))] == list(
        decisions(stage).items
    )


def test_what_cannot_be_evaluated_is_refused_and_not_kept(stage: Stage) -> None:
    endless = "for a in 1..100000, b in 1..100000, c in 1..1000 return a"
    deploy_dmn(stage, definitions(decision("d", literal(endless))))

    with pytest.raises(Rejected, match="decision d: d:") as refused:
        evaluate(stage, "d")
    assert Reason.INVALID_ARGUMENT == refused.value.reason
    assert [] == list(decisions(stage).items)


def test_an_audit_that_fits_into_no_item_is_too_large(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("d", literal("given"))))
    given = {"given": [stage.chance.id() for _ in range(30_000)]}

    with pytest.raises(TooLarge, match="in the audit of a decision"):
        evaluate(stage, "d", **given)


def test_an_output_that_could_not_be_read_again_is_too_large(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("d", literal("[" * 6 + "given" + "]" * 6))))
    deep: object = []
    for _ in range(495):
        deep = [deep]

    wanted = Evaluation("d", Profile.ZENBPM, {"given": deep})
    with pytest.raises(TooLarge, match="decision d: JSON nested deeper than 500 levels"):
        evaluate_decision(stage.ports, wanted)


def test_decisions_are_listed_by_time_definition_and_instance(stage: Stage) -> None:
    first = deploy_dmn(stage)
    made = [evaluate(stage, amount=550)]
    stage.clock.move(60)
    changed = (DIAGRAMS / DISCOUNT).read_bytes().replace(b">15<", b">20<")
    second = deploy_dmn(stage, changed)
    made.append(evaluate(stage, amount=550))
    stage.clock.move(60)
    decided(stage, 550)
    (of_process,) = decisions(stage).items[:1]
    keys = [made[0].key, made[1].key, of_process.key]

    def found(cut: Cut | None = None, **asked: object) -> list[int]:
        return [keys.index(each.key) for each in decisions(stage, cut, **asked).items]

    assert [2, 1, 0] == found()
    assert [0, 1, 2] == found(Cut(sort_by="key", ascending=True))
    assert [1] == found(Cut(first=1, size=1))
    assert [0] == found(definition_key=first.key)
    assert [2, 1] == found(definition_key=second.key)
    assert [2, 1, 0] == found(resource_id="discounts")
    assert [] == found(resource_id="others")
    assert [] == found(resource_id="others", definition_key=first.key)
    assert [1, 0] == found(decided_to=made[1].at)
    assert [2, 1] == found(decided_from=made[1].at)
    assert [] == found(instance_key=of_process.instance_key, decided_to=made[1].at)
    assert [2] == found(instance_key=of_process.instance_key)
    assert [] == found(instance_key=1)
    assert decisions(stage, Cut(looks_max=2)).is_floor


def test_a_decision_goes_with_the_instance_that_made_it() -> None:
    stage = Stage(Settings(history_time_to_live_s=int(KEPT.total_seconds())))
    deploy_dmn(stage)
    definition = stage.deploy(RULE_TASK)
    wanted = Start(definition_key=definition.key, profile=definition.profile)
    key = create_process_instance(stage.ports, wanted).key
    stage.work("before", amount=550)
    (made,) = decisions(stage).items
    assert expiry_of(stage, key, made.key) is None

    stage.work("after")
    stage.wait(10)

    ended_at = stage.instance(key).root.ended_at
    assert ended_at is not None
    assert to_ms(ended_at + KEPT) // 1000 == expiry_of(stage, key, made.key)


def test_a_decision_that_no_process_made_goes_after_the_same_time() -> None:
    stage = Stage(Settings(history_time_to_live_s=int(KEPT.total_seconds())))
    deploy_dmn(stage)
    alone = evaluate(stage, amount=550)

    assert to_ms(alone.at + KEPT) // 1000 == expiry_of(stage, alone.key, alone.key)


def expiry_of(stage: Stage, instance: int, key: int) -> object:
    item = stage.table.get(table.decision_key(instance, key))
    assert item is not None
    return item.get("expires_at")


def test_a_key_that_names_no_decision_is_not_found(stage: Stage) -> None:
    deploy_dmn(stage)
    key = decided(stage, 550)

    for other in (0, -1, 1, key, key + 1):
        with pytest.raises(Rejected, match=f"no decision instance with key {other} was found"):
            get_decision_instance(stage.ports, other)


def test_a_decision_of_a_further_block_is_found(stage: Stage) -> None:
    deploy_dmn(stage)
    key = decided(stage, 550)
    (made,) = decisions(stage).items
    other = (1 << 20 << 12) + 4096 * 60 + 7
    stage.table.write(dmn_decisions.put(made._replace(key=other)))
    assert dmn_decisions.get(stage.table, other) is None

    stage.table.write(Put(table.root_key(other), {"alias_of": key}))
    assert dmn_decisions.get(stage.table, other) == made._replace(key=other)


def test_a_running_instance_loads_no_xml_parser() -> None:
    code = """
import sys
from chalicelib.store import dmn_definitions, table
from tests.operations.dmn import *
stage = Stage()
info = deploy_dmn(stage)
stage.create(RULE_TASK)
del sys.modules["lxml.etree"], sys.modules["chalicelib.xml_reader"]
dmn_definitions._KEPT.__init__(1)
stage.work("before", amount=550)
print(len(decisions(stage).items), "lxml.etree" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ("1 False\n", "") == (done.stdout, done.stderr)
