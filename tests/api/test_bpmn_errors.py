"""A worker, or the model itself, throws a BPMN error: who catches it, and what if nobody does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import (
    activate,
    complete,
    create,
    created,
    fail,
    incidents,
    instance,
    job,
    resolve,
    the_job,
)
from tests.engine.models import (
    boundary_error,
    end,
    error_end,
    io,
    process,
    service,
    start,
    sub,
)

ERRORS = {"declined": "DECLINED", "lost": "LOST"}
INSTANCES = "/v1/process-instances"


def guarded(*events: str) -> bytes:
    """A task `a` with boundary events; each leads to a task of its own name in capitals."""
    ids = [event.split('id="')[1].split('"')[0] for event in events]
    after = [service(id_.upper()) for id_ in ids]
    flows = "; ".join(["start > a > end", *(f"{id_} > {id_.upper()}" for id_ in ids)])
    parts = (start(), service("a", retries="3"), *events, *after, end())
    return process(*parts, flows=flows, errors=ERRORS)


def waiting(client: Client, key: int) -> list[str]:
    return [each["elementId"] for each in instance(client, key)["activeElementInstances"]]


@pytest.mark.rule("R50")
def test_an_error_is_caught_with_its_variables_and_spends_nothing(client: Client) -> None:
    caught = boundary_error("on_decline", "a", "declined", extensions=io(outputs={"why": "=why"}))
    key = create(client, guarded(caught))
    (work,) = activate(client, "a")

    answer = fail(
        client, work["key"], errorCode="DECLINED", message="no", variables={"why": "limit", "b": 1}
    )

    assert (204, "") == (answer.status, answer.text)
    assert ["ON_DECLINE"] == waiting(client, key)
    assert {"why": "limit"} == instance(client, key)["variables"]
    shown = job(client, work["key"])
    assert ("terminated", 3, 0) == (shown["state"], shown["retries"], shown["attempts"])
    assert "lastFailureMessage" not in shown
    assert 0 == client.get(f"/v1/jobs/{work['key']}/failures").json["totalCount"]
    assert [] == incidents(client, key)


@pytest.mark.rule("R51", "R119")
@pytest.mark.parametrize(
    ("said", "message"), [({"message": "no luck"}, "no luck: DECLINED"), ({}, "DECLINED")]
)
def test_an_error_nobody_catches_is_an_incident(client: Client, said: Any, message: str) -> None:
    work = created(client, 'retries="3"')

    assert 204 == fail(client, work["key"], errorCode="DECLINED", **said).status

    shown = job(client, work["key"])
    assert ("failed", 3, 0) == (shown["state"], shown["retries"], shown["attempts"])
    (incident,) = incidents(client, work["processInstanceKey"])
    assert (work["key"], message) == (incident["jobKey"], incident["message"])
    assert "active" == instance(client, work["processInstanceKey"])["state"]
    assert 0 == client.get(f"/v1/jobs/{work['key']}/failures").json["totalCount"]


@pytest.mark.rule("R52", "R53")
@pytest.mark.parametrize("body", [{"retries": -1}, {"retryBackoff": "x"}])
def test_an_error_whose_other_words_make_no_sense_is_400(client: Client, body: Any) -> None:
    key = create(client, guarded(boundary_error("b", "a")))
    (work,) = activate(client, "a")
    before = job(client, work["key"])

    assert 400 == fail(client, work["key"], errorCode="X", **body).status

    assert (before, ["a"]) == (job(client, work["key"]), waiting(client, key))


@pytest.mark.rule("R53")
def test_retries_beside_an_error_code_are_ignored(client: Client) -> None:
    work = created(client, 'retries="3"')

    fail(client, work["key"], errorCode="X", retries=7, retryBackoff="PT1H")

    shown = job(client, work["key"])
    assert (3, False) == (shown["retries"], "retryAt" in shown)


@pytest.mark.rule("R54", "R55")
@pytest.mark.parametrize("body", [{}, {"errorCode": ""}])
def test_a_failure_without_a_code_is_technical_also_before_a_catch_all(
    client: Client, body: Any
) -> None:
    key = create(client, guarded(boundary_error("b", "a")))
    (work,) = activate(client, "a")

    fail(client, work["key"], **body)

    assert (2, 1) == (job(client, work["key"])["retries"], job(client, work["key"])["attempts"])
    assert ["a"] == waiting(client, key)


@pytest.mark.rule("R55", "R50")
@pytest.mark.parametrize(
    ("code", "catcher"), [("DECLINED", "DECLINE"), ("LOST", "ANY"), ("whatever", "ANY")]
)
def test_its_own_code_comes_before_a_catch_all(client: Client, code: str, catcher: str) -> None:
    events = (boundary_error("any", "a"), boundary_error("decline", "a", "declined"))
    key = create(client, guarded(*events))
    (work,) = activate(client, "a")

    fail(client, work["key"], errorCode=code)

    assert [catcher] == waiting(client, key)


# --- through subprocesses ----------------------------------------------------------------------


def nested(*events: str) -> bytes:
    """Subprocesses `outer` and in it `inner`, in which a task `a` may fail, and `b` beside it."""
    innermost = sub(
        "inner", start("s2"), service("a"), service("b"), end("e2"), flows="s2 > a > e2; s2 > b"
    )
    body = sub(
        "outer",
        start("s1"),
        innermost,
        *[e for e in events if '"inner"' in e],
        *[service(c) for c in ("C1", "C2")],
        flows="s1 > inner; c1 > C1; c2 > C2",
    )
    outside = [e for e in events if '"outer"' in e]
    return process(
        start(),
        body,
        *outside,
        service("D"),
        end(),
        flows="start > outer > end; d > D",
        errors=ERRORS,
    )


@pytest.mark.rule("R50")
@pytest.mark.parametrize(
    ("code", "catcher"),
    [
        ("DECLINED", ["outer", "C1"]),  # the innermost scope first, though a catch-all
        ("LOST", ["outer", "C2"]),  # there its own code first
    ],
)
def test_the_innermost_scope_catches_first(client: Client, code: str, catcher: list[str]) -> None:
    events = (
        boundary_error("c1", "inner"),
        boundary_error("c2", "inner", "lost"),
        boundary_error("d", "outer", "declined"),
    )
    key = create(client, nested(*events))
    (work,) = activate(client, "a")

    fail(client, work["key"], errorCode=code, variables={"x": 1})

    (outer,) = client.get(f"{INSTANCES}/{key}/child-processes").json["partitions"][0]["items"]
    assert catcher == [*waiting(client, key), *waiting(client, outer["key"])]
    states = {
        j["elementId"]: j["state"] for j in client.get(f"{INSTANCES}/{key}/jobs").json["items"]
    }
    assert {"a": "terminated", "b": "terminated", catcher[1]: "active"} == states


def test_an_error_leaves_scopes_that_do_not_catch_it(client: Client) -> None:
    key = create(
        client,
        nested(
            boundary_error("c1", "inner", "lost"),
            boundary_error("c2", "inner", "lost"),
            boundary_error("d", "outer"),
        ),
    )
    (work,) = activate(client, "a")

    fail(client, work["key"], errorCode="DECLINED")

    assert ["D"] == waiting(client, key)
    (outer,) = client.get(f"{INSTANCES}/{key}/child-processes").json["partitions"][0]["items"]
    assert "terminated" == outer["state"]
    assert [] == activate(client, "b")


def test_an_error_end_event_is_thrown_out_of_its_subprocess(client: Client) -> None:
    inner = sub("inner", start("s"), service("a"), error_end("oops", "lost"), flows="s > a > oops")
    xml = process(
        start(),
        inner,
        boundary_error("c", "inner", "lost"),
        service("after"),
        end(),
        flows="start > inner > end; c > after",
        errors=ERRORS,
    )
    key = create(client, xml)
    (work,) = activate(client, "a")

    assert 201 == complete(client, work["key"]).status

    assert ["after"] == waiting(client, key)
    assert "completed" == job(client, work["key"])["state"]


def test_an_error_end_event_nobody_catches_is_an_incident_and_tries_again(client: Client) -> None:
    xml = process(
        start(), service("a"), error_end("oops", "lost"), flows="start > a > oops", errors=ERRORS
    )
    key = create(client, xml)
    (work,) = activate(client, "a")
    complete(client, work["key"])

    (incident,) = incidents(client, key)

    assert ("oops", True) == (incident["elementId"], "LOST" in incident["message"])
    assert "jobKey" not in incident
    assert 201 == resolve(client, incident["key"]).status
    assert 1 == len(incidents(client, key))


@pytest.mark.rule("R135")
def test_what_an_uncaught_error_left_is_gone_with_its_resolve(client: Client) -> None:
    work = created(client, 'retries="3" retryBackoff="PT1H"')
    fail(client, work["key"])
    fail(client, work["key"], errorCode="X", variables={"left": "over"})
    (incident,) = incidents(client, work["processInstanceKey"])
    assert "retryAt" not in job(client, work["key"])

    resolve(client, incident["key"])

    shown = the_job(client, work["processInstanceKey"])
    assert (3, 0, "active") == (shown["retries"], shown["attempts"], shown["state"])
    assert not {"retryAt", "outputVariables"} & shown.keys()
    assert 1 == len(activate(client))
