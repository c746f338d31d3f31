"""Workers who wait for jobs have a function of their own, with a cap, and starve nobody else."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.local.client import Client, Refused
from infra import hand_out, names
from tests.aws.conftest import STAGE, Deployed
from tests.aws.test_story import eventually
from tests.operations.models import typed_task
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.aws

CAP = 2
# AWS's gateway cannot tell a throttle of Lambda from other failures of an integration, and answers
# as the template says (503, `Retry-After`); the emulator passes Lambda's own status on.
THROTTLED = 429
HAND_OUT = names.resolve(names.FUNCTION_NAMES[names.HAND_OUT], stage=STAGE, account="", region="")


def invocations(deployed: Deployed) -> int:
    """Return how many invocations of the function Lambda has reported."""
    logs = deployed.session.client("logs")
    lines = logs.filter_log_events(logGroupName=f"/aws/lambda/{HAND_OUT}")["events"]
    return sum(line["message"].startswith("REPORT") for line in lines)


@pytest.fixture
def capped(deployed: Deployed) -> Iterator[None]:
    """Cap the function as its template does, at less: so that few threads are too many."""
    functions = deployed.session.client("lambda")
    before = functions.get_function_concurrency(FunctionName=HAND_OUT)
    functions.put_function_concurrency(FunctionName=HAND_OUT, ReservedConcurrentExecutions=CAP)
    yield
    was = before.get("ReservedConcurrentExecutions", hand_out.DEFAULT_POLLERS_MAX)
    functions.put_function_concurrency(FunctionName=HAND_OUT, ReservedConcurrentExecutions=was)


def test_the_routes_that_hand_jobs_out_are_served_by_it(deployed: Deployed) -> None:
    client = Client(deployed.url, deployed.key)
    before = invocations(deployed)

    client.activate("nothing", "w", 1, "PT0S")
    client.get("/api/v1/jobs/activate?type=nothing")
    with pytest.raises(Refused, match="job 5"):
        client.post("/v1/jobs/5/claim", {"clientId": "w"})

    assert eventually(lambda: invocations(deployed) >= before + 3)


def polled(deployed: Deployed, answers: list[int]) -> None:
    request = urllib.request.Request(
        f"{deployed.url}/v1/jobs/activate",
        b'{"type": "capped", "maxJobs": 1, "waitFor": "PT20S"}',
        {"X-Api-Key": deployed.key, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
            answers.append(response.status)
    except urllib.error.HTTPError as error:
        answers.append(error.code)


@pytest.mark.usefixtures("capped")
def test_workers_beyond_the_cap_are_told_to_come_again_and_others_are_served(
    deployed: Deployed,
) -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=polled, args=(deployed, answers)) for _ in range(CAP + 3)]
    for thread in threads:
        thread.start()

    client = Client(deployed.url, deployed.key)
    others: Any = client.get("/v1/jobs")  # while they wait
    told = eventually(lambda: len(answers) == 3)
    definition = client.deploy(typed_task("capped", "1"))
    for _ in range(CAP):
        client.create_instance(definition, {})  # for which they wait
    for thread in threads:
        thread.join()

    assert told
    assert "partitions" in others
    assert [200] * CAP + [THROTTLED] * 3 == sorted(answers)
