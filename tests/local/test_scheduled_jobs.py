"""Scheduled jobs on `headrace serve`, through HTTP, EventBridge Scheduler, SQS and the runners."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib.local.client import Client, Refused
from tests.aws.conftest import EmulatedSession
from tests.local.drained import draining
from tests.local.serving import END_S, Served, run, serving
from tests.patience import PATIENCE_S, eventually, in_time

pytestmark = pytest.mark.aws

JOBS = "/scheduler/v1/jobs"
ALLOWED = {"SCHEDULER_ALLOW_PRIVATE_ADDRESSES": "true", "SCHEDULER_SCRIPTS": "true"}
GROUP = "headrace-local"


class Jobs:
    """The scheduler API, as verbs."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def create(self, **members: Any) -> str:
        """Create a job; return its id."""
        answer = self.client.post(JOBS, {"name": "job", **members})
        assert [] == answer["warnings"]
        return str(answer["id"])

    def create_once(self, url: str, due: datetime) -> str:
        """Create a job that calls once, if its time is not over; return its id."""
        call = {"name": "once", "type": "http", "url": url, "method": "POST"}
        answer = self.client.post(JOBS, {**call, "schedule": {"run_at": due.isoformat()}})
        return str(answer["id"])

    def get(self, job_id: str) -> dict[str, Any]:
        return self.client.get(f"{JOBS}/{job_id}")

    def trigger(self, job_id: str) -> dict[str, Any]:
        return self.client.post(f"{JOBS}/{job_id}/trigger")

    def invocations(self, job_id: str) -> list[dict[str, Any]]:
        """Return what was attempted, the oldest first."""
        page = self.client.get(f"{JOBS}/{job_id}/invocations?limit=100")
        return list(page["items"])[::-1]

    def has_run(self, job_id: str, times: int) -> bool:
        """Wait until so many attempts are written down and no index is held."""
        return eventually(
            lambda: (
                len(self.invocations(job_id)) >= times
                and not self.get(job_id)["running_since_by_pool"]
            )
        )


def planned(served: Served, state: Path) -> list[str]:
    """Return the names of the schedules that fire jobs."""
    session = EmulatedSession(served.aws_endpoint(state))
    listed = session.client("scheduler").list_schedules(GroupName=GROUP, NamePrefix="sj-")
    return [each["Name"] for each in listed["Schedules"]]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    folder = tmp_path_factory.mktemp("scheduled-jobs")
    with serving(folder, "--ephemeral", **ALLOWED) as served:
        yield Jobs(served.client)


@pytest.mark.rule("Z1", "Z3", "Z69", "Z71", "Z75", "Z80", "Z86")
def test_a_pool_of_three_drains_an_endpoint_page_by_page(jobs: Jobs) -> None:
    with draining(pages=4) as endpoint:
        drain = jobs.create(
            type="http", url=endpoint.url, method="POST", pool_count=3, loop_enabled=True
        )

        assert {"fired": [0, 1, 2], "skipped": []} == jobs.trigger(drain)
        with pytest.raises(Refused) as refused:
            jobs.trigger(drain)
        endpoint.gate.set()

        assert jobs.has_run(drain, times=12)
        pages = [(str(index), page) for index in range(3) for page in range(1, 5)]
        assert pages == sorted(endpoint.taken)
        attempts = jobs.invocations(drain)
        assert 409 == refused.value.status
        assert 12 == len(attempts)
        assert {"succeeded"} == {each["outcome"] for each in attempts}
        assert {(index, iteration) for index in range(3) for iteration in range(4)} == {
            (int(each["pool_idx"]), int(each["iteration"])) for each in attempts
        }


@pytest.mark.rule("Z98", "Z99")
def test_a_refused_call_is_made_again_and_counts(jobs: Jobs) -> None:
    with draining(pages=2, refusals=1) as endpoint:
        endpoint.gate.set()
        drain = jobs.create(
            type="http",
            url=endpoint.url,
            method="POST",
            pool_count=2,
            loop_enabled=True,
            retry_enabled=True,
            retry_base_delay_ms=1_000,
        )

        jobs.trigger(drain)

        assert jobs.has_run(drain, times=6)
        count = jobs.client.get(f"{JOBS}/{drain}/invocations/count")
        failed = jobs.client.get(f"{JOBS}/{drain}/invocations/count?failures_only=true")
        assert (6, 2) == (count["count"], failed["count"])
        assert {503} == {
            int(each["status_code"])
            for each in jobs.invocations(drain)
            if each["outcome"] == "failed"
        }


