"""Deploys a template with boto3 alone, on AWS and on the emulated AWS alike.

The template and the code go to a bucket of this stage under the hash of their content, so that
an update sees new code and the same code is sent once. A change set says what would change;
one that would change nothing is success.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError, WaiterError

from chalicelib.access import Access
from infra import changes, hand_out, names, package
from infra.changes import Change, Event
from infra.http_api import FrontDoor, door_of

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.literals import CapabilityType
    from mypy_boto3_s3 import S3Client

CAPABILITIES: tuple[CapabilityType, ...] = (
    "CAPABILITY_IAM",
    "CAPABILITY_NAMED_IAM",
    "CAPABILITY_AUTO_EXPAND",
)
POLL_S = 5.0  # how often a stack on AWS is looked at
WAIT_MAX_S = 1_800.0  # a stack that is not done after half an hour never will be
DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
DIGEST_TAG = "headrace:template"  # of the stack: the hash of the template it was made by
NOT_EMULATED = frozenset({"AWS::Logs::MetricFilter"})  # what an emulator would refuse
NOTHING_TO_DO = ("didn't contain changes", "No updates are to be performed")
POLLERS_MAX = hand_out.DEFAULT_POLLERS_MAX
FAILED = ("CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED")


def _silent(event: Event) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an operator chooses of a stage: the template's parameters.

    Shapes: `pollers_max` 0 caps nobody.
    """

    access: Access = Access.KEYS
    pollers_max: int = POLLERS_MAX

    def parameters(self, stage: str) -> dict[str, str]:
        """Return the parameters of a stage's stack."""
        return {
            "Stage": stage,
            "Access": self.access.value,
            hand_out.POLLERS_MAX: str(self.pollers_max),
        }


@dataclass(frozen=True, slots=True)
class Prepared:
    """A change set that waits to be carried out."""

    stack: str
    change_set: str


class DeploymentFailed(Exception):
    """The stack did not come up; the message says which resource failed and why."""


