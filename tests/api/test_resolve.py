"""An operator resolves an incident: what starts anew, what is kept, what is refused whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import (
    activate,
    cancel,
    complete,
    create,
    created,
    fail,
    incidents,
    instance,
    job,
    model,
    one_task,
    resolve,
    the_job,
)
from tests.engine.models import boundary, io, line, service
from tests.fakes.clock import ManualClock

INSTANCES = "/v1/process-instances"
SOON, PAST = "2026-03-02T09:10:00Z", "2026-03-02T08:00:00Z"


def set_variables(client: Client, key: int, **variables: Any) -> None:
    path = f"{INSTANCES}/{key}/variables"
    assert 204 == client.patch(path, {"variables": variables}).status


def set_retries(client: Client, key: int, **body: Any) -> None:
    assert 204 == client.post(f"/v1/jobs/{key}/retries", body).status


@pytest.fixture
def failed(client: Client) -> Any:
    """A job of two retries (`=n`) that was handed out and exhausted."""
    work = created(client, 'retries="=n" retryBackoff="PT1H"', {"n": 2})
    (delivered,) = activate(client)
    fail(client, work["key"], deliveryToken=delivered["deliveryToken"], message="a")
    fail(client, work["key"], message="b", variables={"left": "over"})
    return job(client, work["key"])


def the_incident(client: Client, failed: Any) -> int:
    (incident,) = incidents(client, failed["processInstanceKey"])
    return int(incident["key"])


@pytest.mark.rule("R134", "R148", "R93")
def test_a_resolve_gives_the_job_a_fresh_series_by_its_definition(
    client: Client, failed: Any
) -> None:
    assert ("failed", 0, 2) == (failed["state"], failed["retries"], failed["attempts"])
    key = the_incident(client, failed)
    set_variables(client, failed["processInstanceKey"], n=5, m=1)

    answer = resolve(client, key)

    assert (201, "") == (answer.status, answer.text)
    shown = job(client, failed["key"])
    assert ("active", 5, 0, 1) == tuple(
        shown[name] for name in ("state", "retries", "attempts", "deliveryToken")
    )
    assert not {"retryAt", "outputVariables"} & shown.keys()
    assert {"n": 5, "m": 1} == shown["inputVariables"]
    assert "active" == instance(client, failed["processInstanceKey"])["state"]
    (again,) = activate(client)
    assert (1, 5, 2) == (again["attempt"], again["retries"], again["deliveryToken"])
    (closed,) = incidents(client, failed["processInstanceKey"], "?state=resolved")
    assert (key, "2026-03-02T09:00:00.000Z") == (closed["key"], closed["resolvedAt"])


@pytest.mark.rule("R134")
def test_a_resolve_maps_the_inputs_again_and_a_retry_does_not(client: Client) -> None:
    xml = line(service("work", retries="2", extensions=io({"m": "=n * 10"})))
    key = create(client, xml, {"n": 1})
    work = the_job(client, key)
    set_variables(client, key, n=2)

    fail(client, work["key"])
    assert {"n": 1, "m": 10} == job(client, work["key"])["inputVariables"]
    fail(client, work["key"])
    (incident,) = incidents(client, key)
    resolve(client, incident["key"])

    assert {"n": 2, "m": 20} == job(client, work["key"])["inputVariables"]


@pytest.mark.rule("R136")
@pytest.mark.parametrize(
    ("retry_at", "kept"), [(None, None), (SOON, "2026-03-02T09:10:00.000Z"), (PAST, None)]
)
def test_retries_that_were_set_since_are_kept_once(
    client: Client, failed: Any, retry_at: str | None, kept: str | None
) -> None:
    set_retries(client, failed["key"], retries=7, **({"retryAt": retry_at} if retry_at else {}))
    resolve(client, the_incident(client, failed))

    shown = job(client, failed["key"])
    assert (7, 0, kept) == (shown["retries"], shown["attempts"], shown.get("retryAt"))
    assert (kept is None) == bool(activate(client))

    fail(client, failed["key"], retries=0)
    resolve(client, the_incident(client, failed))
    assert 2 == job(client, failed["key"])["retries"]  # the definition's again


@pytest.mark.rule("R137", "R146")
@pytest.mark.parametrize("way_out", ["variables", "retries"])
def test_retries_that_no_longer_evaluate_refuse_and_say_the_way_out(
    client: Client, failed: Any, way_out: str
) -> None:
    owner, key = failed["processInstanceKey"], the_incident(client, failed)
    set_variables(client, owner, n="many")

    answer = resolve(client, key)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "retries of task" in answer.json["message"]
    assert f"/incidents/{key}/resolve" in answer.json["message"]
    assert failed == job(client, failed["key"])
    assert key == the_incident(client, failed)
    if way_out == "variables":
        set_variables(client, owner, n=6)
        assert 201 == resolve(client, key).status
    else:
        assert 201 == resolve(client, key, {"retries": 6}).status
    assert 6 == job(client, failed["key"])["retries"]


def test_inputs_that_no_longer_map_refuse_whatever_the_retries(client: Client) -> None:
    key = create(client, line(service("work", extensions=io({"m": "=assert(n, n > 0)"}))), {"n": 1})
    work = the_job(client, key)
    fail(client, work["key"])
    (incident,) = incidents(client, key)
    set_variables(client, key, n=0)

    for body in (None, {"retries": 3}):
        answer = resolve(client, incident["key"], body)
        assert 409 == answer.status
        assert answer.json["message"].endswith("mend the variables")
    set_variables(client, key, n=2)
    assert 201 == resolve(client, incident["key"]).status


@pytest.mark.rule("R138", "R139")
@pytest.mark.parametrize(
    ("retry_at", "kept"), [(None, None), (SOON, "2026-03-02T09:10:00.000Z"), (PAST, None)]
)
def test_the_requests_retries_beat_those_set_before(
    client: Client, failed: Any, retry_at: str | None, kept: str | None
) -> None:
    set_retries(client, failed["key"], retries=7, retryAt="2026-03-02T20:00:00Z")
    set_variables(client, failed["processInstanceKey"], n="never looked at")
    body = {"retries": 9, **({"retryAt": retry_at} if retry_at else {})}

    assert 201 == resolve(client, the_incident(client, failed), body).status

    shown = job(client, failed["key"])
    assert (9, 0, kept) == (shown["retries"], shown["attempts"], shown.get("retryAt"))


@pytest.mark.rule("R138")
def test_a_resolve_for_later_lets_the_job_out_then(
    client: Client, failed: Any, clock: ManualClock
) -> None:
    resolve(client, the_incident(client, failed), {"retries": 1, "retryAt": SOON})

    clock.move(597)
    assert [] == activate(client)
    clock.move(1)
    assert [failed["key"]] == [each["key"] for each in activate(client)]


@pytest.mark.rule("R140", "R141", "R146")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"retryAt": SOON}, "retryAt is only allowed together with retries"),
        ({"retries": 0}, 'Error at "/retries": number must be at least 1'),
        ({"retries": 101}, "must be between 1 and 100 (jobs.maxRetries), got 101"),
        ({"retries": 3, "retryAt": "2026-03-03T09:00:01Z"}, "later than 24h0m0s from now"),
        ({"retries": "3"}, 'Error at "/retries"'),
        ({"retries": 3, "retryAt": "soon"}, 'Error at "/retryAt"'),
        ([], "value must be an object"),
    ],
)
def test_words_out_of_bounds_leave_the_incident_open(
    client: Client, failed: Any, body: Any, words: str
) -> None:
    key = the_incident(client, failed)

    answer = resolve(client, key, body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]
    assert failed == job(client, failed["key"])
    assert key == the_incident(client, failed)


@pytest.mark.parametrize("body", [b"", b"  ", b"{}", b'{"more": 1}'])
def test_a_resolve_needs_no_body(client: Client, failed: Any, body: bytes) -> None:
    path = f"/v1/incidents/{the_incident(client, failed)}/resolve"

    assert 201 == client.request("POST", path, body, {"content-type": "application/json"}).status


# --- incidents that a job did not raise --------------------------------------------------------


@pytest.mark.rule("R142")
def test_retries_for_an_incident_without_a_job_are_400(client: Client) -> None:
    key = create(client, model("exclusive_choice"), {"amount": "no number"})
    (incident,) = incidents(client, key)

    answer = resolve(client, incident["key"], {"retries": 3})

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert "leaves no job waiting" in answer.json["message"]
    assert [incident] == incidents(client, key)
    set_variables(client, key, amount=10)
    assert 201 == resolve(client, incident["key"]).status
    assert ([], "active") == (incidents(client, key), instance(client, key)["state"])


@pytest.mark.rule("R142")
def test_a_completed_job_is_no_job_that_waits(client: Client) -> None:
    xml = line(service("work", extensions=io(outputs={"y": "=assert(x, x != null)"})))
    key = create(client, xml)
    (work,) = activate(client)
    assert 201 == complete(client, work["key"], {}).status
    (incident,) = incidents(client, key)

    assert 400 == resolve(client, incident["key"], {"retries": 3}).status
    assert [incident] == incidents(client, key)


def unarmed(client: Client) -> tuple[int, Any, Any]:
    """Return an instance, its job that waits, and the incident of a timer that was not set."""
    xml = line(service("work", retries="3"), boundary("late", "work", duration="=d"))
    key = create(client, xml, {"d": "soon"})
    (incident,) = incidents(client, key)
    return key, the_job(client, key), incident


@pytest.mark.rule("R143")
@pytest.mark.parametrize("body", [{"retries": 9}, {"retries": 9, "retryAt": SOON}])
def test_a_job_that_did_not_raise_the_incident_gets_the_retries_as_if_set(
    client: Client, body: Any
) -> None:
    key, work, incident = unarmed(client)
    fail(client, work["key"], retryBackoff="PT1H")
    set_variables(client, key, d="PT1H")

    assert 201 == resolve(client, incident["key"], body).status

    shown = job(client, work["key"])
    assert ("active", 9, 1) == (shown["state"], shown["retries"], shown["attempts"])
    assert ("retryAt" in body) == ("retryAt" in shown)
    assert [] == incidents(client, key)
    timers = client.get(f"{INSTANCES}/{key}/event-subscriptions/timers").json
    assert ["active"] == [timer["state"] for timer in timers["items"]]


@pytest.mark.rule("R144")
def test_without_a_body_that_job_is_left_as_it_is(client: Client) -> None:
    key, work, incident = unarmed(client)
    fail(client, work["key"], retryBackoff="PT1H")
    before = job(client, work["key"])
    set_variables(client, key, d="PT1H")

    assert 201 == resolve(client, incident["key"]).status

    assert before == job(client, work["key"])


@pytest.mark.rule("R147")
def test_a_job_that_fails_before_its_timers_are_set_has_them_set_by_the_resolve(
    client: Client,
) -> None:
    key, work, unset = unarmed(client)
    fail(client, work["key"], retries=0)
    (exhausted,) = incidents(client, key)
    assert (work["key"], False) == (exhausted["jobKey"], exhausted["key"] == unset["key"])
    set_variables(client, key, d="PT1H")

    assert 201 == resolve(client, exhausted["key"]).status

    assert ([], "active") == (incidents(client, key), job(client, work["key"])["state"])
    timers = client.get(f"{INSTANCES}/{key}/event-subscriptions/timers").json
    assert ["late"] == [timer["elementId"] for timer in timers["items"]]


# --- over --------------------------------------------------------------------------------------


@pytest.mark.rule("R145")
def test_an_incident_is_resolved_once(client: Client, failed: Any) -> None:
    key = the_incident(client, failed)
    resolve(client, key)
    before = job(client, failed["key"])

    answer = resolve(client, key, {"retries": 50})

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "already resolved" in answer.json["message"]
    assert before == job(client, failed["key"])


def test_a_cancel_closes_the_incident(client: Client, failed: Any) -> None:
    key = the_incident(client, failed)
    cancel(client, failed["processInstanceKey"])

    assert 409 == resolve(client, key).status
    assert "terminated" == job(client, failed["key"])["state"]
    (closed,) = incidents(client, failed["processInstanceKey"], "")
    assert (key, True) == (closed["key"], "resolvedAt" in closed)


@pytest.mark.rule("R13")
@pytest.mark.parametrize("key", ["0", "-1", "1000", str(2**62)])
def test_an_incident_that_is_not_there_is_404(client: Client, key: str) -> None:
    create(client, one_task())

    answer = client.post(f"/v1/incidents/{key}/resolve")

    assert (404, "NOT_FOUND") == (answer.status, answer.json["code"])
    assert "not found" in answer.json["message"]


def test_incidents_of_an_instance_are_filtered_and_paged(client: Client) -> None:
    work = created(client, "")
    owner = work["processInstanceKey"]
    for _ in range(3):
        fail(client, work["key"])
        (incident,) = incidents(client, owner)
        resolve(client, incident["key"])
    fail(client, work["key"])

    counts = [len(incidents(client, owner, f"?state={s}")) for s in ("resolved", "unresolved")]
    page = client.get(f"{INSTANCES}/{owner}/incidents?page=3&size=2").json

    assert [3, 1] == counts
    assert ([], 4) == (page["items"], page["totalCount"])
    keys = [each["key"] for each in incidents(client, owner, "")]
    assert sorted(keys, reverse=True) == keys
    assert 400 == client.get(f"{INSTANCES}/{owner}/incidents?state=open").status
