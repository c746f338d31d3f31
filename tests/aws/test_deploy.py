"""`headrace deploy` and `destroy` on an emulated AWS that enforces IAM, as a person runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from chalicelib.access import Access, Role
from chalicelib.local.client import Client, Refused
from infra import names, package
from infra.deploy import POLLERS_MAX, Choices, Deployer, DeploymentFailed
from tests.aws.conftest import POLL_S, EmulatedSession, in_the_default_group, with_batch_rights

pytestmark = pytest.mark.aws

STAGE = "cli"
PATIENCE_S = 300
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def headrace(endpoint: str, code: Path) -> Command:
    """Return what runs the command on the emulated AWS, whose answers it gives."""
    del code  # is made once, and found by the command
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": "us-east-1",
    }

    def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "chalicelib.cli", *arguments],
            cwd=package.ROOT,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def stage(headrace: Command, endpoint: str) -> Iterator[str]:
    """Deploy a stage by the command and return its address."""
    place = ("--stage", STAGE, "--endpoint-url", endpoint)
    unasked = headrace("deploy", *place)
    made = headrace("deploy", *place, "--yes")

    assert (1, True) == (unasked.returncode, "nothing was changed" in unasked.stderr)
    assert 0 == made.returncode, made.stderr
    assert "make     AWS::DynamoDB::Table               LiveTable" in made.stdout
    assert "CREATE_COMPLETE          LiveTable" in made.stdout
    told = dict(line.split("  ", 1) for line in made.stdout.splitlines()[-4:])
    assert f"headrace-{STAGE}-j-*" == told["job queues"].strip()
    yield told["URL"].strip()


def key(headrace: Command, role: Role) -> str:
    made = headrace("keys", "create", f"a-{role}", "--role", role, "--stage", STAGE)
    assert 0 == made.returncode, made.stderr
    return made.stdout.strip()


def complete(session: EmulatedSession) -> None:
    """Do what the template says of the tables and a function, and the emulator does not."""
    name = names.resolve(names.FUNCTION_NAMES[names.HAND_OUT], stage=STAGE, account="", region="")
    cap = {"ReservedConcurrentExecutions": POLLERS_MAX}
    session.client("lambda").put_function_concurrency(FunctionName=name, **cap)
    tables = session.client("dynamodb")
    for name in (f"headrace-{STAGE}", f"headrace-{STAGE}-history"):
        expiry = {"AttributeName": "expires_at", "Enabled": True}
        tables.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
        tables.update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )


def refusal(call: Callable[[], object]) -> int | None:
    """Return the status that a call is refused by, None if it is not."""
    try:
        call()
    except Refused as refused:
        return refused.status
    return None


def test_each_role_does_its_own_and_is_refused_the_rest(headrace: Command, stage: str) -> None:
    worker, starter, operator = (Client(stage, key(headrace, role)) for role in Role)
    message = {"messageName": "m", "correlationKey": "k"}

    def seen(client: Client) -> list[int | None]:
        return [
            refusal(lambda: client.activate("t", "c", 1, "PT0S")),
            refusal(lambda: client.post("/v1/messages", message)),
            refusal(lambda: client.get("/v1/process-instances")),
        ]

    assert [401, 401, 401] == seen(Client(stage))
    assert [None, 403, 403] == seen(worker)
    assert [403, 403] == [seen(starter)[0], seen(starter)[2]]
    assert 403 not in seen(operator)
    listed = headrace("keys", "list", "--stage", STAGE).stdout
    assert all(f"a-{role}" in listed for role in Role)
    assert 0 == headrace("keys", "revoke", "a-worker", "--stage", STAGE).returncode
    assert "a-worker" not in headrace("keys", "list", "--stage", STAGE).stdout


def test_a_stage_that_is_well_is_told_from_one_that_is_not(
    headrace: Command, stage: str, endpoint: str
) -> None:
    place = ("--stage", STAGE, "--endpoint-url", endpoint)
    session = EmulatedSession(endpoint)
    left_out = headrace("doctor", *place)  # by the emulator's CloudFormation
    complete(session)
    well = headrace("doctor", *place)
    functions, sqs = session.client("lambda"), session.client("sqs")
    name = f"headrace-{STAGE}-timers"
    (mapping,) = functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
    dead = sqs.get_queue_url(QueueName=f"headrace-{STAGE}-runs-dead")["QueueUrl"]

    functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    sqs.send_message(QueueUrl=dead, MessageBody="x")
    ill = headrace("doctor", *place)
    functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)
    redriven = headrace("redrive", *place)
    again = headrace("doctor", *place)

    told = [line for line in left_out.stdout.splitlines() if line[:5] == "WRONG"]
    assert ["WRONG tables", "WRONG pollers"] == told
    assert (0, ["well"]) == (
        well.returncode,
        sorted({line[:4] for line in well.stdout.splitlines()}),
    )
    assert 1 == ill.returncode
    assert f"expected the mapping of {name} to be Enabled" in ill.stdout
    assert f"1 messages are parked in headrace-{STAGE}-runs-dead" in ill.stdout
    assert [f"headrace-{STAGE}-runs 1 messages put back"] == [
        " ".join(line.split()) for line in redriven.stdout.splitlines() if " 1 " in line
    ]
    assert (0, 0) == (redriven.returncode, again.returncode), again.stdout


def test_nothing_to_do_is_said_and_is_success(headrace: Command, stage: str, endpoint: str) -> None:
    again = headrace("deploy", "--stage", STAGE, "--endpoint-url", endpoint)

    assert (0, "") == (again.returncode, again.stderr)
    assert "nothing to do" in again.stdout
    assert stage in again.stdout


def test_a_change_that_fails_is_rolled_back_and_told_with_its_resource(
    endpoint: str, stage: str, code: Path
) -> None:
    session = EmulatedSession(endpoint)
    session.client("ssm").put_parameter(Name="/taken", Value="x", Type="String")
    deployer = Deployer(session, poll_s=POLL_S)
    wrong = in_the_default_group(with_batch_rights(package.build_template()))
    parameter = {"Name": "/taken", "Value": "y", "Type": "String"}
    wrong["Resources"]["Wrong"] = {"Type": "AWS::SSM::Parameter", "Properties": parameter}
    prepared = deployer.prepare(STAGE, wrong, code, Choices(Access.OPEN))
    assert prepared is not None
    planned = {change.resource: change for change in deployer.changes(prepared)}

    assert "make" == planned["Wrong"].verb
    assert "(by parameter Access)" in planned[names.API].why
    with pytest.raises(DeploymentFailed, match=r"Wrong: .*ROLLBACK_COMPLETE"):
        deployer.carry_out(prepared)
    assert 401 == refusal(lambda: Client(stage).get("/v1/jobs"))  # as it was before


def test_a_stage_goes_when_its_name_is_typed_and_its_tables_stay(
    headrace: Command, stage: str, endpoint: str
) -> None:
    session = EmulatedSession(endpoint)
    place = ("--stage", STAGE, "--endpoint-url", endpoint)
    headrace("queue", "some-type", "--stage", STAGE)
    headrace("keys", "create", "kept", "--role", "operator", "--stage", STAGE)
    sqs, tables = session.client("sqs"), session.client("dynamodb")

    mistyped = headrace("destroy", *place, typed="prod\n")
    gone = headrace("destroy", *place, typed=f"{STAGE}\n")

    assert (1, True) == (mistyped.returncode, "nothing was changed" in mistyped.stderr)
    assert 0 == gone.returncode, gone.stderr
    assert f"removed queue headrace-{STAGE}-j-" in gone.stdout
    assert [] == sqs.list_queues(QueueNamePrefix=f"headrace-{STAGE}-").get("QueueUrls", [])
    assert "ACTIVE" == tables.describe_table(TableName=f"headrace-{STAGE}")["Table"]["TableStatus"]

    again = headrace("deploy", *place, "--yes")
    assert 0 == again.returncode, again.stderr
    assert "adopt    AWS::DynamoDB::Table               LiveTable" in again.stdout
    assert "kept" in headrace("keys", "list", "--stage", STAGE).stdout  # it was in the table

    headrace("destroy", *place, "--data", typed=f"{STAGE}\n")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        tables.describe_table(TableName=f"headrace-{STAGE}")
    assert 0 == headrace("destroy", *place, typed=f"{STAGE}\n").returncode  # may be repeated
