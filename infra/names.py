"""The names of everything that is deployed, so that template, policies and laptop agree.

Shapes: names hold CloudFormation's own placeholders, `${Stage}` and `${AWS::Region}` among them;
    `resolve` fills them in where no CloudFormation does.
"""

from __future__ import annotations

API, HAND_OUT = "APIHandler", "HandOut"
TIMERS, COMMANDS = "OnTimers", "OnCommands"
RUNS, ROUTING, SWEEP = "OnRuns", "OnRouting", "Sweep"
FUNCTION_NAMES = {
    API: "headrace-${Stage}-api",
    HAND_OUT: "headrace-${Stage}-hand-out",
    TIMERS: "headrace-${Stage}-timers",
    COMMANDS: "headrace-${Stage}-commands",
    RUNS: "headrace-${Stage}-runs",
    ROUTING: "headrace-${Stage}-routing",
    SWEEP: "headrace-${Stage}-sweep",
}
API_STAGE = "api"  # of API Gateway; `.chalice/config.json` says the same

LIVE_TABLE = "headrace-${Stage}"
HISTORY_TABLE = "headrace-${Stage}-history"
QUEUE_PREFIX = "headrace-${Stage}-"
JOB_QUEUES = QUEUE_PREFIX + "j-*"
TIMERS_QUEUE = QUEUE_PREFIX + "timers"
COMMANDS_QUEUE = QUEUE_PREFIX + "commands"
RUNS_QUEUE = QUEUE_PREFIX + "runs"
ROUTING_QUEUE = QUEUE_PREFIX + "routing"
QUEUES = {  # of ours, by the functions that they feed
    TIMERS: TIMERS_QUEUE,
    COMMANDS: COMMANDS_QUEUE,
    RUNS: RUNS_QUEUE,
    ROUTING: ROUTING_QUEUE,
}
DEAD = "-dead"
SCHEDULE_GROUP = "headrace-${Stage}"
JOB_SCHEDULES = SCHEDULE_GROUP + "/sj-*"  # those that fire scheduled jobs
SECRETS = "headrace/${Stage}/*"  # what the calls of scheduled jobs may refer to
SCHEDULE_ROLE = "headrace-${Stage}-${AWS::Region}-schedules"

ENVIRONMENT = {
    "HEADRACE_TABLE": LIVE_TABLE,
    "HEADRACE_HISTORY_TABLE": HISTORY_TABLE,
    "HEADRACE_QUEUE_PREFIX": QUEUE_PREFIX,
    "HEADRACE_SCHEDULE_GROUP": SCHEDULE_GROUP,
    "HEADRACE_SCHEDULE_ROLE_ARN": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/"
    + SCHEDULE_ROLE,
}


def arn(service: str, resource: str) -> dict[str, str]:
    """Return CloudFormation's expression for the ARN of a resource in this account and region."""
    prefix = f"arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:"
    return {"Fn::Sub": prefix + resource}


def resolve(name: str, *, stage: str, account: str, region: str, partition: str = "aws") -> str:
    """Fill in what CloudFormation would."""
    values = {
        "${Stage}": stage,
        "${AWS::AccountId}": account,
        "${AWS::Region}": region,
        "${AWS::Partition}": partition,
    }
    for placeholder, value in values.items():
        name = name.replace(placeholder, value)
    return name


def environment(*, stage: str, account: str, region: str) -> dict[str, str]:
    """Return the variables that tell our code where its tables, queues and schedules are."""
    return {
        variable: resolve(name, stage=stage, account=account, region=region)
        for variable, name in ENVIRONMENT.items()
    }