class Deployer:
    """Deploys stages of Headrace through one session: into one account and region."""

    def __init__(self, session: boto3.session.Session, *, poll_s: float = POLL_S) -> None:
        self._session = session
        self._poll_s = poll_s
        self._cloudformation: CloudFormationClient = session.client("cloudformation")
        self.has_changed = False  # what the last `deploy` did

    @cached_property
    def _s3(self) -> S3Client:
        client: S3Client = self._session.client("s3")
        return client

    def deploy(self, stage: str, template: Mapping[str, Any], code: Path) -> dict[str, str]:
        """Deploy the template with its code; return the stack's outputs.

        Raises: DeploymentFailed.
        """
        return self._apply(self.prepare(stage, template, code), stage)

    def deploy_without_code(self, stage: str, template: Mapping[str, Any]) -> dict[str, str]:
        """Deploy the template for an emulator that calls the functions elsewhere."""
        open_ = Choices(access=Access.OPEN)
        return self._apply(self._prepare(stage, with_code(template, None), open_), stage)

    def prepare(
        self,
        stage: str,
        template: Mapping[str, Any],
        code: Path,
        choices: Choices = Choices(),
        *,
        adopts: bool = False,
    ) -> Prepared | None:
        """Upload the code and make a change set; None if there is nothing to do.

        Shapes: with `adopts`, tables that an earlier stack of the stage left become this one's.
        Raises: DeploymentFailed.
        """
        bucket = self._bucket(stage)
        key = self._upload(bucket, "code/{}.zip", code.read_bytes())
        placed = with_code(template, {"Bucket": bucket, "Key": key})
        if adopts:
            placed = with_named_tables(placed, stage)
        return self._prepare(stage, placed, choices, adopts=adopts)

    def changes(self, prepared: Prepared) -> list[Change]:
        """Return what would happen, resource by resource."""
        return changes.read(self._cloudformation, prepared.change_set)

    def forget(self, prepared: Prepared) -> None:
        """Throw away what was prepared; a stack that was never made goes with it."""
        client = self._cloudformation
        client.delete_change_set(ChangeSetName=prepared.change_set)
        if _status(client, prepared.stack) == "REVIEW_IN_PROGRESS":
            client.delete_stack(StackName=prepared.stack)

    def carry_out(self, prepared: Prepared, tell: Callable[[Event], None] = _silent) -> None:
        """Do what was prepared, telling each event. Raises: DeploymentFailed, rolled back."""
        client, failures = self._cloudformation, []

        def listen(event: Event) -> None:
            if event.get("ResourceStatus") in FAILED:
                reason = event.get("ResourceStatusReason", "no reason given")
                failures.append(f"{event.get('LogicalResourceId')}: {reason}")
            tell(event)

        after = changes.last_event(client, prepared.stack)
        client.execute_change_set(ChangeSetName=prepared.change_set)
        try:
            status = changes.follow(
                client,
                prepared.stack,
                after=after,
                tell=listen,
                poll_s=self._poll_s,
                most_s=WAIT_MAX_S,
            )
        except changes.TookTooLong as error:
            raise DeploymentFailed(str(error)) from error
        if status not in DEPLOYED:
            why = "; ".join(failures) or "no reason given"
            raise DeploymentFailed(f"stack {prepared.stack}: {why} ({status})")
        self.has_changed = True

    def front_door(self, stage: str) -> FrontDoor | None:
        """Return the front door that a stage has; None if it was never deployed."""
        status = _status(self._cloudformation, stack_name(stage))
        if status in (None, "REVIEW_IN_PROGRESS"):
            return None
        return door_of(self.outputs(stage))

    def outputs(self, stage: str) -> dict[str, str]:
        """Return what a deployed stack says of itself."""
        described = self._cloudformation.describe_stacks(StackName=stack_name(stage))["Stacks"][0]
        return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}

    def _apply(self, prepared: Prepared | None, stage: str) -> dict[str, str]:
        if prepared is not None:
            self.carry_out(prepared)
        return self.outputs(stage)

    def _prepare(
        self, stage: str, template: dict[str, Any], choices: Choices, *, adopts: bool = False
    ) -> Prepared | None:
        stack = stack_name(stage)
        if "amazonaws.com" not in self._cloudformation.meta.endpoint_url:
            template = without(template, NOT_EMULATED)
        text = json.dumps(template, sort_keys=True, separators=(",", ":")).encode()
        parameters = choices.parameters(stage)
        digest = hashlib.sha256(text + json.dumps(parameters).encode()).hexdigest()
        if self._is_deployed(stack, digest):
            return None
        bucket = self._bucket(stage)
        key = self._upload(bucket, "templates/{}.json", text)
        url = self._url(bucket, key)
        change_set = self._change_set(stack, parameters, url, digest, adopts=adopts)
        return None if change_set is None else Prepared(stack, change_set)

    def _is_deployed(self, stack: str, digest: str) -> bool:
        """Say whether the very same template was the last to be deployed, and came up."""
        try:
            found = self._cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
        except ClientError as error:
            if _is_missing(error):
                return False
            raise
        tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])}
        return found["StackStatus"] in DEPLOYED and tags.get(DIGEST_TAG) == digest

    def _change_set(
        self, stack: str, parameters: Mapping[str, str], url: str, digest: str, *, adopts: bool
    ) -> str | None:
        """Make a change set; return its ARN, or None if there is nothing to do."""
        client = self._cloudformation
        made = client.create_change_set(
            StackName=stack,
            ChangeSetName=f"headrace-{secrets.token_hex(8)}",
            ChangeSetType="UPDATE" if self._exists(stack) else "CREATE",
            TemplateURL=url,
            Capabilities=list(CAPABILITIES),
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in parameters.items()
            ],
            Tags=[{"Key": DIGEST_TAG, "Value": digest}],
            ImportExistingResources=adopts,
        )
        try:
            self._wait("change_set_create_complete", ChangeSetName=made["Id"])
        except WaiterError as error:
            described = client.describe_change_set(ChangeSetName=made["Id"])
            reason = described.get("StatusReason", str(error))
            client.delete_change_set(ChangeSetName=made["Id"])
            if any(words in reason for words in NOTHING_TO_DO):
                return None
            raise DeploymentFailed(f"change set of stack {stack}: {reason}") from error
        return made["Id"]

    def _exists(self, stack: str) -> bool:
        status = _status(self._cloudformation, stack)
        if status == "ROLLBACK_COMPLETE":
            raise DeploymentFailed(
                f"stack {stack} failed when it was first made: destroy it and deploy again"
            )
        return status not in (None, "REVIEW_IN_PROGRESS")

    def _wait(self, waiter: str, **what: str) -> None:
        attempts = max(1, int(WAIT_MAX_S / self._poll_s))
        self._cloudformation.get_waiter(waiter).wait(  # type: ignore[call-overload]
            **what, WaiterConfig={"Delay": self._poll_s, "MaxAttempts": attempts}
        )

    def _bucket(self, stage: str) -> str:
        """Return the stage's bucket, made if it is not there; it is private, as all new ones."""
        bucket, region = bucket_name(self._session, stage), self._session.region_name
        client = self._s3
        try:
            client.head_bucket(Bucket=bucket)
        except ClientError:
            where = {} if region == "us-east-1" else {"LocationConstraint": region}
            more = {"CreateBucketConfiguration": where} if where else {}
            client.create_bucket(Bucket=bucket, **more)  # type: ignore[arg-type]
        return bucket

    def _upload(self, bucket: str, key: str, content: bytes) -> str:
        """Put content under its own hash, unless it is there; return its key."""
        key = key.format(hashlib.sha256(content).hexdigest())
        client = self._s3
        try:
            client.head_object(Bucket=bucket, Key=key)
        except ClientError:
            client.put_object(Bucket=bucket, Key=key, Body=content)
        return key

    def _url(self, bucket: str, key: str) -> str:
        endpoint = self._s3.meta.endpoint_url
        if "amazonaws.com" in endpoint:
            return f"https://{bucket}.s3.{self._session.region_name}.amazonaws.com/{key}"
        return f"{endpoint}/{bucket}/{key}"


