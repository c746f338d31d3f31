"""The CloudFormation template: what `chalice package` makes, and what Chalice cannot declare.

`extension()` is plain data and can be merged by `chalice package --merge-template` too; it adds
tables, queues, schedules, roles and alarms to Chalice's functions and API, and the few settings
of those that no decorator has. Everything is named after the parameter `Stage`, so that one
template serves every stage.

Traps (contracts/emulation.md section 1): a merge works key by key and deletes nothing, so a value
is replaced only by one of the same form; CloudFormation reads no YAML aliases, so we write JSON.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from chalicelib import settings
from chalicelib.access import ANY_ORIGIN, Access, shared_with
from chalicelib.delivery import runs
from chalicelib.ports import HISTORY, LIVE, Settings
from chalicelib.store import table
from infra import hand_out, names, policies, watching

Json = dict[str, Any]

FUNCTION_TIMEOUT_S = 30  # design section 4, "Time"
TIMEOUTS_S = {names.RUNS: int(runs.FUNCTION_TIMEOUT.total_seconds())}  # of functions with others
VISIBILITY_S = 90  # three times that: a message comes back only after its function is dead
RUNS_VISIBILITY_S = int(runs.VISIBILITY.total_seconds())
RETENTION_S = 1_209_600  # 14 days, SQS's longest
RECEIVES_MAX = 1_000  # SQS's largest: receive counts decide nothing, age does (design section 4)
BATCH = {names.TIMERS: 10, names.COMMANDS: 10, names.RUNS: 1, names.ROUTING: 1}
# An attempt may take all the time of its function, and a call to a URL a third of it.
# Of each mapping; SQS allows 2 to 1,000. As many attempts of scheduled jobs are made at a time.
CONCURRENCY = {names.TIMERS: 20, names.COMMANDS: 20, names.RUNS: 100, names.ROUTING: 50}
LOG_DAYS = 30
ACCESS = "Access"  # the parameter
SENDERS = tuple(names.FUNCTION_NAMES)


def extension(alarm_sender: str = "", origins: Sequence[str] = (ANY_ORIGIN,)) -> Json:
    """Return what is merged into Chalice's template.

    Shapes: `alarm_sender` is the address that alarms of scheduled jobs are mailed from; `origins`
        are those whose pages may call.
    """
    resources = {
        **_tables(),
        **_queues(),
        **_schedules(),
        **_roles(alarm_sender),
        **_log_groups(),
        **watching.alarms(),
        **watching.dashboard(),
        **{each: _function(each) for each in names.FUNCTION_NAMES if each != names.HAND_OUT},
        "RestAPI": _rest_api(origins),
    }
    return {
        "Description": "Headrace: a BPMN workflow engine with no servers",
        "Parameters": {
            "Stage": {
                "Type": "String",
                "Default": "dev",
                "AllowedPattern": "[a-z][a-z0-9-]{0,19}",
                "Description": "Names every table, queue and function of this deployment",
            },
            ACCESS: {
                "Type": "String",
                "Default": Access.KEYS.value,
                "AllowedValues": [each.value for each in Access],
                "Description": "Who may call: who has an API key, who signs, or anybody",
            },
            **hand_out.PARAMETERS,
        },
        "Conditions": hand_out.CONDITIONS,
        "Resources": resources,
        "Outputs": {
            "JobQueuePrefix": {"Value": {"Fn::Sub": names.QUEUE_PREFIX + "j-"}},
            "LiveTableName": {"Value": {"Ref": "LiveTable"}},
            "HistoryTableName": {"Value": {"Ref": "HistoryTable"}},
        },
    }


def completed(made: Json, chosen: Settings) -> Json:
    """Return Chalice's template with all that it cannot declare, as an operator set it."""
    whole = merge(made, extension(chosen.alarm_sender, chosen.origins))
    like_the_api = merge(whole["Resources"][names.API], _function(names.HAND_OUT))
    return hand_out.with_hand_out(whole, like_the_api)


