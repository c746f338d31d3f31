"""What each function's role may do on a deployed stage, and that it is refused all beyond it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from infra import names
from tests.aws.conftest import STAGE, Deployed, EmulatedSession

pytestmark = pytest.mark.aws

TABLE = f"headrace-{STAGE}"
PLACE = {"pk": {"S": "test#rights"}, "sk": {"S": "x"}}
Call = Callable[[EmulatedSession], object]


def sqs(call: str, queue: str, **asked: Any) -> Call:
    """Return a call about a queue of the stage, by what its name has behind the stage's."""

    def make(session: EmulatedSession) -> object:
        client = session.client("sqs")
        address = f"{session.endpoint}/000000000000/headrace-{STAGE}-{queue}"
        return getattr(client, call)(QueueUrl=address, **asked)

    return make


def dynamodb(call: str, **asked: Any) -> Call:
    return lambda session: getattr(session.client("dynamodb"), call)(TableName=TABLE, **asked)


def secret(name: str) -> Call:
    return lambda session: session.client("ssm").get_parameter(Name=name)


CALLS: dict[str, Call] = {
    "read": dynamodb("get_item", Key=PLACE),
    "write": dynamodb("put_item", Item=PLACE),
    "remove": dynamodb("delete_item", Key=PLACE),
    "scan": dynamodb("scan", Limit=1),
    "drop": dynamodb("delete_table"),
    **{
        f"take {queue}": sqs("receive_message", queue, VisibilityTimeout=0)
        for queue in ("timers", "commands", "runs", "routing")
    },
    "tell commands": sqs("send_message", "commands", MessageBody="{}"),
    "tell runs": sqs("send_message", "runs", MessageBody="{}"),
    "purge": sqs("purge_queue", "timers"),
    "secret": secret(f"/headrace/{STAGE}/key"),
    "secret of others": secret("/others/key"),
    "make a queue": lambda session: session.client("sqs").create_queue(QueueName="others"),
    "change code": lambda session: session.client("lambda").delete_function(
        FunctionName=f"headrace-{STAGE}-api"
    ),
}
_TURNS = {"read", "write", "remove", "tell commands"}
ALLOWED: dict[str, set[str]] = {
    names.API: {*_TURNS, "tell runs"},
    names.HAND_OUT: {"read", "write"},
    names.TIMERS: {*_TURNS, "take timers"},
    names.COMMANDS: {*_TURNS, "take commands", "tell runs", "scan"},
    names.RUNS: {"read", "write", "remove", "take runs", "tell runs", "secret"},
    names.ROUTING: {*_TURNS, "take routing", "secret"},
    names.SWEEP: {"tell commands"},
}


def as_role(deployed: Deployed, function: str) -> EmulatedSession:
    """Return a session of somebody who may do what the role of a deployed function may."""
    iam = deployed.session.client("iam")
    stacks = deployed.session.client("cloudformation")
    role = stacks.describe_stack_resource(StackName=TABLE, LogicalResourceId=f"{function}Role")[
        "StackResourceDetail"
    ]["PhysicalResourceId"]
    document = iam.get_role_policy(RoleName=role, PolicyName="headrace")["PolicyDocument"]
    user = f"like-{function}"
    iam.create_user(UserName=user)
    iam.put_user_policy(UserName=user, PolicyName="role", PolicyDocument=json.dumps(document))
    key = iam.create_access_key(UserName=user)["AccessKey"]
    return EmulatedSession(deployed.session.endpoint, key["AccessKeyId"], key["SecretAccessKey"])


def is_allowed(session: EmulatedSession, call: Call) -> bool:
    """Say whether a call is not refused for want of rights, however it ends."""
    try:
        call(session)
    except ClientError as error:
        return "AccessDenied" not in error.response["Error"]["Code"]
    return True


@pytest.fixture(autouse=True)
def tidied(deployed: Deployed) -> Iterator[None]:
    yield
    deployed.session.client("dynamodb").delete_item(TableName=TABLE, Key=PLACE)


def test_every_function_is_looked_at() -> None:
    assert ALLOWED.keys() == names.FUNCTION_NAMES.keys()


@pytest.mark.parametrize("function", names.FUNCTION_NAMES)
def test_a_role_does_its_own_and_is_refused_beyond_it(deployed: Deployed, function: str) -> None:
    session = as_role(deployed, function)

    assert ALLOWED[function] == {name for name, call in CALLS.items() if is_allowed(session, call)}
