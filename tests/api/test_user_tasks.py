"""User tasks that the engine manages under `/v1`, and what their listeners may answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import activate, complete, create, instance
from tests.bpmn.models import extended, line

TASKS = "/v1/user-tasks"


def model(extensions: str = "<zeebe:userTask/>") -> bytes:
    return line(extended("userTask", extensions))


def listened(*events: str) -> bytes:
    rows = "".join(f'<zeebe:taskListener eventType="{each}" type="{each}"/>' for each in events)
    return model(f"<zeebe:userTask/><zeebe:taskListeners>{rows}</zeebe:taskListeners>")


def tasks(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{TASKS}{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def state(client: Client) -> str:
    (task,) = tasks(client)
    return str(task["state"])


def test_a_task_without_the_mark_is_a_job_and_one_that_names_a_job_type_too(client: Client) -> None:
    create(client, model(""))
    create(client, model('<zeebe:userTask/><zenbpm:taskDefinition type="own"/>'))

    assert [] == tasks(client)
    assert ["user-task-type"] == [job["type"] for job in activate(client, "user-task-type")]
    assert ["own"] == [job["type"] for job in activate(client, "own")]


def test_a_managed_task_is_no_job_and_is_completed_by_whoever_may(client: Client) -> None:
    key = create(client, model())
    (task,) = tasks(client)

    assert 0 == client.get("/v1/jobs").json["totalCount"]
    assert 404 == complete(client, task["key"]).status
    assert 204 == client.post(f"{TASKS}/{task['key']}/completion", {"variables": {}}).status
    assert ("completed", "completed") == (instance(client, key)["state"], state(client))


def test_what_listeners_are_asked_about_is_answered_202_and_stands_until_they_did(
    client: Client,
) -> None:
    create(client, listened("assigning"))
    path = f"{TASKS}/{tasks(client)[0]['key']}"

    asked = client.post(f"{path}/assignment", {"assignee": "ann", "action": "pick"})
    assert (202, "assigning", None) == (
        asked.status,
        asked.json["state"],
        asked.json.get("assignee"),
    )
    assert 409 == client.post(f"{path}/completion").status
    assert [1, 0] == [len(tasks(client, f"?state={each}")) for each in ("assigning", "created")]
    (job,) = activate(client, "assigning")
    assert ("ann", "pick") == (
        job["headers"]["io.camunda.zeebe:assignee"],
        job["headers"]["io.camunda.zeebe:action"],
    )
    corrections = {"assignee": "bob", "priority": 80, "candidateGroups": ["law"], "dueDate": None}
    result = {"type": "userTask", "denied": False, "corrections": corrections}
    assert 201 == complete(client, job["key"], result=result).status

    (task,) = tasks(client)
    assert ("created", "bob", 80, ["law"]) == tuple(
        task[name] for name in ("state", "assignee", "priority", "candidateGroups")
    )


def test_a_denied_completion_is_told_and_can_be_tried_again(client: Client) -> None:
    key = create(client, listened("completing"))
    path = f"{TASKS}/{tasks(client)[0]['key']}"

    assert 202 == client.post(f"{path}/completion", {"variables": {"ok": False}}).status
    (job,) = activate(client, "completing")
    result = {"type": "userTask", "denied": True, "deniedReason": "not yet"}
    assert 201 == complete(client, job["key"], result=result).status
    (task,) = tasks(client)
    assert ("created", {"event": "completing", "reason": "not yet"}) == (
        task["state"],
        task["denied"],
    )
    assert 202 == client.post(f"{path}/completion", {"variables": {"ok": True}}).status
    (job,) = activate(client, "completing")
    assert 201 == complete(client, job["key"]).status

    assert ("completed", "completed") == (state(client), instance(client, key)["state"])
    assert 201 == complete(client, job["key"]).status  # again


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"result": {"type": "userTask", "corrections": {"priority": 101}}}, "at most 100"),
        ({"result": {"type": "userTask", "corrections": {"dueDate": "soon"}}}, "dueDate: expected"),
        ({"result": {"type": "adHocSubProcess"}}, "expected none of type adHocSubProcess"),
        ({"variables": {"x": 1}}, "expected no variables, found x"),
        ({"result": {"denied": True}}, "type"),
    ],
)
def test_an_answer_that_makes_no_sense_is_400(client: Client, body: Any, problem: str) -> None:
    create(client, listened("completing"))
    client.post(f"{TASKS}/{tasks(client)[0]['key']}/completion")
    (job,) = activate(client, "completing")

    answer = client.post(f"/v1/jobs/{job['key']}/complete", body)

    assert (400, True) == (answer.status, problem in answer.json["message"]), answer.text
    assert "completing" == state(client)


def test_a_cancelled_task_is_canceling_until_its_listener_answered(client: Client) -> None:
    key = create(client, listened("canceling"))

    client.post(f"/v1/process-instances/{key}/cancel")
    assert ("terminated", "canceling") == (instance(client, key)["state"], state(client))
    (job,) = activate(client, "canceling")
    assert 201 == complete(client, job["key"]).status

    assert "canceled" == state(client)


def test_however_many_tasks_are_heard_before_a_cancel_it_fits_into_turns(client: Client) -> None:
    loop = (
        "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics "
        'inputCollection="=for i in 1..60 return i"/></extensionElements>'
        "</multiInstanceLoopCharacteristics></userTask>"
    )
    xml = listened("canceling", "completing").decode().replace("</userTask>", loop)
    key = create(client, xml.encode())
    for task in tasks(client, "?size=30"):
        assert 202 == client.post(f"{TASKS}/{task['key']}/completion").status

    assert 204 == client.post(f"/v1/process-instances/{key}/cancel").status
    assert 60 == client.get(f"{TASKS}?state=canceling").json["totalCount"]
    assert 60 == client.get("/v1/jobs?jobType=canceling&state=active").json["totalCount"]
    assert 0 == client.get("/v1/jobs?jobType=completing&state=active").json["totalCount"]
    while jobs := activate(client, "canceling", waitFor="PT1S"):
        for job in jobs:
            assert 201 == complete(client, job["key"]).status

    assert 60 == client.get(f"{TASKS}?state=canceled").json["totalCount"]
    assert [] == instance(client, key)["activeElementInstances"]


def test_an_update_does_not_assign(client: Client) -> None:
    create(client, model())
    path = f"{TASKS}/{tasks(client)[0]['key']}"

    assert 204 == client.patch(path, {"changeset": {"assignee": "ann", "priority": 7}}).status

    (task,) = tasks(client)
    assert (None, 7) == (task.get("assignee"), task["priority"])


def test_listener_jobs_are_listed_like_others(client: Client) -> None:
    extensions = (
        '<zeebe:userTask/><zeebe:executionListeners><zeebe:executionListener eventType="start" '
        'type="before"/></zeebe:executionListeners>'
    )
    key = create(client, model(extensions))

    (listed,) = client.get(f"/v1/process-instances/{key}/jobs").json["items"]

    assert ("before", "USER_TASK", "active") == (
        listed["type"],
        listed["elementType"],
        listed["state"],
    )
    assert [] == tasks(client)
