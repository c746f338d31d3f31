"""What tells an operator that something is wrong: alarms, each with its paragraph, a dashboard.

An alarm says in its description where it is explained: docs/runbook.md has a section for each. What
our code counts goes by CloudWatch's metrics of many dimensions, so that alarms, which take one
series, count lines of the log instead.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from infra import names

Json = dict[str, Any]

PARKING = ("TimersDeadQueue", "CommandsDeadQueue", "RunsDeadQueue", "RoutingDeadQueue")
QUEUES = ("TimersQueue", "CommandsQueue", "RunsQueue", "RoutingQueue")
TABLES = ("LiveTable", "HistoryTable")
OLDEST_S = 600  # of a message that is due: functions take them within seconds
HOUR_S, MINUTES_S = 3_600, 300
API_NAME = {"Fn::Sub": "headrace-${Stage}"}
LINES = "Headrace/Lines"  # the namespace of what is counted of the log
# What is counted of the log: its metric, the functions that write it, how its line is known, and
# what of the line is the value, 1 for the line itself.
FILTERS = {
    "MendedLosses": ((names.COMMANDS,), '{ $.message = "mended losses" && $.mended > 0 }', "1"),
    "IncidentsRaised": (
        (names.API, names.TIMERS, names.COMMANDS, names.ROUTING),
        '{ $.level = "ERROR" && $.incident_key > 0 }',
        "1",
    ),
    "OldestJob": (
        (names.COMMANDS,),
        '{ $.message = "oldest job" && $.waited_s >= 0 }',
        "$.waited_s",
    ),
}
JOB_WAITS_S = 3_600  # for a worker, of the type whose oldest job waits the longest


@dataclass(frozen=True)
class Watched:
    """One alarm: the metric that it looks at, and from where on it is wrong.

    Shapes: `above` is exceeded in each of `times` periods in a row; no data is no alarm.
    """

    about: str
    namespace: str
    metric: str
    dimensions: Json = field(default_factory=dict)
    statistic: str = "Sum"
    above: int = 0
    period_s: int = MINUTES_S
    times: int = 1


def alarms() -> Json:
    """Return the alarms by their names in the template, and what counts lines for them."""
    made = {name: _alarm(name, watched) for name, watched in WATCHED.items()}
    return {**made, **_filters()}


def _of_queues() -> dict[str, Watched]:
    parked = {
        f"{queue}Alarm": Watched(
            f"Messages are parked in {queue}",
            "AWS/SQS",
            "ApproximateNumberOfMessagesVisible",
            {"QueueName": {"Fn::GetAtt": [queue, "QueueName"]}},
            statistic="Maximum",
            period_s=60,
        )
        for queue in PARKING
    }
    waiting = {
        f"{queue}OldAlarm": Watched(
            f"Messages wait in {queue} for longer than {OLDEST_S} s",
            "AWS/SQS",
            "ApproximateAgeOfOldestMessage",
            {"QueueName": {"Fn::GetAtt": [queue, "QueueName"]}},
            statistic="Maximum",
            above=OLDEST_S,
            times=2,
        )
        for queue in QUEUES
    }
    return {**parked, **waiting}


def _of_services() -> dict[str, Watched]:
    throttled = {
        f"{table}ThrottledAlarm": Watched(
            f"DynamoDB throttles {table}",
            "AWS/DynamoDB",
            "ThrottledRequests",
            {"TableName": {"Ref": table}},
            times=2,
        )
        for table in TABLES
    }
    refused = "Lambda refuses to run {}: no concurrency is left"
    return {
        **throttled,
        **_of_functions("Throttled", "Throttles", refused),
        **_of_functions("Errors", "Errors", "{} ends with errors"),
    }


def _of_functions(name: str, metric: str, about: str) -> dict[str, Watched]:
    """Return an alarm for each function on one of Lambda's metrics; `about` has a place for it."""
    return {
        f"{function}{name}Alarm": Watched(
            about.format(function),
            "AWS/Lambda",
            metric,
            {"FunctionName": {"Ref": function}},
            times=2,
        )
        for function in names.FUNCTION_NAMES
    }


