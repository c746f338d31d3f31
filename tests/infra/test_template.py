"""The template: accepted by CloudFormation's linter, as narrow as it can be, and ours alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cfnlint.api  # type: ignore[import-untyped]
import pytest

from chalicelib import settings
from chalicelib.ports import HISTORY, LIVE
from chalicelib.store import table
from infra import hand_out, names, package, policies
from infra.template import extension, signed

Json = dict[str, Any]


@pytest.fixture(scope="module")
def template() -> Json:
    return package.build_template()


def of_type(template: Json, kind: str) -> Iterator[tuple[str, Json]]:
    return (
        (name, resource)
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    )


@pytest.mark.filterwarnings("ignore")  # the linter's own
def test_cfn_lint_accepts_it(template: Json) -> None:
    found = cfnlint.api.lint_all(json.dumps(template))

    told = [f"{match.rule.id}: {match.message}" for match in found]
    assert [] == [each for each in told if not each.startswith("I")]  # the command shows none


@pytest.mark.filterwarnings("ignore")  # the linter's own
def test_an_api_whose_callers_sign_demands_it_of_every_method_but_preflights(
    template: Json,
) -> None:
    made = signed(template)
    paths = made["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]

    bare = {
        method
        for methods in paths.values()
        for method, each in methods.items()
        if "security" not in each
    }
    assert {"options"} == bare
    found = cfnlint.api.lint_all(json.dumps(made))
    assert [] == [match.message for match in found if not match.rule.id.startswith("I")]
    assert "sigv4" not in json.dumps(template)


def test_callers_need_a_key_unless_the_parameter_says_otherwise(template: Json) -> None:
    assert "keys" == template["Parameters"]["Access"]["Default"]
    for _, function in of_type(template, "AWS::Serverless::Function"):
        variables = function["Properties"]["Environment"]["Variables"]
        assert {"Ref": "Access"} == variables[settings.ACCESS]


def test_jobs_are_handed_out_by_a_capped_function_of_the_same_code(template: Json) -> None:
    api, made = (template["Resources"][name] for name in (names.API, names.HAND_OUT))
    own = {"FunctionName", "Role", "ReservedConcurrentExecutions", "Environment"}

    assert own == {
        key for key in made["Properties"] if made["Properties"][key] != api["Properties"].get(key)
    }
    variables, of_api = (each["Properties"]["Environment"]["Variables"] for each in (made, api))
    assert {"HEADRACE_ONLY_HAND_OUT": "true", **of_api} == variables
    assert {"Ref": "PollersMax"} in made["Properties"]["ReservedConcurrentExecutions"]["Fn::If"]
    assert 100 == template["Parameters"]["PollersMax"]["Default"]


def test_its_routes_and_no_others_are_integrated_with_it_which_the_gateway_may_call(
    template: Json,
) -> None:
    paths = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]

    integrated = {
        (method, path)
        for path, methods in paths.items()
        for method, each in methods.items()
        if "${HandOut.Arn}" in each["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
    }

    assert set(hand_out.ROUTES) == integrated
    permission = template["Resources"]["HandOutInvokePermission"]["Properties"]
    assert {"Ref": "HandOut"} == permission["FunctionName"]
    assert "apigateway.amazonaws.com" == permission["Principal"]


def test_a_caller_whom_no_function_takes_is_told_to_come_again(template: Json) -> None:
    answers = template["Resources"]["RestAPI"]["Properties"]["GatewayResponses"]
    failure = answers["INTEGRATION_FAILURE"]

    assert 503 == failure["StatusCode"]
    for response in ("INTEGRATION_FAILURE", "THROTTLED"):
        assert "'1'" == answers[response]["ResponseParameters"]["Headers"]["Retry-After"]


@pytest.mark.parametrize(
    ("origins", "shared"),
    [
        (("*",), {"Access-Control-Allow-Origin": "'*'"}),
        (
            ("https://ops.example",),
            {
                "Access-Control-Allow-Origin": "'https://ops.example'",
                "Access-Control-Allow-Credentials": "'true'",
                "Vary": "'Origin'",
            },
        ),
        (("https://a.example", "https://b.example"), {}),
    ],
)
def test_the_gateways_own_answers_are_shared_with_the_origin_that_is_named(
    origins: tuple[str, ...], shared: dict[str, str]
) -> None:
    made = extension(origins=origins)["Resources"]["RestAPI"]["Properties"]["GatewayResponses"]

    assert shared == made["DEFAULT_4XX"]["ResponseParameters"]["Headers"]


def test_handing_out_may_change_jobs_but_neither_remove_nor_move_anything() -> None:
    actions = {a for each in policies.statements(names.HAND_OUT) for a in each["Action"]}

    assert {"dynamodb:DeleteItem", "dynamodb:ConditionCheckItem", "dynamodb:Scan"}.isdisjoint(
        actions
    )
    queues = {
        resource["Fn::Sub"].rpartition(":")[2]
        for each in policies.statements(names.HAND_OUT)
        for resource in each["Resource"]
        if any(action.startswith("sqs:") for action in each["Action"]) and resource != "*"
    }
    assert {names.JOB_QUEUES} == queues


def test_it_is_plain_json(template: Json) -> None:
    assert template == json.loads(json.dumps(template))


def test_every_function_is_named_after_its_stage(template: Json) -> None:
    functions = dict(of_type(template, "AWS::Serverless::Function"))

    assert functions.keys() == names.FUNCTION_NAMES.keys()
    for name, function in functions.items():
        assert {"Fn::Sub": names.FUNCTION_NAMES[name]} == function["Properties"]["FunctionName"]


def test_every_function_has_a_role_and_a_log_group_of_its_own(template: Json) -> None:
    functions = dict(of_type(template, "AWS::Serverless::Function"))

    roles = [function["Properties"]["Role"]["Fn::GetAtt"][0] for function in functions.values()]

    assert len(functions) == len(set(roles))
    for name, role in zip(functions, roles, strict=True):
        assert "AWS::IAM::Role" == template["Resources"][role]["Type"]
        assert [f"{name}Logs"] == functions[name]["DependsOn"]


def test_functions_that_send_may_be_part_of_a_loop(template: Json) -> None:
    for name, function in of_type(template, "AWS::Serverless::Function"):
        actions = {action for each in policies.statements(name) for action in each["Action"]}
        sends = "sqs:SendMessage" in actions

        assert ("Allow" if sends else None) == function["Properties"].get("RecursiveLoop"), name


def test_every_function_ends_after_half_a_minute_but_the_one_that_runs_jobs(
    template: Json,
) -> None:
    for name, function in of_type(template, "AWS::Serverless::Function"):
        assert (900 if name == names.RUNS else 30) == function["Properties"]["Timeout"]


@pytest.mark.parametrize(
    ("function", "queue"),
    [
        ("OnTimers", "TimersQueue"),
        ("OnCommands", "CommandsQueue"),
        ("OnRuns", "RunsQueue"),
        ("OnRouting", "RoutingQueue"),
    ],
)
def test_a_queues_mapping_reports_each_failure_and_is_capped(
    template: Json, function: str, queue: str
) -> None:
    events = template["Resources"][function]["Properties"]["Events"]

    (event,) = events.values()
    assert "SQS" == event["Type"]
    assert {"Fn::Sub": f"${{{queue}.Arn}}"} == event["Properties"]["Queue"]
    assert ["ReportBatchItemFailures"] == event["Properties"]["FunctionResponseTypes"]
    assert 2 <= event["Properties"]["ScalingConfig"]["MaximumConcurrency"] <= 1_000


@pytest.mark.parametrize("function", ["OnRuns", "OnRouting"])
def test_what_calls_a_url_shares_its_function_with_no_other(template: Json, function: str) -> None:
    (event,) = template["Resources"][function]["Properties"]["Events"].values()

    assert 1 == event["Properties"]["BatchSize"]


@pytest.mark.parametrize(
    ("queue", "runs_s"),
    [("TimersQueue", 30), ("CommandsQueue", 30), ("RunsQueue", 900), ("RoutingQueue", 30)],
)
def test_a_message_stays_hidden_longer_than_its_function_runs(
    template: Json, queue: str, runs_s: int
) -> None:
    assert template["Resources"][queue]["Properties"]["VisibilityTimeout"] > runs_s


@pytest.mark.parametrize("queue", ["TimersQueue", "CommandsQueue", "RunsQueue", "RoutingQueue"])
def test_what_faults_for_ever_is_parked_and_alarms(template: Json, queue: str) -> None:
    dead = queue.replace("Queue", "DeadQueue")

    redrive = template["Resources"][queue]["Properties"]["RedrivePolicy"]

    assert {"Fn::GetAtt": [dead, "Arn"]} == redrive["deadLetterTargetArn"]
    (watched,) = template["Resources"][f"{dead}Alarm"]["Properties"]["Dimensions"]
    assert {"Fn::GetAtt": [dead, "QueueName"]} == watched["Value"]


def test_schedules_may_send_to_all_queues_of_the_stage_that_take_messages_for_later() -> None:
    (statement,) = policies.schedule_statements()

    queues = [each["Fn::Sub"].rpartition(":")[2] for each in statement["Resource"]]
    taking = [names.JOB_QUEUES, names.TIMERS_QUEUE, names.RUNS_QUEUE, names.ROUTING_QUEUE]
    assert taking == queues


def test_the_sweep_runs_every_hour(template: Json) -> None:
    (event,) = template["Resources"]["Sweep"]["Properties"]["Events"].values()

    assert "rate(1 hour)" == event["Properties"]["Schedule"]


@pytest.mark.parametrize(
    ("resource", "schema"),
    [("LiveTable", table.TABLES[LIVE]), ("HistoryTable", table.TABLES[HISTORY])],
)
def test_the_tables_are_those_of_the_store(
    template: Json, resource: str, schema: table.Schema
) -> None:
    properties = template["Resources"][resource]["Properties"]

    indexes = properties.get("GlobalSecondaryIndexes", [])
    assert list(schema.attributes) == [
        each["AttributeName"] for each in properties["AttributeDefinitions"]
    ]
    assert [schema.pk, schema.sk] == [each["AttributeName"] for each in properties["KeySchema"]]
    assert [(index.name, index.pk, index.sk) for index in schema.indexes] == [
        (each["IndexName"], *(key["AttributeName"] for key in each["KeySchema"]))
        for each in indexes
    ]
    assert all({"ProjectionType": "KEYS_ONLY"} == each["Projection"] for each in indexes)
    assert schema.ttl == properties["TimeToLiveSpecification"]["AttributeName"]


@pytest.mark.parametrize("resource", ["LiveTable", "HistoryTable"])
def test_deleting_the_stack_deletes_no_data(template: Json, resource: str) -> None:
    assert "Retain" == template["Resources"][resource]["DeletionPolicy"]


# What AWS cannot narrow ("Actions, resources and condition keys", Service Authorization Reference).
UNNARROWED = (
    ["sqs:ListQueues"],
    ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
)


@pytest.mark.parametrize("function", names.FUNCTION_NAMES)
def test_no_right_reaches_beyond_the_stage(function: str) -> None:
    for statement in policies.statements(function):
        assert not any("*" in action for action in statement["Action"])
        if statement["Action"] not in UNNARROWED:
            for resource in statement["Resource"]:
                told = json.dumps(resource)
                assert "Stage" in told or "ScheduleRole" in told


def test_only_what_calls_urls_may_read_secrets_and_only_those_of_the_stage() -> None:
    readers = {
        function: resource["Fn::Sub"].rpartition(":")[2]
        for function in names.FUNCTION_NAMES
        for statement in policies.statements(function)
        for resource in statement["Resource"]
        if statement["Action"] == ["secretsmanager:GetSecretValue"]
    }

    assert dict.fromkeys((names.RUNS, names.ROUTING), "headrace/${Stage}/*") == readers


def test_no_function_may_mail_unless_an_operator_named_the_sender() -> None:
    for function in names.FUNCTION_NAMES:
        for statement in policies.statements(function):
            assert "ses:SendEmail" not in statement["Action"]


def test_no_function_may_delete_or_change_what_is_deployed() -> None:
    actions = {
        action
        for function in names.FUNCTION_NAMES
        for statement in policies.statements(function)
        for action in statement["Action"]
    }

    assert {
        "dynamodb:DeleteTable",
        "dynamodb:UpdateTable",
        "sqs:DeleteQueue",
        "sqs:PurgeQueue",
        "sqs:SetQueueAttributes",
        "scheduler:DeleteScheduleGroup",
    }.isdisjoint(actions)


def test_the_environment_names_what_the_template_makes(template: Json) -> None:
    variables = template["Resources"]["APIHandler"]["Properties"]["Environment"]["Variables"]
    made = {name: each["Properties"] for name, each in template["Resources"].items()}

    assert made["LiveTable"]["TableName"] == variables["HEADRACE_TABLE"]
    assert made["HistoryTable"]["TableName"] == variables["HEADRACE_HISTORY_TABLE"]
    assert made["ScheduleGroup"]["Name"] == variables["HEADRACE_SCHEDULE_GROUP"]
    role = made["ScheduleRole"]["RoleName"]["Fn::Sub"]
    assert variables["HEADRACE_SCHEDULE_ROLE_ARN"]["Fn::Sub"].endswith(f":role/{role}")


def test_the_laptop_resolves_names_as_cloudformation_would() -> None:
    account = "123456789012"

    environment = names.environment(stage="s", account=account, region="eu-west-1")

    assert {
        "HEADRACE_TABLE": "headrace-s",
        "HEADRACE_HISTORY_TABLE": "headrace-s-history",
        "HEADRACE_QUEUE_PREFIX": "headrace-s-",
        "HEADRACE_SCHEDULE_GROUP": "headrace-s",
        "HEADRACE_SCHEDULE_ROLE_ARN": f"arn:aws:iam::{account}:role/headrace-s-eu-west-1-schedules",
    } == environment


def test_the_api_is_of_one_region_and_one_stage() -> None:
    config = json.loads((Path(package.ROOT) / ".chalice" / "config.json").read_text())

    assert names.API_STAGE == config["api_gateway_stage"]
    assert "REGIONAL" == config["api_gateway_endpoint_type"]
