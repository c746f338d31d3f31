"""Decision tables are deployed and made: each hit policy takes its own of the rules that match."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Answer, Client
from tests.api.priostack.driver import (
    API,
    deploy,
    incidents,
    instance,
    process,
    refused,
    start,
    state,
)

DMN = "https://www.omg.org/spec/DMN/20191111/MODEL/"
# Two of them overlap: of 15 both match, of 5 the first alone, of 0 none.
RULES = [("&gt; 1", '"low"'), ("&gt; 10", '"high"')]


def table(policy: str) -> bytes:
    rules = "".join(
        f'<rule id="r{number}"><inputEntry id="i{number}"><text>{when}</text></inputEntry>'
        f'<outputEntry id="o{number}"><text>{then}</text></outputEntry></rule>'
        for number, (when, then) in enumerate(RULES, 1)
    )
    return (
        f'<?xml version="1.0"?>\n<!-- rates -->\n<definitions xmlns="{DMN}" id="file" '
        f'name="Rates" namespace="urn:rates"><decision id="rate" name="Rate">'
        f'<decisionTable id="t" hitPolicy="{policy}"><input id="in"><inputExpression id="x">'
        "<text>amount</text></inputExpression></input>"
        f'<output id="out" name="rate"/>{rules}</decisionTable></decision></definitions>'
    ).encode()


LITERAL = (
    f'<definitions xmlns="{DMN}" id="file" name="Rates" namespace="urn:rates">'
    '<decision id="rate" name="Rate"><variable name="rate"/><literalExpression id="l">'
    "<text>amount * 2</text></literalExpression></decision></definitions>"
).encode()

CALLING = process(
    '<startEvent id="s"/><businessRuleTask id="decide"><extensionElements><zeebe:calledDecision '
    'decisionId="rate" resultVariable="rate"/></extensionElements></businessRuleTask>'
    '<endEvent id="e"/>',
    flows="s>decide decide>e",
)


def evaluate(client: Client, amount: int, id_: str = "rate") -> Answer:
    return client.post(f"{API}/decisions/{id_}/evaluate", {"variables": {"amount": amount}})


@pytest.mark.rule("P79")
@pytest.mark.parametrize(
    ("policy", "amount", "result", "rules"),
    [
        ("UNIQUE", 5, "low", [1]),
        ("UNIQUE", 15, None, None),
        ("FIRST", 15, "low", [1]),
        ("RULE ORDER", 15, ["low", "high"], [1, 2]),
        ("COLLECT", 15, ["low", "high"], [1, 2]),
        ("COLLECT", 5, ["low"], [1]),
    ],
)
def test_each_hit_policy_gives_its_own_result(
    client: Client, policy: str, amount: int, result: Any, rules: list[int] | None
) -> None:
    deployed = deploy(client, table(policy))

    answer = evaluate(client, amount)

    assert (["rate"], 1) == (deployed["decisions"], deployed["version"])
    assert (200, result) == (answer.status, answer.json["result"])
    if rules is not None:
        assert rules == [each["number"] for each in answer.json["matchedRules"]]


def test_a_decision_that_is_not_there_is_404(client: Client) -> None:
    answer = evaluate(client, 5, "none")

    assert (404, {"error": "decision not found"}) == (answer.status, answer.json)


def test_a_process_calls_a_decision(client: Client) -> None:
    deploy(client, table("FIRST"))
    key = start(client, CALLING, {"amount": 15})

    assert ("COMPLETED", "low") == (state(client, key), instance(client, key)["variables"]["rate"])


@pytest.mark.parametrize("amount", [0])
def test_a_process_stops_where_nothing_is_decided(client: Client, amount: int) -> None:
    deploy(client, table("UNIQUE"))
    key = start(client, CALLING, {"amount": amount})

    assert "INCIDENT" == state(client, key)
    assert ["DECISION_FAILED"] == [each["error_code"] for each in incidents(client)]


@pytest.mark.rule("P42")
@pytest.mark.parametrize(
    "source", [table("UNIQUE"), table("FIRST"), LITERAL], ids=["UNIQUE", "FIRST", "literal"]
)
def test_a_variable_that_a_decision_reads_and_is_not_there_is_an_incident(
    client: Client, source: bytes
) -> None:
    deploy(client, source)
    key = start(client, CALLING, {})

    (incident,) = incidents(client)
    assert ("INCIDENT", "VARIABLE_MISSING") == (state(client, key), incident["error_code"])
    assert "amount" in incident["error_message"]


@pytest.mark.rule("P42")
@pytest.mark.parametrize("amount", [None, "text"])
def test_a_variable_that_is_there_and_decides_nothing_is_another_incident(
    client: Client, amount: Any
) -> None:
    deploy(client, table("UNIQUE"))
    start(client, CALLING, {"amount": amount})

    assert ["DECISION_FAILED"] == [each["error_code"] for each in incidents(client)]


@pytest.mark.rule("P42")
def test_a_variable_that_names_the_decision_and_is_not_there_is_an_incident(
    client: Client,
) -> None:
    start(client, CALLING.replace(b'decisionId="rate"', b'decisionId="=which"'), {})

    (incident,) = incidents(client)
    assert "VARIABLE_MISSING" == incident["error_code"]
    assert "there is no variable which" in incident["error_message"]


@pytest.mark.rule("P42")
def test_a_decision_may_do_without_a_variable(client: Client) -> None:
    deploy(client, LITERAL.replace(b"amount * 2", b"if amount = null then 1 else 2"))
    key = start(client, CALLING, {})

    assert ("COMPLETED", 1) == (state(client, key), instance(client, key)["variables"]["rate"])


def test_a_wrong_table_is_422_and_what_is_no_xml_400(client: Client) -> None:
    wrong = refused(client, table("FIRST").replace(b"amount", b"1 +"))
    broken = refused(client, table("FIRST")[:-5])

    assert [422, 400] == [wrong.status, broken.status]