def _of_work() -> dict[str, Watched]:
    counted = {
        "MendedLossesAlarm": Watched(
            "The sweep mended what was lost", LINES, "MendedLosses-${Stage}", period_s=HOUR_S
        ),
        "IncidentsRaisedAlarm": Watched(
            "Instances are stuck and wait for an operator", LINES, "IncidentsRaised-${Stage}"
        ),
        "OldestJobAlarm": Watched(
            f"A job waits for a worker for longer than {JOB_WAITS_S} s",
            LINES,
            "OldestJob-${Stage}",
            statistic="Maximum",
            above=JOB_WAITS_S,
            period_s=HOUR_S,
        ),
    }
    faults = {
        "ServerErrorsAlarm": Watched(
            "Requests are answered with 5xx",
            "AWS/ApiGateway",
            "5XXError",
            {"ApiName": API_NAME, "Stage": names.API_STAGE},
            times=2,
        )
    }
    return {**counted, **faults}


WATCHED = {**_of_queues(), **_of_services(), **_of_work()}


def _alarm(name: str, watched: Watched) -> Json:
    properties: Json = {
        "AlarmDescription": f"{watched.about}: docs/runbook.md, {name}",
        "Namespace": watched.namespace,
        "MetricName": {"Fn::Sub": watched.metric} if "$" in watched.metric else watched.metric,
        "Statistic": watched.statistic,
        "Period": watched.period_s,
        "EvaluationPeriods": watched.times,
        "Threshold": watched.above,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
    }
    if watched.dimensions:
        properties["Dimensions"] = [
            {"Name": each, "Value": value} for each, value in watched.dimensions.items()
        ]
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def _filters() -> Json:
    return {
        f"{function}{metric}Filter": {
            "Type": "AWS::Logs::MetricFilter",
            "Properties": {
                "LogGroupName": {"Ref": f"{function}Logs"},
                "FilterPattern": pattern,
                "MetricTransformations": [
                    {
                        "MetricNamespace": LINES,
                        "MetricName": {"Fn::Sub": f"{metric}-${{Stage}}"},
                        "MetricValue": value,
                    }
                ],
            },
        }
        for metric, (functions, pattern, value) in FILTERS.items()
        for function in functions
    }


def dashboard() -> Json:
    """Return the dashboard: what is asked, what is open, what waits, what fails."""
    body = json.dumps(
        {"widgets": [_placed(number, each) for number, each in enumerate(_widgets())]}
    )
    return {
        "Dashboard": {
            "Type": "AWS::CloudWatch::Dashboard",
            "Properties": {
                "DashboardName": {"Fn::Sub": "headrace-${Stage}-${AWS::Region}"},
                "DashboardBody": {"Fn::Sub": body},
            },
        }
    }


def _widgets() -> list[tuple[str, list[Any]]]:
    """Return title and metrics of each; a search finds what has names of its own."""
    ours = f'{{Headrace,service}} service="{names.LIVE_TABLE}"'
    typed = f'{{Headrace,service,type}} service="{names.LIVE_TABLE}"'
    queues = f'{{AWS/SQS,QueueName}} QueueName="{names.QUEUE_PREFIX}"'
    functions = f'{{AWS/Lambda,FunctionName}} FunctionName="{names.QUEUE_PREFIX}"'
    tables = f'{{AWS/DynamoDB,TableName}} TableName="{names.LIVE_TABLE}"'
    return [
        ("Requests", [_found(f'{ours} MetricName="request_total"', "Sum")]),
        ("Open", [_found(f'{ours} MetricName=("processes_running" OR "jobs_waiting")', "Maximum")]),
        ("Jobs handed out", [_found(f'{typed} MetricName="jobs_distributed"', "Sum")]),
        (
            "Oldest bell of each type",
            [_found(f'{queues} MetricName="ApproximateAgeOfOldestMessage"', "Maximum")],
        ),
        ("Errors", [_found(f'{functions} MetricName=("Errors" OR "Throttles")', "Sum")]),
        ("Throttled tables", [_found(f'{tables} MetricName="ThrottledRequests"', "Sum")]),
        ("Mended losses", [[LINES, "MendedLosses-${Stage}", {"stat": "Sum"}]]),
        ("Oldest job that waits, in s", [[LINES, "OldestJob-${Stage}", {"stat": "Maximum"}]]),
        ("Incidents raised", [[LINES, "IncidentsRaised-${Stage}", {"stat": "Sum"}]]),
    ]


def _found(search: str, statistic: str) -> list[Json]:
    return [{"expression": f"SEARCH('{search}', '{statistic}', {MINUTES_S})"}]


def _placed(number: int, widget: tuple[str, list[Any]]) -> Json:
    title, metrics = widget
    return {
        "type": "metric",
        "x": number % 2 * 12,
        "y": number // 2 * 6,
        "width": 12,
        "height": 6,
        "properties": {"title": title, "metrics": metrics, "region": "${AWS::Region}"},
    }