def stack_name(stage: str) -> str:
    """Return the name of a stage's stack."""
    return f"headrace-{stage}"


def bucket_name(session: boto3.session.Session, stage: str) -> str:
    """Return the name of the bucket that a stage is deployed from."""
    account = session.client("sts").get_caller_identity()["Account"]
    return f"{stack_name(stage)}-deploy-{account}-{session.region_name}"


def without(template: Mapping[str, Any], kinds: frozenset[str]) -> dict[str, Any]:
    """Return a template without the resources of some types, to which nothing in it refers."""
    resources = {
        name: each for name, each in template["Resources"].items() if each["Type"] not in kinds
    }
    return {**template, "Resources": resources}


def with_named_tables(template: Mapping[str, Any], stage: str) -> dict[str, Any]:
    """Return the template with the tables' names written out, without which none is adopted."""
    named = cast("dict[str, Any]", json.loads(json.dumps(template)))
    for resource in named["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            properties = resource["Properties"]
            name = properties["TableName"]["Fn::Sub"]
            properties["TableName"] = names.resolve(name, stage=stage, account="", region="")
    return named


def with_code(template: Mapping[str, Any], code: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the template with every function's code at a place in S3, or with none."""
    placed = cast("dict[str, Any]", json.loads(json.dumps(template)))
    for function in names.FUNCTION_NAMES:
        properties = placed["Resources"][function]["Properties"]
        if properties.pop("CodeUri") != package.CODE:
            raise ValueError(f"expected the code of {function} at {package.CODE}")
        properties |= {"CodeUri": dict(code)} if code else {"InlineCode": "pass"}
    return placed


def _status(client: CloudFormationClient, stack: str) -> str | None:
    try:
        return client.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
    except ClientError as error:
        if _is_missing(error):
            return None
        raise


def _is_missing(error: ClientError) -> bool:
    return "does not exist" in str(error)
