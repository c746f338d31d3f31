"""How many attempts a job has, how long it waits between them, and what is kept of each."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.ports import Settings
from tests.api.client import Client
from tests.api.driver import (
    HEAD,
    XML,
    activate,
    cancel,
    complete,
    create,
    created,
    deploy,
    fail,
    incidents,
    instance,
    job,
    one_task,
    resolve,
    the_job,
)
from tests.fakes.clock import ManualClock

MESSAGE = '<messageEventDefinition messageRef="m"/>'
KINDS = {
    "SERVICE_TASK": ("serviceTask", ""),
    "USER_TASK": ("userTask", ""),
    "BUSINESS_RULE_TASK": ("businessRuleTask", ""),
    "INTERMEDIATE_THROW_EVENT": ("intermediateThrowEvent", MESSAGE),
    "END_EVENT": ("endEvent", MESSAGE),
}


def refused(client: Client, definition: str) -> str:
    answer = client.request("POST", "/v1/process-definitions", one_task(definition=definition), XML)
    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    return str(answer.json["message"])


# --- F. initial retries and policy -------------------------------------------------------------


@pytest.mark.rule("R56", "R57", "R59")
@pytest.mark.parametrize(
    ("definition", "retries"),
    [('retries="3"', 3), ("", 1), ('retries=" "', 1), ('retries="0"', 0), ('retries="500"', 100)],
)
def test_a_new_job_has_the_retries_of_its_definition(
    client: Client, definition: str, retries: int
) -> None:
    shown = created(client, definition)

    assert (retries, 0) == (shown["retries"], shown["attempts"])
    assert "retryAt" not in shown


@pytest.mark.rule("R57", "R59")
@pytest.mark.parametrize("settings", [Settings()])
def test_an_expression_is_capped_too(client: Client) -> None:
    assert 100 == created(client, 'retries="=n"', {"n": 10**9})["retries"]


@pytest.mark.rule("R58", "R61")
@pytest.mark.parametrize(("value", "retries"), [(4, 5), ("4", None), (4.0, 5)])
def test_an_expression_is_evaluated_when_the_job_is_made(
    client: Client, value: Any, retries: int | None
) -> None:
    key = create(
        client, one_task(definition='retries="=attemptsAllowed + 1"'), {"attemptsAllowed": value}
    )

    jobs = client.get(f"/v1/process-instances/{key}/jobs").json["items"]
    assert ([] if retries is None else [retries]) == [each["retries"] for each in jobs]


@pytest.mark.rule("R60", "R64")
@pytest.mark.parametrize(
    ("attribute", "literal"),
    [
        *(("retries", literal) for literal in ("-1", "abc", "${x}", "1.5", "=1 +")),
        *(
            ("retryBackoff", literal)
            for literal in ("soon", "PT1S,", "P1M", "P1Y", "P", "PT", "P1DT", "PT1.5S", "-PT1S")
        ),
    ],
)
def test_a_literal_that_says_nothing_is_refused_at_deployment(
    client: Client, attribute: str, literal: str
) -> None:
    message = refused(client, f'{attribute}="{literal}"')

    assert "task" in message
    assert attribute in message


@pytest.mark.rule("R114")
@pytest.mark.parametrize(
    ("literal", "shown"),
    [
        ("PT10S", "PT10S"),
        (" PT10S , PT1M ", "PT10S,PT1M"),
        ("P1D", "P1D"),
        ("P1W", "P1D"),  # above the cap of 24 hours
        ("PT1H30M", "PT1H30M"),
        ("PT99999999999999999999S", "P1D"),
        ("PT0S", "PT0S"),
    ],
)
def test_a_policy_is_read_by_its_grammar(client: Client, literal: str, shown: str) -> None:
    assert shown == created(client, f'retryBackoff="{literal}"')["retryBackoff"]


@pytest.mark.rule("R61", "R64", "R115")
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        *(("retries", value) for value in (None, "many", 1.5, -1, True, [1])),
        *(("retryBackoff", value) for value in (None, "soon", 5, [], ["PT1S", 7], {"a": 1})),
    ],
)
def test_an_expression_that_gives_nonsense_is_an_incident_and_no_job(
    client: Client, attribute: str, value: Any
) -> None:
    key = create(client, one_task(definition=f'{attribute}="=x"'), {"x": value})

    assert [] == client.get(f"/v1/process-instances/{key}/jobs").json["items"]
    (incident,) = incidents(client, key)
    assert ("task", True) == (incident["elementId"], attribute in incident["message"])
    assert "jobKey" not in incident
    assert "failed" == instance(client, key)["state"]

    good = {"retries": "3", "retryBackoff": "PT1S"}[attribute]
    client.patch(f"/v1/process-instances/{key}/variables", {"variables": {"x": good}})
    assert 201 == resolve(client, incident["key"]).status
    assert good == str(the_job(client, key)[attribute])


@pytest.mark.rule("R115")
@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("=&quot;PT1S&quot;", "PT1S"),
        ("=&quot;PT1S,PT3S&quot;", "PT1S,PT3S"),
        ("=duration(&quot;PT90S&quot;)", "PT1M30S"),
        ("=duration(&quot;PT2.9S&quot;)", "PT2S"),
        ("=[&quot;PT1S&quot;, duration(&quot;P1D&quot;)]", "PT1S,P1D"),
    ],
)
def test_a_policy_may_be_computed(client: Client, expression: str, shown: str) -> None:
    assert shown == created(client, f'retryBackoff="{expression}"')["retryBackoff"]


@pytest.mark.rule("R65")
def test_a_policy_is_frozen_into_the_job(client: Client, clock: ManualClock) -> None:
    key = create(client, one_task(definition='retries="9" retryBackoff="=b"'), {"b": "PT5S"})
    deploy(client, one_task(definition='retries="9" retryBackoff="PT1H"'))
    client.patch(f"/v1/process-instances/{key}/variables", {"variables": {"b": "PT1H"}})
    (work,) = activate(client)

    fail(client, work["key"], deliveryToken=1)

    assert "PT5S" == job(client, work["key"])["retryBackoff"]
    assert "2026-03-02T09:00:05.000Z" == job(client, work["key"])["retryAt"]


@pytest.mark.rule("R66")
@pytest.mark.parametrize("kind", [*KINDS, "SEND_TASK"])
def test_every_element_that_makes_a_job_has_retries_and_a_policy(client: Client, kind: str) -> None:
    tag, inner = KINDS.get(kind, ("sendTask", ""))
    xml = (
        f'{HEAD}<message id="m" name="m"/><process id="p" isExecutable="true">'
        f'<startEvent id="start"/><{tag} id="task"><extensionElements>'
        '<zeebe:taskDefinition type="work" retries="4" retryBackoff="PT7S"/>'
        f"</extensionElements>{inner}</{tag}>"
        '<sequenceFlow id="a" sourceRef="start" targetRef="task"/></process></definitions>'
    )
    key = create(client, xml.encode())

    fail(client, the_job(client, key)["key"])

    shown = the_job(client, key)
    assert ("task", 3, "PT7S") == (shown["elementId"], shown["retries"], shown["retryBackoff"])
    assert "2026-03-02T09:00:07.000Z" == shown["retryAt"]
    assert shown["elementType"] in (kind, "SERVICE_TASK")


# --- J. backoff --------------------------------------------------------------------------------


@pytest.mark.rule("R77", "R78", "R79")
def test_a_job_that_waits_out_a_backoff_is_listed_and_not_delivered(
    client: Client, clock: ManualClock
) -> None:
    work = created(client, 'retries="5" retryBackoff="PT10S"')
    fail(client, work["key"])

    (listed,) = client.get("/v1/jobs?state=active").json["partitions"][0]["items"]
    assert "2026-03-02T09:00:10.000Z" == listed["retryAt"]
    clock.move(8)
    assert [] == activate(client)
    clock.move(1)
    assert [(work["key"], 2)] == [(each["key"], each["attempt"]) for each in activate(client)]


@pytest.mark.rule("R79")
def test_a_failure_without_a_token_counts_during_a_backoff(client: Client) -> None:
    work = created(client, 'retries="5" retryBackoff="PT10S"')
    fail(client, work["key"])

    assert 204 == fail(client, work["key"]).status

    assert (3, 2) == (the_job(client, work["processInstanceKey"])["retries"], 2)


@pytest.mark.rule("R109", "R111", "R112")
def test_the_nth_failure_waits_the_nth_entry_and_a_request_only_its_own(
    client: Client, clock: ManualClock
) -> None:
    work = created(client, 'retries="9" retryBackoff="PT1S,PT3S,PT5S"')
    waits = []
    for asked in ({}, {"retryBackoff": "PT40S"}, {}, {}):
        fail(client, work["key"], **asked)
        waits.append(job(client, work["key"])["retryAt"][-7:-1])

    assert ["01.000", "40.000", "05.000", "05.000"] == waits


@pytest.mark.rule("R109")
@pytest.mark.parametrize(
    ("definition", "asked", "expected"),
    [
        ("", {}, None),
        ('retryBackoff="PT5S"', {}, "2026-03-02T09:00:05.000Z"),
        ('retryBackoff="PT5S"', {"retryBackoff": "PT9S"}, "2026-03-02T09:00:09.000Z"),
    ],
)
def test_the_request_comes_before_the_definition(
    client: Client, definition: str, asked: Any, expected: str | None
) -> None:
    work = created(client, f'retries="3" {definition}')

    fail(client, work["key"], **asked)

    assert expected == job(client, work["key"]).get("retryAt")


@pytest.mark.rule("R110")
def test_no_backoff_may_be_asked_for_in_spite_of_a_policy(client: Client) -> None:
    work = created(client, 'retries="3" retryBackoff="PT1H"')

    fail(client, work["key"], retryBackoff="PT0S")

    assert "retryAt" not in job(client, work["key"])
    assert 1 == len(activate(client))


@pytest.mark.rule("R113")
@pytest.mark.parametrize(
    ("definition", "asked"),
    [('retryBackoff="P30D"', {}), ("", {"retryBackoff": "P30D"}), ('retryBackoff="=b"', {})],
)
def test_every_backoff_is_capped(client: Client, definition: str, asked: Any) -> None:
    work = created(client, f'retries="3" {definition}', {"b": "P2W"})

    fail(client, work["key"], **asked)

    assert "2026-03-03T09:00:00.000Z" == job(client, work["key"])["retryAt"]


@pytest.mark.rule("R84")
@pytest.mark.parametrize("end", ["completed", "terminated"])
def test_a_job_that_ends_during_its_backoff_keeps_it_and_is_not_delivered(
    client: Client, clock: ManualClock, end: str
) -> None:
    work = created(client, 'retries="3" retryBackoff="PT1M"')
    fail(client, work["key"])
    retry_at = job(client, work["key"])["retryAt"]

    if end == "completed":
        assert 201 == complete(client, work["key"]).status
    else:
        assert 204 == cancel(client, work["processInstanceKey"]).status

    clock.move(120)
    assert [] == activate(client)
    assert (end, retry_at) == (
        job(client, work["key"])["state"],
        job(client, work["key"])["retryAt"],
    )
