"""The demo's process on the deployed stage: real API Gateway, Lambdas, queues, and rights."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from botocore.exceptions import ClientError

from chalicelib.delivery import horizon
from chalicelib.delivery.bells import BPMN, queue_of
from chalicelib.local.client import Client
from chalicelib.local.demo import EXAMPLE, LAMBDA_TYPE, MODEL, ORDERS
from chalicelib.local.emulator import ACCOUNT, REGION
from chalicelib.local.paths import completed
from chalicelib.local.workers import HttpWorker, LambdaWorker
from infra import names
from infra.policies import trusted_by
from tests import patience
from tests.aws.conftest import STAGE, Deployed, EmulatedSession

pytestmark = pytest.mark.aws

PATIENCE_S = 120.0
HOURLY = {  # what EventBridge sends to a schedule's target
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": ACCOUNT,
    "time": "2026-01-01T00:00:00Z",
    "region": REGION,
    "resources": [],
    "detail": {},
}


@pytest.fixture
def client(deployed: Deployed) -> Client:
    return Client(deployed.url, deployed.key)


@pytest.fixture
def definition(client: Client) -> int:
    return client.deploy(MODEL.read_bytes())


@pytest.fixture
def workers(deployed: Deployed, client: Client, definition: int) -> Iterator[None]:
    """Run the demo's workers: one over HTTP, one on Lambda with just the rights it needs."""
    http_worker = HttpWorker(
        client,
        {"payment:charge": lambda job: {"receipt": "R"}, "ship": lambda job: {"insured": "?"}},
    )
    queue = f"headrace-{STAGE}-{queue_of(BPMN, LAMBDA_TYPE, None)}"
    queue_arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"
    lambda_worker = LambdaWorker(
        deployed.session,
        "order-worker",
        EXAMPLE / "lambda_worker.py",
        role=worker_role(deployed, queue_arn),
    )
    lambda_worker.subscribe(
        queue_arn, {"HEADRACE_URL": deployed.url, "HEADRACE_API_KEY": deployed.key}
    )
    http_worker.start()
    yield
    http_worker.stop()
    lambda_worker.remove()


def worker_role(deployed: Deployed, queue_arn: str) -> str:
    """Make the role of a Lambda worker, as README tells: its own queue, and nothing of ours."""
    iam = deployed.session.client("iam")
    made = iam.create_role(
        RoleName="order-worker", AssumeRolePolicyDocument=json.dumps(trusted_by("lambda"))
    )
    rights = {
        "Effect": "Allow",
        "Action": [
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:GetQueueUrl",
            "sqs:ChangeMessageVisibility",
        ],
        "Resource": queue_arn,
    }
    policy = {"Version": "2012-10-17", "Statement": [rights]}
    iam.put_role_policy(
        RoleName="order-worker", PolicyName="queue", PolicyDocument=json.dumps(policy)
    )
    return str(made["Role"]["Arn"])


def eventually(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Wait until it holds; say whether it did in time."""
    return patience.eventually(holds, patience_s, look_s=0.2)  # each look may start a process


def messages_in(deployed: Deployed, queue: str) -> int:
    sqs = deployed.session.client("sqs")
    url = sqs.get_queue_url(QueueName=names.resolve(queue, stage=STAGE, account="", region=""))
    counts = sqs.get_queue_attributes(QueueUrl=url["QueueUrl"], AttributeNames=["All"])
    return sum(
        int(value)
        for name, value in counts["Attributes"].items()
        if name.startswith("ApproximateNumberOfMessages")
    )


def is_drained(deployed: Deployed, queue: str) -> bool:
    """Wait until nothing is in a queue; the promise of a commit that lost stays for the horizon."""
    patience_s = horizon.HORIZON.total_seconds() + PATIENCE_S
    return eventually(lambda: messages_in(deployed, queue) == 0, patience_s)


def test_the_emulated_aws_enforces_rights(deployed: Deployed) -> None:
    iam = deployed.session.client("iam")
    iam.create_user(UserName="nobody")
    key = iam.create_access_key(UserName="nobody")["AccessKey"]
    nobody = EmulatedSession(deployed.session.endpoint, key["AccessKeyId"], key["SecretAccessKey"])

    with pytest.raises(ClientError, match="AccessDenied"):
        nobody.client("dynamodb").scan(TableName=f"headrace-{STAGE}")


def test_it_answers_that_it_is_ready(client: Client) -> None:
    assert {"status": "UP", "reasons": []} == client.get("/system/health/ready")


@pytest.mark.usefixtures("workers")
def test_orders_reach_their_end_through_gateway_lambdas_and_queues(
    client: Client, definition: int
) -> None:
    orders = {
        name: int(client.create_instance(definition, {"total": total}, name)["key"])
        for name, total in list(ORDERS.items())[:2]
    }

    assert eventually(
        lambda: all(client.instance(key)["state"] == "completed" for key in orders.values())
    ), {name: client.instance(key) for name, key in orders.items()}

    for name, key in orders.items():
        done = [str(row["elementId"]) for row in completed(client.history(key))]
        assert "closed" == done[-1]
        assert ("ship-insured" if ORDERS[name] > 100 else "ship-parcel") in done


def test_a_sweep_looks_through_the_table_and_parks_nothing(deployed: Deployed) -> None:
    functions = deployed.session.client("lambda")

    answer = functions.invoke(FunctionName=f"headrace-{STAGE}-sweep", Payload=json.dumps(HOURLY))

    assert "FunctionError" not in answer, answer["Payload"].read()
    assert is_drained(deployed, names.COMMANDS_QUEUE)
    assert 0 == messages_in(deployed, names.COMMANDS_QUEUE + names.DEAD)
    assert 0 == messages_in(deployed, names.TIMERS_QUEUE + names.DEAD)
