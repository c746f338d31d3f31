"""Looks at a stage and says what is not as the template, and the code, need it.

It changes nothing. Each check yields a line for each thing that is wrong; what the caller has no
right to look at is said too, for it may be wrong as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import settings
from chalicelib.access import Access
from infra import hand_out, names, policies
from infra.deploy import DEPLOYED, stack_name

if TYPE_CHECKING:
    import boto3

SKEW_MAX = timedelta(seconds=2)  # what the simulation has shown to be harmless
TABLES = (names.LIVE_TABLE, names.HISTORY_TABLE)


@dataclass(frozen=True, slots=True)
class Stage:
    """What is looked at, and the time on this machine."""

    session: boto3.session.Session
    name: str
    now: Callable[[], datetime]

    def of(self, name: str) -> str:
        """Return a name as the stage has it."""
        return names.resolve(name, stage=self.name, account="", region="")

    def client(self, service: str) -> Any:
        """Return a client of the account."""
        return self.session.client(service)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; nothing wrong: all is well."""

    check: str
    wrong: tuple[str, ...]


def examine(stage: Stage) -> Iterator[Finding]:
    """Make all checks, one after the other."""
    for name, check in CHECKS.items():
        try:
            wrong = tuple(check(stage))
        except (ClientError, BotoCoreError) as error:
            wrong = (f"could not be looked at: {error}",)
        yield Finding(name, wrong)


def _stack(stage: Stage) -> Iterator[str]:
    client = stage.client("cloudformation")
    status = client.describe_stacks(StackName=stack_name(stage.name))["Stacks"][0]["StackStatus"]
    if status not in DEPLOYED:
        yield f"expected the stack to be {' or '.join(DEPLOYED)}, found {status}: deploy again"


