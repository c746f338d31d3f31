"""Scheduled jobs on the deployed stage: what fires them, what runs them, and their rights."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.local.client import Client
from infra import names
from tests.aws.conftest import STAGE, Deployed
from tests.aws.test_story import eventually, is_drained, messages_in
from tests.patience import in_time

pytestmark = pytest.mark.aws

JOBS = "/scheduler/v1/jobs"
INSIDE = "http://127.0.0.1:9/"  # an address that the guard refuses


@pytest.fixture
def client(deployed: Deployed) -> Client:
    return Client(deployed.url, deployed.key)


def attempts(client: Client, job_id: object) -> list[dict[str, Any]]:
    return list(client.get(f"{JOBS}/{job_id}/invocations")["items"])


def test_a_one_off_fires_and_its_run_is_written_down(deployed: Deployed, client: Client) -> None:
    definition = {"name": "once", "type": "http", "url": INSIDE}

    job, _ = in_time(
        lambda due: client.post(JOBS, {**definition, "schedule": {"run_at": due.isoformat()}})
    )

    assert eventually(lambda: bool(attempts(client, job["id"])))
    (attempt,) = attempts(client, job["id"])
    assert "failed" == attempt["outcome"]
    assert "SCHEDULER_ALLOW_PRIVATE_ADDRESSES" in attempt["error"]
    assert eventually(lambda: bool(client.get(f"{JOBS}/{job['id']}")["done"]))
    assert is_drained(deployed, names.RUNS_QUEUE)
    assert 0 == messages_in(deployed, names.RUNS_QUEUE + names.DEAD)


def test_a_job_is_changed_paused_triggered_and_removed_with_the_rights_of_the_api(
    deployed: Deployed, client: Client
) -> None:
    scheduler = deployed.session.client("scheduler")
    group = names.resolve(names.SCHEDULE_GROUP, stage=STAGE, account="", region="")

    def planned() -> list[str]:
        listed = scheduler.list_schedules(GroupName=group, NamePrefix=f"sj-{job['id']}")
        return [each["Name"] for each in listed["Schedules"]]

    definition = {"name": "hourly", "type": "http", "url": INSIDE}
    job = client.post(JOBS, {**definition, "schedule": {"every_ms": 3_600_000}})
    (first,) = planned()
    client.patch(f"{JOBS}/{job['id']}", {"schedule": {"every_ms": 7_200_000}})
    (second,) = planned()
    client.post(f"{JOBS}/{job['id']}/pause")

    assert first != second
    assert [] == planned()
    assert {"fired": [0], "skipped": []} == client.post(f"{JOBS}/{job['id']}/trigger")
    assert eventually(lambda: bool(attempts(client, job["id"])))
    client.delete(f"{JOBS}/{job['id']}")


def test_a_secret_may_be_read_only_if_it_is_the_stages(deployed: Deployed, client: Client) -> None:
    ssm = deployed.session.client("ssm")
    ours, others = f"/headrace/{STAGE}/token", "/payroll/token"
    for name in (ours, others):
        ssm.put_parameter(Name=name, Value="secret", Type="SecureString")

    def error_of(name: str) -> str:
        auth = {"type": "bearer", "token": f"ssm:{name}"}
        job = client.post(JOBS, {"name": "s", "type": "http", "url": INSIDE, "auth": auth})
        client.post(f"{JOBS}/{job['id']}/trigger")
        assert eventually(lambda: bool(attempts(client, job["id"])))
        return str(attempts(client, job["id"])[0]["error"])

    assert "AccessDenied" in error_of(others)
    assert "SCHEDULER_ALLOW_PRIVATE_ADDRESSES" in error_of(ours)