def merge(into: Json, added: Json) -> Json:
    """Merge as Chalice does: key by key, lists and values replaced."""
    merged = copy.copy(into)
    for key, value in added.items():
        present = merged.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            merged[key] = merge(present, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged


def signed(whole: Json) -> Json:
    """Return the whole template with an API whose gateway demands a signature of every caller.

    A browser's preflight is none: it never signs.
    """
    changed = copy.deepcopy(whole)
    definition = changed["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    scheme = {
        "type": "apiKey",
        "name": "Authorization",
        "in": "header",
        "x-amazon-apigateway-authtype": "awsSigv4",
    }
    definition.setdefault("securityDefinitions", {})["sigv4"] = scheme
    for methods in definition["paths"].values():
        for method, served in methods.items():
            if method != "options":
                served["security"] = [{"sigv4": []}]
    return changed


def _tables() -> Json:
    return {
        "LiveTable": _table(names.LIVE_TABLE, table.TABLES[LIVE]),
        "HistoryTable": _table(names.HISTORY_TABLE, table.TABLES[HISTORY]),
    }


def _table(name: str, schema: table.Schema) -> Json:
    """One table on demand, kept when its stack is deleted."""
    properties: Json = {
        "TableName": {"Fn::Sub": name},
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in schema.attributes
        ],
        "KeySchema": _key_schema(schema.pk, schema.sk),
        "TimeToLiveSpecification": {"AttributeName": schema.ttl, "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    }
    if schema.indexes:
        properties["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "KeySchema": _key_schema(index.pk, index.sk),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for index in schema.indexes
        ]
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    return {"Type": "AWS::DynamoDB::Table", **kept, "Properties": properties}


def _key_schema(pk: str, sk: str) -> list[Json]:
    return [
        {"AttributeName": pk, "KeyType": "HASH"},
        {"AttributeName": sk, "KeyType": "RANGE"},
    ]


def _queues() -> Json:
    return {
        "TimersDeadQueue": _queue(names.TIMERS_QUEUE + names.DEAD),
        "TimersQueue": _queue(names.TIMERS_QUEUE, dead="TimersDeadQueue"),
        "CommandsDeadQueue": _queue(names.COMMANDS_QUEUE + names.DEAD),
        "CommandsQueue": _queue(names.COMMANDS_QUEUE, dead="CommandsDeadQueue"),
        "RunsDeadQueue": _queue(names.RUNS_QUEUE + names.DEAD),
        "RunsQueue": _queue(names.RUNS_QUEUE, dead="RunsDeadQueue", hidden_s=RUNS_VISIBILITY_S),
        "RoutingDeadQueue": _queue(names.ROUTING_QUEUE + names.DEAD),
        "RoutingQueue": _queue(names.ROUTING_QUEUE, dead="RoutingDeadQueue"),
    }


def _queue(name: str, dead: str | None = None, hidden_s: int = VISIBILITY_S) -> Json:
    properties: Json = {
        "QueueName": {"Fn::Sub": name},
        "MessageRetentionPeriod": RETENTION_S,
        "SqsManagedSseEnabled": True,
    }
    if dead:
        properties["VisibilityTimeout"] = hidden_s
        properties["RedrivePolicy"] = {
            "deadLetterTargetArn": {"Fn::GetAtt": [dead, "Arn"]},
            "maxReceiveCount": RECEIVES_MAX,
        }
    return {
        "Type": "AWS::SQS::Queue",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": properties,
    }


def _schedules() -> Json:
    return {
        "ScheduleGroup": {
            "Type": "AWS::Scheduler::ScheduleGroup",
            "Properties": {"Name": {"Fn::Sub": names.SCHEDULE_GROUP}},
        },
        "ScheduleRole": _role(
            "scheduler", policies.schedule_statements(), RoleName={"Fn::Sub": names.SCHEDULE_ROLE}
        ),
    }


def _roles(alarm_sender: str) -> Json:
    return {
        f"{function}Role": _role("lambda", policies.statements(function, alarm_sender))
        for function in names.FUNCTION_NAMES
    }


def _role(service: str, statements: list[Json], **more: Any) -> Json:
    policy = {"Version": "2012-10-17", "Statement": statements}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            **more,
            "AssumeRolePolicyDocument": policies.trusted_by(service),
            "Policies": [{"PolicyName": "headrace", "PolicyDocument": policy}],
        },
    }