def _tables(stage: Stage) -> Iterator[str]:
    client = stage.client("dynamodb")
    for table in map(stage.of, TABLES):
        status = client.describe_table(TableName=table)["Table"]["TableStatus"]
        if status != "ACTIVE":
            yield f"expected table {table} to be ACTIVE, found {status}"
        expiry = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        if expiry["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
            yield f"expected items of {table} to expire, found {expiry['TimeToLiveStatus']}"
        backups = client.describe_continuous_backups(TableName=table)
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
            yield f"expected point-in-time recovery of {table}, found it off"


def _queues(stage: Stage) -> Iterator[str]:
    client = stage.client("sqs")
    for queue in map(stage.of, names.QUEUES.values()):
        try:
            url = client.get_queue_url(QueueName=queue)["QueueUrl"]
            dead = client.get_queue_url(QueueName=queue + names.DEAD)["QueueUrl"]
        except client.exceptions.QueueDoesNotExist:
            yield f"expected the queue {queue} and {queue}{names.DEAD}, found none: deploy again"
            continue
        asked = ["RedrivePolicy", "ApproximateNumberOfMessages"]
        found = client.get_queue_attributes(QueueUrl=url, AttributeNames=asked)["Attributes"]
        if "RedrivePolicy" not in found:
            yield f"expected {queue} to park what faults, found no redrive policy: deploy again"
        parked = client.get_queue_attributes(QueueUrl=dead, AttributeNames=asked)["Attributes"]
        if int(parked["ApproximateNumberOfMessages"]):
            count = parked["ApproximateNumberOfMessages"]
            yield f"{count} messages are parked in {queue}{names.DEAD}: docs/runbook.md"


def _functions(stage: Stage) -> Iterator[str]:
    client = stage.client("lambda")
    for name in map(stage.of, names.FUNCTION_NAMES.values()):
        found = client.get_function_configuration(FunctionName=name)
        if found.get("State", "Active") not in ("Active", "Inactive"):
            yield f"expected {name} to be Active, found {found['State']}"
    variables = client.get_function_configuration(
        FunctionName=stage.of(names.FUNCTION_NAMES[names.API])
    )["Environment"]["Variables"]
    if variables.get(settings.ACCESS) == Access.OPEN:
        yield "whoever reaches the address may call everything: deploy without --open"


def _pollers(stage: Stage) -> Iterator[str]:
    cloudformation, client = stage.client("cloudformation"), stage.client("lambda")
    described = cloudformation.describe_stacks(StackName=stack_name(stage.name))["Stacks"][0]
    given = described.get("Parameters", [])  # none of a stack that came before the cap
    chosen = {each["ParameterKey"]: each["ParameterValue"] for each in given}
    wanted = int(chosen.get(hand_out.POLLERS_MAX, 0)) or None
    name = stage.of(names.FUNCTION_NAMES[names.HAND_OUT])
    cap = client.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions")
    if cap != wanted:
        most = wanted or "any number"
        yield f"expected {name} to run {most} at a time, found {cap or 'no cap'}: deploy again"


def _mappings(stage: Stage) -> Iterator[str]:
    client = stage.client("lambda")
    for function, queue in names.QUEUES.items():
        name = stage.of(names.FUNCTION_NAMES[function])
        found = client.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        mine = [each for each in found if each["EventSourceArn"].endswith(f":{stage.of(queue)}")]
        if not mine:
            yield f"expected {name} to read {stage.of(queue)}, found no mapping: deploy again"
        for each in mine:
            if each["State"] not in ("Enabled", "Enabling", "Updating"):
                yield f"expected the mapping of {name} to be Enabled, found {each['State']}"
            if "ReportBatchItemFailures" not in each.get("FunctionResponseTypes", ()):
                yield f"expected the mapping of {name} to take partial answers: deploy again"


def _schedules(stage: Stage) -> Iterator[str]:
    group = stage.of(names.SCHEDULE_GROUP)
    state = stage.client("scheduler").get_schedule_group(Name=group)["State"]
    if state != "ACTIVE":
        yield f"expected the schedule group {group} to be ACTIVE, found {state}"
    sweep = stage.of(names.FUNCTION_NAMES[names.SWEEP])
    target = stage.client("lambda").get_function_configuration(FunctionName=sweep)["FunctionArn"]
    events = stage.client("events")
    rules = events.list_rule_names_by_target(TargetArn=target)["RuleNames"]
    if not rules:
        yield f"expected a rule that starts {sweep} each hour, found none: deploy again"
    for rule in rules:
        if (state := events.describe_rule(Name=rule)["State"]) != "ENABLED":
            yield f"expected the rule {rule} to be ENABLED, found {state}: nothing is swept"


def _clock(stage: Stage) -> Iterator[str]:
    answer = stage.client("sts").get_caller_identity()
    theirs = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    skew = abs(stage.now() - theirs)
    if skew > SKEW_MAX + timedelta(seconds=1):  # their header has whole seconds
        seconds = round(skew.total_seconds())
        yield f"this machine's clock is {seconds} s off AWS's: commands run here may act early"


def _permissions(stage: Stage) -> Iterator[str]:
    client, iam = stage.client("cloudformation"), stage.client("iam")
    for function in names.FUNCTION_NAMES:
        role = client.describe_stack_resource(
            StackName=stack_name(stage.name), LogicalResourceId=f"{function}Role"
        )["StackResourceDetail"]["PhysicalResourceId"]
        found = iam.get_role_policy(RoleName=role, PolicyName="headrace")["PolicyDocument"]
        missing = _allowed(policies.statements(function)) - _allowed(found["Statement"])
        if missing:
            yield f"expected {role} to allow {', '.join(sorted(missing))}: deploy again"


def _allowed(statements: Sequence[Mapping[str, Any]]) -> set[str]:
    return {action for each in statements for action in each["Action"]}


CHECKS: Mapping[str, Callable[[Stage], Iterator[str]]] = {
    "stack": _stack,
    "tables": _tables,
    "queues": _queues,
    "functions": _functions,
    "pollers": _pollers,
    "mappings": _mappings,
    "schedules": _schedules,
    "clock": _clock,
    "permissions": _permissions,
}
