"""A user task is claimed, then completed; it is no job, and no worker gets it."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.operations import sweep
from tests.api.client import Answer, Client
from tests.api.priostack.driver import (
    API,
    GONE,
    activate,
    cancel,
    complete,
    fail,
    instance,
    jobs,
    process,
    start,
    state,
    task,
)
from tests.operations.stage import Stage

TASKS = f"{API}/user-tasks"


def model(assignment: str = "") -> bytes:
    """Return a user task with a timer of an hour, and a service task after it."""
    extended = f"<extensionElements>{assignment}</extensionElements>" if assignment else ""
    return process(
        f'<startEvent id="s"/><userTask id="approve">{extended}</userTask>',
        '<boundaryEvent id="late" attachedToRef="approve"><timerEventDefinition>'
        "<timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>",
        task("ship"),
        '<endEvent id="e"/><endEvent id="f"/>',
        flows="s>approve approve>ship ship>e late>f",
    )


def assigned(**attributes: str) -> bytes:
    said = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return model(f"<zeebe:assignmentDefinition {said}/>")


def tasks(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{TASKS}{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def post(client: Client, key: Any, verb: str, body: Any = None) -> Answer:
    return client.post(f"{TASKS}/{key}/{verb}", body)


@pytest.mark.rule("P78")
def test_a_user_task_waits_until_it_was_claimed_and_completed(client: Client) -> None:
    key = start(client, model(), {"amount": 7})
    (found,) = tasks(client)
    early = post(client, found["key"], "complete", {"variables": {"ok": True}})
    waiting = jobs(client)

    claimed = post(client, found["key"], "claim", {"assignee": "ada"})
    done = post(client, found["key"], "complete", {"variables": {"ok": True}})

    assert (409, []) == (early.status, waiting)
    assert (200, "claimed", "ada") == (
        claimed.status,
        claimed.json["state"],
        claimed.json["assignee"],
    )
    assert (200, {}) == (done.status, done.json)
    assert ["ship"] == [job["type"] for job in jobs(client)]
    assert {"amount": 7, "ok": True} == instance(client, key)["variables"]


def test_a_user_task_is_no_job_of_any_dialect(client: Client, stage: Stage) -> None:
    key = start(client, model())
    (found,) = tasks(client)

    assert ([], [], []) == (jobs(client), activate(client, "user-task"), activate(client))
    assert GONE == complete(client, found)
    assert GONE == fail(client, found, retries=1)
    path = f"/v1/jobs/{found['key']}"
    there = [
        client.get(path),
        client.post(f"{path}/complete", {}),
        client.post(f"{path}/fail", {}),
        client.post(f"{path}/claim", {"clientId": "me"}),
        client.post(f"{path}/assign", {"assignee": "me"}),
        client.post(f"{path}/retries", {"retries": 2}),
        client.post(f"{path}/extend-lock", {"clientId": "me"}),
        client.get(f"{path}/failures"),
    ]
    assert [404] * 8 == [answer.status for answer in there]
    assert 0 == client.get("/v1/jobs").json["totalCount"]
    assert 0 == client.get(f"/v1/process-instances/{key}/jobs").json["totalCount"]
    assert 0 == sweep.ring_all(stage.ports).jobs


@pytest.mark.parametrize("verb", ["claim", "unclaim", "complete"])
@pytest.mark.parametrize("key", ["1", "seven", "9" * 30])
def test_a_task_that_is_not_there_is_404(client: Client, verb: str, key: str) -> None:
    answer = post(client, key, verb, {"assignee": "ada"})

    assert (404, {"error": "user task not found"}) == (answer.status, answer.json)
    assert 404 == client.get(f"{TASKS}/{key}").status


def test_a_job_is_no_user_task(client: Client) -> None:
    start(client, process('<startEvent id="s"/>', task("a"), flows="s>a"))
    (job,) = jobs(client)

    assert 404 == post(client, job["key"], "claim", {"assignee": "ada"}).status
    assert 404 == post(client, job["key"], "complete", {}).status


def test_a_task_belongs_to_one_person_at_a_time(client: Client) -> None:
    start(client, model())
    key = tasks(client)[0]["key"]

    answers = [
        post(client, key, "claim", {"assignee": "ada"}),
        post(client, key, "claim", {"assignee": "ada"}),
        post(client, key, "claim", {"assignee": "bob"}),
        post(client, key, "unclaim"),
        post(client, key, "claim", {"assignee": "bob"}),
    ]

    assert [200, 200, 409, 200, 200] == [answer.status for answer in answers]
    assert "assignee" not in answers[3].json
    assert "bob" == client.get(f"{TASKS}/{key}").json["assignee"]


@pytest.mark.parametrize("body", [{}, {"assignee": ""}, {"assignee": 7}, b"["])
def test_a_claim_without_a_name_is_400(client: Client, body: Any) -> None:
    start(client, model())

    assert 400 == post(client, tasks(client)[0]["key"], "claim", body).status


def test_a_task_that_the_model_assigns_is_claimed_already(client: Client) -> None:
    key = start(client, assigned(assignee="=boss"), {"boss": "eve"})
    (found,) = tasks(client)

    assert ("claimed", "eve") == (found["state"], found["assignee"])
    assert 200 == post(client, found["key"], "complete").status
    assert "ACTIVE" == state(client, key)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [("sales, board", ["sales", "board"]), ("=groups", ["it", "law"]), ("=none", [])],
)
def test_a_task_names_the_groups_of_its_candidates(
    client: Client, groups: str, expected: list[str]
) -> None:
    start(client, assigned(candidateGroups=groups), {"groups": ["it", "law"], "none": None})

    (found,) = tasks(client)

    assert expected == found["candidateGroups"]
    for group in ("board", "law"):
        assert (group in expected) == bool(tasks(client, f"?candidateGroup={group}"))


def test_tasks_are_listed_by_state_person_and_instance(client: Client, stage: Stage) -> None:
    keys = [start(client, model()) for _ in range(4)]
    of = {each["processInstanceKey"]: each["key"] for each in tasks(client)}
    for key in keys[1:3]:
        post(client, of[key], "claim", {"assignee": "ada"})
    post(client, of[keys[2]], "complete")
    cancel(client, keys[3])

    states = ["created", "claimed", "completed", "canceled"]
    assert states == [each["state"] for each in tasks(client)]
    for key, name in zip(keys, states, strict=True):
        assert [of[key]] == [each["key"] for each in tasks(client, f"?state={name}")]
        assert [of[key]] == [each["key"] for each in tasks(client, f"?processInstanceKey={key}")]
    assert [of[keys[1]], of[keys[2]]] == [each["key"] for each in tasks(client, "?assignee=ada")]
    assert 400 == client.get(f"{TASKS}?state=open").status


def test_a_timer_takes_the_task_away(client: Client, stage: Stage) -> None:
    key = start(client, model())
    found = tasks(client)[0]["key"]
    post(client, found, "claim", {"assignee": "ada"})
    stage.wait(3_601)

    assert ("COMPLETED", 409) == (state(client, key), post(client, found, "complete").status)
    assert 409 == post(client, found, "unclaim").status


def test_a_task_shows_when_how_urgent_and_by_which_form(client: Client) -> None:
    start(
        client,
        model(
            '<zeebe:userTask/><zeebe:assignmentDefinition candidateUsers="ann,bob"/>'
            '<zeebe:taskSchedule dueDate="2030-01-31T12:00:00Z"/>'
            '<zeebe:priorityDefinition priority="=amount"/>'
            '<zeebe:formDefinition formKey="approve.html"/>'
        ),
        {"amount": 7},
    )

    (found,) = tasks(client)

    assert ["ann", "bob"] == found["candidateUsers"]
    assert found["dueDate"].startswith("2030-01-31T12:00:00")
    assert (7, {"formKey": "approve.html"}) == (found["priority"], found["form"])
    assert "followUpDate" not in found
