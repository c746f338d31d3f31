"""The real zip, deployed onto an emulated AWS that enforces IAM."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from chalicelib import wiring
from chalicelib.access import Role
from chalicelib.local.emulator import REGION
from chalicelib.operations import api_keys
from chalicelib.ports import HISTORY, LIVE, Ports
from chalicelib.store.dynamodb import DynamoTable
from chalicelib.wiring import FIRINGS, PLANNED
from infra import names, package
from infra.deploy import Deployer
from infra.names import API_STAGE
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules

STAGE = "aws-test"
POLL_S = 0.1


class EmulatedSession(boto3.session.Session):
    """Makes clients of one emulated AWS, whatever the environment says."""

    def __init__(self, endpoint: str, key: str = "test", secret: str = "test") -> None:
        super().__init__(aws_access_key_id=key, aws_secret_access_key=secret, region_name=REGION)
        self.endpoint = endpoint

    def client(self, *args: Any, **kwargs: Any) -> Any:
        return super().client(*args, **{"endpoint_url": self.endpoint, **kwargs})


@dataclass(frozen=True)
class Deployed:
    """A stage of Headrace, as somebody on AWS has it."""

    session: EmulatedSession
    url: str  # of its REST API
    key: str  # an operator's


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the zip that is deployed."""
    return package.build_zip(tmp_path_factory.mktemp("zip"))


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return where an emulated AWS listens that enforces IAM."""
    folder = str(tmp_path_factory.mktemp("emulated-aws"))
    command = [sys.executable, "-m", "tests.aws.emulated_aws", folder]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=package.ROOT, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        listens = process.stdout.readline().rstrip()
        assert listens.startswith("http://"), listens
        yield listens
        process.stdin.close()
        try:
            process.wait(180)  # it ends its functions, on a machine that may be busy
        finally:
            process.kill()


def with_batch_rights(template: dict[str, Any]) -> dict[str, Any]:
    """Give each right on single messages for batches too.

    On AWS there are none for batches ("Actions defined by Amazon SQS", Service Authorization
    Reference): who may send may send ten. The emulator asks for rights of their own.
    """
    return json.loads(  # type: ignore[no-any-return]
        re.sub(
            r'"(sqs:(?:SendMessage|DeleteMessage|ChangeMessageVisibility))"',
            r'"\1", "\1Batch"',
            json.dumps(template),
        )
    )


def in_the_default_group(template: dict[str, Any]) -> dict[str, Any]:
    """Give each right on schedules of our group for the default group instead.

    The emulator takes every schedule to be in that one when it judges rights.
    """
    ours, default = f":schedule/{names.SCHEDULE_GROUP}/", ":schedule/default/"
    return json.loads(json.dumps(template).replace(ours, default))  # type: ignore[no-any-return]


def with_planned_firings(template: dict[str, Any]) -> None:
    """Let each firing of a scheduled job plan the next, as the emulated Scheduler needs it.

    That asks for one more right than recurring schedules do: to list those of a job.
    """
    may_list = {"Effect": "Allow", "Action": ["scheduler:ListSchedules"], "Resource": "*"}
    for function in names.FUNCTION_NAMES:
        properties = template["Resources"][function]["Properties"]
        properties["Environment"]["Variables"][FIRINGS] = PLANNED
        (policy,) = template["Resources"][f"{function}Role"]["Properties"]["Policies"]
        policy["PolicyDocument"]["Statement"].append(may_list)


@pytest.fixture(scope="session")
def deployed(endpoint: str, code: Path) -> Deployed:
    """Deploy the real template with the real code."""
    session = EmulatedSession(endpoint)
    template = in_the_default_group(with_batch_rights(package.build_template()))
    with_planned_firings(template)
    outputs = Deployer(session, poll_s=POLL_S).deploy(STAGE, template, code)
    url = f"{endpoint}/_aws/execute-api/{outputs['RestAPIId']}/{API_STAGE}"
    return Deployed(session, url, made_key(session, Role.OPERATOR))


def made_key(session: EmulatedSession, role: Role) -> str:
    """Make a key as `headrace keys create` does."""
    tables = {LIVE: f"headrace-{STAGE}", HISTORY: f"headrace-{STAGE}-history"}
    store = DynamoTable(session.client("dynamodb"), tables)
    clock = ManualClock()
    nothing = MemoryQueues(clock)
    ports = Ports(
        store, nothing, MemorySchedules(clock, nothing), wiring.SystemClock(), wiring.SystemChance()
    )
    return api_keys.create_key(ports, f"test-{role}", role)