def _log_groups() -> Json:
    return {
        f"{function}Logs": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Delete",
            "UpdateReplacePolicy": "Delete",
            "Properties": {
                "LogGroupName": {"Fn::Sub": f"/aws/lambda/{name}"},
                "RetentionInDays": LOG_DAYS,
            },
        }
        for function, name in names.FUNCTION_NAMES.items()
    }


def _function(function: str) -> Json:
    """The settings of a function that Chalice's decorators and config do not have."""
    properties: Json = {
        "FunctionName": {"Fn::Sub": names.FUNCTION_NAMES[function]},
        "Role": {"Fn::GetAtt": [f"{function}Role", "Arn"]},
        "Timeout": TIMEOUTS_S.get(function, FUNCTION_TIMEOUT_S),
        "Environment": {
            "Variables": {
                **{variable: {"Fn::Sub": name} for variable, name in names.ENVIRONMENT.items()},
                settings.ACCESS: {"Ref": ACCESS},
            }
        },
    }
    if function in SENDERS:
        properties["RecursiveLoop"] = "Allow"  # AWS stops a chain of sends after 16 hops otherwise
    if function in _MAPPINGS:
        event, queue = _MAPPINGS[function]
        mapping = {
            # The same form as Chalice's, which it replaces.
            "Queue": {"Fn::Sub": f"${{{queue}.Arn}}"},
            "BatchSize": BATCH[function],
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "ScalingConfig": {"MaximumConcurrency": CONCURRENCY[function]},
        }
        properties["Events"] = {event: {"Type": "SQS", "Properties": mapping}}
    return {"DependsOn": [f"{function}Logs"], "Properties": properties}


# Function: the name Chalice gives its event source, and the queue it reads.
_MAPPINGS = {
    names.TIMERS: ("OnTimersSqsEventSource", "TimersQueue"),
    names.COMMANDS: ("OnCommandsSqsEventSource", "CommandsQueue"),
    names.RUNS: ("OnRunsSqsEventSource", "RunsQueue"),
    names.ROUTING: ("OnRoutingSqsEventSource", "RoutingQueue"),
}


# What API Gateway answers itself, and the code it has there. Without these it would be worded
# otherwise than everything else, and a page of another origin could not read it.
GATEWAY_RESPONSES = {
    "REQUEST_TOO_LARGE": "PAYLOAD_TOO_LARGE",
    "THROTTLED": "$context.error.responseType",
    "INTEGRATION_FAILURE": "CLUSTER_ERROR",
    "DEFAULT_4XX": "$context.error.responseType",
    "DEFAULT_5XX": "ERROR",
}
# A function of which too many run is not called: nothing was done, and repeating it is right.
UNAVAILABLE = {"INTEGRATION_FAILURE": 503}
REPEATED = ("THROTTLED", "INTEGRATION_FAILURE")


def _rest_api(origins: Sequence[str]) -> Json:
    """Bodies reach the API's function byte for byte, and the gateway's own errors have a shape.

    As text they would have bytes that are not UTF-8 replaced on the way. Chalice says the same in
    the API's definition, which the emulator does not read.
    """
    properties: Json = {
        "Name": watching.API_NAME,
        "DefinitionBody": {"info": {"title": watching.API_NAME}},  # which is the name, too
        "BinaryMediaTypes": ["*/*"],
        "GatewayResponses": {
            response: _gateway_response(response, code, origins)
            for response, code in GATEWAY_RESPONSES.items()
        },
    }
    return {"Properties": properties}


def _gateway_response(response: str, code: str, origins: Sequence[str]) -> Json:
    # The gateway cannot choose among origins, so where several are named no page reads these.
    shared = shared_with(origins, origins[0]) if len(origins) == 1 else {}
    headers = {name: f"'{value}'" for name, value in shared.items()}
    if response in REPEATED:
        headers["Retry-After"] = "'1'"
    status = {"StatusCode": UNAVAILABLE[response]} if response in UNAVAILABLE else {}
    return {
        **status,
        "ResponseParameters": {"Headers": headers},
        "ResponseTemplates": {
            "application/json": f'{{"code": "{code}", "message": $context.error.messageString}}'
        },
    }
