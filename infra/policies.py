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
_CLAIM = ("dynamodb:PutItem", "dynamodb:UpdateItem")
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
_SCHEDULE = (
    "scheduler:CreateSchedule",
    "scheduler:GetSchedule",
    "scheduler:UpdateSchedule",
    "scheduler:DeleteSchedule",
)
_MAKE = ("sqs:CreateQueue", "sqs:GetQueueAttributes")


def statements(function: str, alarm_sender: str = "") -> list[Statement]:
    """Return the policy statements of a function, by its name in the template.

    Shapes: `alarm_sender` is the address that alarms are mailed from, empty for none.
    """
    mails = _mails(alarm_sender) if alarm_sender and function == names.RUNS else []
    return [*_STATEMENTS[function](), *mails, _logs(function), _traces()]


def _turns() -> list[Statement]:
    """What a turn needs: to read and write the tables, and to promise its effects."""
    return [
        _allow(_READ + _WRITE, *_tables()),
        _allow(_SEND, *_queues(names.JOB_QUEUES, names.TIMERS_QUEUE, names.COMMANDS_QUEUE)),
        *_makes_job_queues(),  # of types that come from expressions
        *_one_time_schedules(),
    ]


def _makes_job_queues() -> list[Statement]:
    """What it needs to make the queue of a job type that a bell finds missing."""
    return [
        _allow(_MAKE, *_queues(names.JOB_QUEUES)),
        {"Effect": "Allow", "Action": ["sqs:ListQueues"], "Resource": "*"},  # knows no narrower
    ]


def _routing() -> list[Statement]:
    """What an endpoint needs: turns of the instances it starts or tells, secrets of its calls."""
    return [
        *_turns(),
        *_tells_routing(),
        *_consumer(names.ROUTING_QUEUE),
        *_secrets(),
    ]


def _tells_routing() -> list[Statement]:
    """What it needs to say that a routed message is to be handled."""
    return [_allow(_SEND, *_queues(names.ROUTING_QUEUE))]


def _scheduled_jobs() -> list[Statement]:
    """What it needs to let a job fire, or fire no more, and to set its runs going."""
    return [
        _allow(_SEND, *_queues(names.RUNS_QUEUE)),
        _allow(_SCHEDULE, arn("scheduler", f"schedule/{names.JOB_SCHEDULES}")),
    ]


def _api() -> list[Statement]:
    return [
        *_turns(),
        *_scheduled_jobs(),
        *_tells_routing(),
        _allow(_CONSUME, *_queues(names.JOB_QUEUES)),
    ]


def _hand_out() -> list[Statement]:
    """What claims need: to change jobs, ring for the ends of locks, and take bells. No turn."""
    return [
        _allow(_READ + _CLAIM, *_tables()),
        _allow(_SEND + _CONSUME, *_queues(names.JOB_QUEUES)),
        *_makes_job_queues(),
        *_one_time_schedules(),
    ]


def _timers() -> list[Statement]:
    return [*_turns(), *_consumer(names.TIMERS_QUEUE)]


def _commands() -> list[Statement]:
    scan = _allow(("dynamodb:Scan",), arn("dynamodb", f"table/{names.LIVE_TABLE}"))
    # The sweep is done in parts here.
    return [
        *_turns(),
        *_scheduled_jobs(),
        *_tells_routing(),
        *_consumer(names.COMMANDS_QUEUE),
        scan,
    ]


def _runs() -> list[Statement]:
    """What attempts need: no turn of a process, but secrets that calls refer to."""
    return [
        _allow(_READ + _WRITE, *_tables()),
        *_scheduled_jobs(),
        *_one_time_schedules(),
        *_consumer(names.RUNS_QUEUE),
        *_secrets(),
    ]


def _secrets() -> list[Statement]:
    """What a call needs that refers to a secret."""
    return [
        _allow(("ssm:GetParameter",), arn("ssm", f"parameter/{names.SECRETS}")),
        _allow(
            ("secretsmanager:GetSecretValue",), arn("secretsmanager", f"secret:{names.SECRETS}")
        ),
    ]


def _mails(sender: str) -> list[Statement]:
    """Let alarms be mailed from one address, which SES knows by itself or by its domain."""
    identities = (sender, sender.rpartition("@")[2])
    statement = _allow(("ses:SendEmail",), *(arn("ses", f"identity/{each}") for each in identities))
    return [{**statement, "Condition": {"StringEquals": {"ses:FromAddress": sender}}}]


def _sweep() -> list[Statement]:
    return [_allow(_SEND, *_queues(names.COMMANDS_QUEUE))]  # it only sends the parts


def _consumer(queue: str) -> list[Statement]:
    return [
        _allow(_CONSUME, *_queues(queue)),
        _allow(_SEND, *_queues(queue + names.DEAD)),  # parking what faults for an hour
    ]


_STATEMENTS = {
    names.API: _api,
    names.HAND_OUT: _hand_out,
    names.TIMERS: _timers,
    names.COMMANDS: _commands,
    names.RUNS: _runs,
    names.ROUTING: _routing,
    names.SWEEP: _sweep,
}


def schedule_statements() -> list[Statement]:
    """Return what a schedule may do when it fires: put its message into a queue."""
    queues = _queues(names.JOB_QUEUES, names.TIMERS_QUEUE, names.RUNS_QUEUE, names.ROUTING_QUEUE)
    return [_allow(("sqs:SendMessage",), *queues)]


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


def _one_time_schedules() -> list[Statement]:
    group = arn("scheduler", f"schedule/{names.SCHEDULE_GROUP}/*")
    return [_allow(("scheduler:CreateSchedule",), group), _pass_schedule_role()]


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
