"""How many tokens are where, and how many instances are in which state."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import (
    activate,
    cancel,
    complete,
    create,
    deploy,
    fail,
    instance,
    model,
    one_task,
    resolve,
)
from tests.api.test_scopes import children
from tests.engine.models import line, looped, many, service, start, sub

DEFINITIONS, INSTANCES = "/v1/process-definitions", "/v1/process-instances"


def elements(client: Client, path: str) -> Any:
    answer = client.get(f"{path}/statistics")
    assert 200 == answer.status, answer.text
    (partition,) = answer.json["partitions"]
    assert ["partition", "items"] == list(partition)
    return partition["items"]


def counted(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{DEFINITIONS}/statistics{query}")
    assert 200 == answer.status, answer.text
    (partition,) = answer.json["partitions"]
    assert (answer.json["totalCount"], answer.json["count"]) == (
        partition["totalCount"],
        len(partition["items"]),
    )
    return list(partition["items"])


# --- elements ----------------------------------------------------------------------------------


def test_open_instances_of_a_definition_are_counted_by_element(client: Client) -> None:
    keys = [create(client, model("sequence")) for _ in range(4)]
    definition = instance(client, keys[0])["processDefinitionKey"]
    first, second, third, _ = activate(client, "reserve")
    complete(client, first["key"])
    fail(client, second["key"])
    cancel(client, third["instanceKey"])
    create(client, one_task("other"))

    found = elements(client, f"{DEFINITIONS}/{definition}")

    reserve = first["elementId"]
    (following,) = found.keys() - {reserve}
    assert {"activeCount": 2, "incidentCount": 1} == found[reserve]
    assert {"activeCount": 1, "incidentCount": 0} == found[following]


def test_a_definition_without_instances_has_no_counts(client: Client) -> None:
    assert {} == elements(client, f"{DEFINITIONS}/{deploy(client, one_task())}")


def test_an_instance_tells_what_was_at_each_element(client: Client) -> None:
    key = create(client, one_task(definition='retries="1"'))
    (work,) = activate(client)
    path = f"{INSTANCES}/{key}"

    def task() -> Any:
        return elements(client, path)["task"]

    assert [1, 0, 0, 0] == list(task().values())
    fail(client, work["key"])
    assert [1, 1, 0, 0] == list(task().values())
    (incident,) = client.get(f"{path}/incidents").json["items"]
    resolve(client, incident["key"])
    assert [1, 0, 0, 0] == list(task().values())
    complete(client, work["key"])

    names = ["activeCount", "incidentCount", "completedCount", "terminatedCount"]
    once = dict(zip(names, (0, 0, 1, 0), strict=True))
    assert {"start": once, "task": once, "end": once} == elements(client, path)


def test_what_was_cancelled_is_counted_as_terminated(client: Client) -> None:
    key = create(client, one_task())
    cancel(client, key)

    assert [0, 0, 0, 1] == list(elements(client, f"{INSTANCES}/{key}")["task"].values())


def test_a_loop_counts_each_time(client: Client) -> None:
    key = create(client, model("loop"))
    for delivered in (False, False, True):
        (work,) = activate(client, "deliver")
        complete(client, work["key"], {"delivered": delivered})

    found = elements(client, f"{INSTANCES}/{key}")

    expected = {"start": 1, "again": 3, "try": 3, "done": 3, "end": 1}
    assert expected == {id_: count["completedCount"] for id_, count in found.items()}


def test_a_subprocess_has_counts_of_its_own(client: Client) -> None:
    key = create(client, model("subprocess"))
    (scope,) = instance(client, key)["activeElementInstances"]

    whole = elements(client, f"{INSTANCES}/{key}")
    inside = elements(client, f"{INSTANCES}/{scope['elementInstanceKey']}")

    assert {"start", "packing", "inner_start", "pack"} == whole.keys()
    assert {"inner_start": whole["inner_start"], "pack": whole["pack"]} == inside


@pytest.mark.parametrize("count", [3, 65])
def test_the_iterations_of_a_body_are_counted_and_not_the_body(client: Client, count: int) -> None:
    inner = sub("s", start("si"), service("a", retries="=n"), flows="si > a")
    items = [1, "x", *range(2, count)]
    key = create(client, line(many(inner, each={"items": "=items", "item": "n"})), {"items": items})
    (body,) = instance(client, key)["activeElementInstances"]
    complete(client, activate(client, "a")[0]["key"])

    whole = elements(client, f"{INSTANCES}/{key}")
    inside = elements(client, f"{INSTANCES}/{body['elementInstanceKey']}")
    definition = instance(client, key)["processDefinitionKey"]
    everywhere = elements(client, f"{DEFINITIONS}/{definition}")

    assert [count - 1, 0, 1, 0] == list(whole["s"].values())
    assert [count - 1, 1, 1, 0] == list(whole["a"].values())
    assert {"s": whole["s"]} == inside
    assert [count - 1, 0] == list(everywhere["s"].values())
    assert [count - 1, 1] == list(everywhere["a"].values())


@pytest.mark.parametrize("count", [3, 65])
def test_jobs_and_incidents_of_iterations_are_those_of_the_instance_and_of_the_body(
    client: Client, count: int
) -> None:
    each = {"items": "=items", "item": "n"}
    items = [1, "x", *range(2, count)]
    key = create(client, line(many(service("a", retries="=n"), each=each)), {"items": items})
    (body,) = instance(client, key)["activeElementInstances"]

    for around in (key, body["elementInstanceKey"]):
        jobs, incidents = (
            client.get(f"{INSTANCES}/{around}/{what}?size=100").json
            for what in ("jobs", "incidents")
        )
        assert count - 1 == jobs["totalCount"] == len({job["key"] for job in jobs["items"]})
        assert ["a"] == [incident["elementId"] for incident in incidents["items"]]


def test_jobs_of_a_large_body_are_not_those_of_another(client: Client) -> None:
    each = {"items": "=items", "item": "n"}
    one, other = (many(service(id_), each=each) for id_ in "ab")
    key = create(client, line(one, other), {"items": list(range(65))})
    for job in activate(client, "a", maxJobs=100):
        complete(client, job["key"])
    (body,) = instance(client, key)["activeElementInstances"]

    jobs = client.get(f"{INSTANCES}/{body['elementInstanceKey']}/jobs").json

    assert 65 == jobs["totalCount"]
    assert {"b"} == {job["elementId"] for job in jobs["items"]}


def test_an_incident_of_an_iteration_is_counted_in_its_body(client: Client) -> None:
    each = {"items": "=items", "item": "n"}
    key = create(client, line(many(service("a", retries="=n"), each=each)), {"items": [1, "x"]})
    (body,) = instance(client, key)["activeElementInstances"]

    inside = elements(client, f"{INSTANCES}/{body['elementInstanceKey']}")

    assert [2, 1, 0, 0] == list(inside["a"].values())


def test_what_was_cancelled_in_a_large_body_is_counted_as_terminated(client: Client) -> None:
    items = list(range(65))
    key = create(client, line(many(service("a"), each={"items": "=items"})), {"items": items})
    (body,) = instance(client, key)["activeElementInstances"]
    cancel(client, key)

    found = elements(client, f"{INSTANCES}/{key}")
    (part, *_) = children(client, body["elementInstanceKey"])
    history = client.get(f"{INSTANCES}/{part['key']}/history")

    assert [0, 0, 0, 65] == list(found["a"].values())
    assert (200, {"a"}) == (history.status, {row["elementId"] for row in history.json["items"]})


def test_parts_of_parts_are_counted_with_the_instance(client: Client) -> None:
    each = {"items": "=if n = 64 then all else []"}
    inner = sub("s", start("si"), many(service("a"), each=each), flows="si > a")
    outer = line(many(inner, each={"items": "=all", "item": "n"}))
    key = create(client, outer, {"all": list(range(65))})

    found = elements(client, f"{INSTANCES}/{key}")

    assert [1, 0, 64, 0] == list(found["s"].values())
    assert [65, 0, 64, 0] == list(found["a"].values())


def test_the_round_of_a_loop_is_counted_and_not_its_body(client: Client) -> None:
    key = create(client, line(looped(service("a"), None, 3)))
    definition = instance(client, key)["processDefinitionKey"]

    assert 1 == elements(client, f"{INSTANCES}/{key}")["a"]["activeCount"]
    assert 1 == elements(client, f"{DEFINITIONS}/{definition}")["a"]["activeCount"]


@pytest.mark.rule("R16", "R18")
@pytest.mark.parametrize("place", [DEFINITIONS, INSTANCES])
@pytest.mark.parametrize(("key", "status"), [("-1", 400), ("0", 400), ("1000", 404)])
def test_the_statistics_of_a_key_that_names_nothing_are_refused(
    client: Client, place: str, key: str, status: int
) -> None:
    create(client, one_task())

    for _ in range(2):
        answer = client.get(f"{place}/{key}/statistics")
        assert status == answer.status
        assert ("NOT_FOUND" if status == 404 else "BAD_REQUEST") == answer.json["code"]


def test_the_key_of_something_else_has_no_statistics(client: Client) -> None:
    key = create(client, one_task())
    (work,) = activate(client)

    assert 404 == client.get(f"{INSTANCES}/{work['key']}/statistics").status
    assert 404 == client.get(f"{DEFINITIONS}/{key}/statistics").status


# --- definitions -------------------------------------------------------------------------------


@pytest.fixture
def world(client: Client) -> dict[str, int]:
    """Versions 1 and 2 of `p`, and `q`, with instances in every state."""
    p1 = deploy(client, one_task("p", type_="one"))
    started = [create(client, one_task("p", type_="one")) for _ in range(4)]
    cancel(client, started[0])
    first, second, *_ = activate(client, "one")
    complete(client, first["key"])
    fail(client, second["key"])
    p2 = deploy(client, one_task("p", type_="two"))
    stuck = create(client, model("exclusive_choice"), {"amount": "no number"})
    return {"p1": p1, "p2": p2, "q": instance(client, stuck)["processDefinitionKey"]}


def test_definitions_tell_how_many_instances_are_in_each_state(
    client: Client, world: dict[str, int]
) -> None:
    found = {each["key"]: each for each in counted(client)}

    assert set(world.values()) == found.keys()
    assert {
        "key": world["p1"],
        "version": 1,
        "bpmnProcessId": "p",
        "instanceCounts": {
            "total": 4,
            "active": 2,
            "completed": 1,
            "terminated": 1,
            "failed": 0,
            "withIncident": 1,
        },
    } == found[world["p1"]]
    assert 0 == found[world["p2"]]["instanceCounts"]["total"]
    stuck = found[world["q"]]
    assert (1, 1, 0) == tuple(
        stuck["instanceCounts"][name] for name in ("failed", "withIncident", "active")
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["q", "p2", "p1"]),
        ("?sortBy=instanceCount", ["p2", "q", "p1"]),
        ("?sortBy=instanceCount&sortOrder=desc", ["p1", "q", "p2"]),
        ("?sortBy=incidentCount", ["p2", "p1", "q"]),
        ("?sortBy=version&sortOrder=desc", ["p2", "q", "p1"]),
        ("?sortBy=bpmnProcessId&sortOrder=desc", ["p2", "p1", "q"]),
        ("?onlyLatest=true", ["q", "p2"]),
        ("?bpmnProcessIdIn=p", ["p2", "p1"]),
        ("?bpmnProcessIdIn=p&bpmnProcessIdIn=exclusive_choice", ["q", "p2", "p1"]),
        ("?bpmnProcessIdIn=p,exclusive_choice", ["q", "p2", "p1"]),
        ("?bpmnProcessIdIn=", ["q", "p2", "p1"]),
        ("?bpmnProcessDefinitionKeyIn={p1}&bpmnProcessDefinitionKeyIn={q}", ["q", "p1"]),
        ("?bpmnProcessDefinitionKeyIn=17", []),
        ("?search=CHOICE", ["q"]),
        ("?page=2&size=2", ["p1"]),
        ("?page=3&size=2", []),
    ],
)
def test_definitions_with_counts_are_listed_as_asked(
    client: Client, world: dict[str, int], query: str, expected: list[str]
) -> None:
    names = {key: name for name, key in world.items()}

    found = counted(client, query.format(**world))

    assert expected == [names[each["key"]] for each in found]


@pytest.mark.parametrize(
    "query", ["size=101", "sortBy=key", "onlyLatest=maybe", "bpmnProcessDefinitionKeyIn=x"]
)
def test_a_bad_question_about_counts_is_400(client: Client, query: str) -> None:
    answer = client.get(f"{DEFINITIONS}/statistics?{query}")

    assert 400 == answer.status
    assert f'parameter "{query.split("=", maxsplit=1)[0]}" in query' in answer.json["message"]


@pytest.mark.parametrize(
    "path",
    [
        "process-definitions",
        "process-definitions/statistics",
        "process-instances",
        "process-instances/{key}/jobs",
        "process-instances/{key}/history",
        "process-instances/{key}/incidents",
        "process-instances/{key}/child-processes",
        "process-instances/{key}/event-subscriptions/timers",
        "process-instances/{key}/event-subscriptions/messages",
        "process-instances/{key}/event-subscriptions/errors",
        "jobs",
        "jobs/{job}/failures",
    ],
)
def test_every_list_keeps_its_total_past_the_end_and_bounds_its_pages(
    client: Client, path: str
) -> None:
    key = create(client, one_task(definition='retries="9"'))
    (work,) = activate(client)
    fail(client, work["key"])
    path = "/v1/" + path.format(key=key, job=work["key"])
    longest = 1000 if path.endswith(("history", "failures")) else 100

    first, past = client.get(path).json, client.get(f"{path}?page=900&size={longest}").json

    assert (1, 10, 900, longest) == (first["page"], first["size"], past["page"], past["size"])
    assert (first["totalCount"], 0) == (past["totalCount"], past["count"])
    assert first["count"] == first["totalCount"]
    for query in (f"size={longest + 1}", "size=0", "page=0", "page=-1", "page=x", "size=1.5"):
        assert 400 == client.get(f"{path}?{query}").status
