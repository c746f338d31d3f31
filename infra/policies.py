"""What each function may do: one role and one policy per function, as data.

A role may do what its function's code calls and nothing else; `tests/aws` runs the demo's
process with the emulator's IAM enforcement on, so a missing right turns a test red, and
`tests/infra` says which rights no function has.
"""

from __future__ import annotations

from typing import Any

from infra import names
from infra.names import arn

Statement = dict[str, Any]

_READ = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query")
# A transaction asks for the right of each of its writes.
_WRITE = (
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:ConditionCheckItem",
)
_CONSUME = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueAttributes",
)
_SEND = ("sqs:SendMessage", "sqs:GetQueueUrl")
_MAKE = ("sqs:CreateQueue", "sqs:GetQueueAttributes")


def statements(function: str) -> list[Statement]:
    """Return the policy statements of a function, by its name in the template."""
    return [*_STATEMENTS[function](), _logs(function), _traces()]


def _turns() -> list[Statement]:
    """What a turn needs: to read and write the tables, and to promise its effects."""
    return [
        _allow(_READ + _WRITE, *_tables()),
        _allow(_SEND, *_queues(names.JOB_QUEUES, names.TIMERS_QUEUE, names.COMMANDS_QUEUE)),
        _allow(_MAKE, *_queues(names.JOB_QUEUES)),  # of types that come from expressions
        {"Effect": "Allow", "Action": ["sqs:ListQueues"], "Resource": "*"},  # knows no narrower
        _allow(
            ("scheduler:CreateSchedule",), arn("scheduler", f"schedule/{names.SCHEDULE_GROUP}/*")
        ),
        _pass_schedule_role(),
    ]


def _api() -> list[Statement]:
    return [*_turns(), _allow(_CONSUME, *_queues(names.JOB_QUEUES))]


def _timers() -> list[Statement]:
    return [*_turns(), *_consumer(names.TIMERS_QUEUE)]


def _commands() -> list[Statement]:
    scan = _allow(("dynamodb:Scan",), arn("dynamodb", f"table/{names.LIVE_TABLE}"))
    return [*_turns(), *_consumer(names.COMMANDS_QUEUE), scan]  # the sweep is done in parts here


def _sweep() -> list[Statement]:
    return [_allow(_SEND, *_queues(names.COMMANDS_QUEUE))]  # it only sends the parts


def _consumer(queue: str) -> list[Statement]:
    return [
        _allow(_CONSUME, *_queues(queue)),
        _allow(_SEND, *_queues(queue + names.DEAD)),  # parking what faults for an hour
    ]


_STATEMENTS = {
    names.API: _api,
    names.TIMERS: _timers,
    names.COMMANDS: _commands,
    names.SWEEP: _sweep,
}


def schedule_statements() -> list[Statement]:
    """Return what a one-time schedule may do when it fires: put its message into a queue."""
    return [_allow(("sqs:SendMessage",), *_queues(names.JOB_QUEUES, names.TIMERS_QUEUE))]


def trusted_by(service: str) -> dict[str, Any]:
    """Return the trust policy that lets one AWS service take a role."""
    principal = {"Service": f"{service}.amazonaws.com"}
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}],
    }


def _tables() -> list[dict[str, str]]:
    tables = (names.LIVE_TABLE, names.HISTORY_TABLE)
    return [
        arn("dynamodb", f"table/{table}{suffix}") for table in tables for suffix in ("", "/index/*")
    ]


def _queues(*queues: str) -> list[dict[str, str]]:
    return [arn("sqs", queue) for queue in queues]


def _pass_schedule_role() -> Statement:
    role = {"Fn::GetAtt": ["ScheduleRole", "Arn"]}
    return {
        **_allow(("iam:PassRole",), role),
        "Condition": {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
    }


def _logs(function: str) -> Statement:
    group = f"log-group:/aws/lambda/{names.FUNCTION_NAMES[function]}:*"
    return _allow(("logs:CreateLogStream", "logs:PutLogEvents"), arn("logs", group))


def _traces() -> Statement:
    """Let the daemon beside a function send its traces, which X-Ray knows no narrower right for."""
    actions = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
    return {"Effect": "Allow", "Action": actions, "Resource": "*"}


def _allow(actions: tuple[str, ...], *resources: dict[str, Any]) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