@pytest.mark.rule("Z13", "Z74")
def test_a_script_runs_and_its_output_decides_about_the_loop(jobs: Jobs, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = jobs.create(
        type="script",
        interpreter="sh",
        script='echo "$ZILEAN_POOL_IDX" >> "$1"; echo "{\\"left\\": $((2 - $(wc -l < "$1")))}"',
        args=[str(count)],
        loop_enabled=True,
        loop_response_path="left",
    )

    jobs.trigger(script)

    assert jobs.has_run(script, times=2)
    assert ["0", "0"] == count.read_text().split()
    assert [0, 0] == [int(each["exit_code"]) for each in jobs.invocations(script)]


@pytest.mark.rule("Z30")
def test_a_one_off_fires_by_its_schedule_and_is_done(jobs: Jobs) -> None:
    with draining(pages=1) as endpoint:
        endpoint.gate.set()
        once, due = in_time(lambda due: jobs.create_once(endpoint.url, due))

        assert jobs.has_run(once, times=1)

        (attempt,) = jobs.invocations(once)
        assert f"{due:%Y%m%dT%H%M%SZ}" == attempt["run_id"]
        assert datetime.fromisoformat(str(attempt["started_at"])) >= due
        assert ("none", 1) in endpoint.taken
        assert eventually(lambda: bool(jobs.get(once)["done"]))


def test_a_cron_job_in_any_zone_goes_on_after_a_firing(tmp_path: Path) -> None:
    with serving(tmp_path, **ALLOWED) as served, draining(pages=1) as endpoint:
        endpoint.gate.set()
        jobs = Jobs(served.client)
        zone = "Asia/Kathmandu"  # 45 minutes past UTC's hours
        far = datetime.now(ZoneInfo(zone)) + timedelta(minutes=30)  # it fires not while we look
        hourly = {"cron": f"{far.minute} * * * *", "timezone": zone}
        cron = jobs.create(type="http", url=endpoint.url, method="POST", schedule=hourly)
        (name,) = planned(served, tmp_path)
        due_s = int(name.rpartition("-")[2])
        session = EmulatedSession(served.aws_endpoint(tmp_path))
        session.client("scheduler").delete_schedule(Name=name, GroupName=GROUP)

        sqs = session.client("sqs")
        body = {"fire": cron, "revision": 1, "due": (due_s - 3_600) * 1_000}
        url = sqs.get_queue_url(QueueName="headrace-local-runs")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps(body))

        assert eventually(lambda: [name] == planned(served, tmp_path))
        assert far.astimezone(UTC).minute * 60 == due_s % 3_600
        assert jobs.has_run(cron, times=1)


def test_what_a_stopped_server_missed_runs_once_when_it_starts_again(tmp_path: Path) -> None:
    with draining(pages=1) as endpoint:
        endpoint.gate.set()

        def stopped_before(due: datetime) -> tuple[Path, str]:
            folder = tmp_path / f"{due:%H%M%S}"
            folder.mkdir()
            with serving(folder, **ALLOWED) as served:
                job = Jobs(served.client).create_once(endpoint.url, due)
                served.end()
            return folder, job

        (folder, missed), due = in_time(stopped_before, leads_s=(8, 30, 90))
        before = list(endpoint.taken)
        assert eventually(lambda: datetime.now(UTC) >= due)
        assert before == endpoint.taken

        with serving(folder, **ALLOWED) as served:
            assert Jobs(served.client).has_run(missed, times=1)

        assert 1 + len(before) == len(endpoint.taken)


def test_a_chain_that_broke_is_planned_again_when_the_server_starts(tmp_path: Path) -> None:
    with serving(tmp_path, **ALLOWED) as served:
        yearly = {"cron": "0 0 1 1 *", "timezone": "Pacific/Apia"}
        Jobs(served.client).create(type="http", url="http://127.0.0.1:1/", schedule=yearly)
        (name,) = planned(served, tmp_path)
        scheduler = EmulatedSession(served.aws_endpoint(tmp_path)).client("scheduler")
        scheduler.delete_schedule(Name=name, GroupName=GROUP)
        served.end()

    with serving(tmp_path, **ALLOWED) as served:
        assert eventually(lambda: [name] == planned(served, tmp_path))


def test_a_chain_that_broke_is_planned_again_when_an_operator_rings(tmp_path: Path) -> None:
    with serving(tmp_path, **ALLOWED) as served:
        Jobs(served.client).create(
            type="http", url="http://127.0.0.1:1/", schedule={"cron": "0 0 1 1 *"}
        )
        (name,) = planned(served, tmp_path)
        scheduler = EmulatedSession(served.aws_endpoint(tmp_path)).client("scheduler")
        scheduler.delete_schedule(Name=name, GroupName=GROUP)

        rang = run("ring", "--all", folder=tmp_path)

        assert (0, "rang 0 jobs, put 1 schedules right, told 0 runs and 0 routed messages\n") == (
            rang.returncode,
            rang.stdout,
        )
        assert [name] == planned(served, tmp_path)


def test_an_attempt_that_the_servers_end_cut_off_is_made_again(tmp_path: Path) -> None:
    with draining(pages=1) as endpoint:
        with serving(tmp_path, **ALLOWED) as served:
            jobs = Jobs(served.client)
            job = jobs.create(
                type="http",
                url=endpoint.url,
                method="POST",
                retry_enabled=True,
                retry_base_delay_ms=1_000,
            )
            jobs.trigger(job)
            assert endpoint.called.wait(PATIENCE_S)
            assert served.end() < END_S
        endpoint.gate.set()

        with serving(tmp_path, **ALLOWED) as served:
            jobs = Jobs(served.client)
            assert jobs.has_run(job, times=2)

            attempts = jobs.invocations(job)
            assert ["failed", "succeeded"] == [each["outcome"] for each in attempts]
            assert "the executor died" == attempts[0]["error"]
