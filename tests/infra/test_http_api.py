"""The second front door: an HTTP API over the same functions, in the place of the REST API."""

from __future__ import annotations

import json
from typing import Any

import cfnlint.api  # type: ignore[import-untyped]
import pytest

from chalicelib.access import Access
from infra import hand_out, http_api, names, package
from infra.http_api import FrontDoor

Json = dict[str, Any]


@pytest.fixture(scope="module")
def rest() -> Json:
    return package.build_template()


@pytest.fixture(scope="module")
def template(rest: Json) -> Json:
    return http_api.with_http_api(rest, Access.KEYS)


def routes(template: Json) -> dict[str, tuple[str, str]]:
    """Return of each route which integration it has, and who judges its callers."""
    return {
        each["Properties"]["RouteKey"]: (
            each["Properties"]["Target"]["Fn::Sub"],
            each["Properties"]["AuthorizationType"],
        )
        for each in template["Resources"].values()
        if each["Type"] == "AWS::ApiGatewayV2::Route"
    }


@pytest.mark.filterwarnings("ignore")  # the linter's own
@pytest.mark.parametrize("access", Access)
def test_cfn_lint_accepts_it(rest: Json, access: Access) -> None:
    made = json.dumps(http_api.with_http_api(rest, access))

    told = [f"{match.rule.id}: {match.message}" for match in cfnlint.api.lint_all(made)]
    assert [] == [each for each in told if not each.startswith("I")]


def test_nothing_of_the_rest_api_is_left(template: Json) -> None:
    assert "RestAPI" not in json.dumps(template)
    assert "AWS::Serverless::Api" not in json.dumps(template)


def test_all_goes_to_the_functions_in_the_payload_of_a_rest_api(template: Json) -> None:
    api, hands = "integrations/${APIHandlerIntegration}", "integrations/${HandOutIntegration}"
    handed = {f"{method.upper()} {path}": (hands, "NONE") for method, path in hand_out.ROUTES}
    resources = template["Resources"]

    assert {
        **handed,
        "$default": (api, "NONE"),
        "OPTIONS /{proxy+}": (api, "NONE"),
    } == routes(template)
    for function in (names.API, names.HAND_OUT):
        integration = resources[f"{function}Integration"]["Properties"]
        assert ("1.0", "AWS_PROXY") == (
            integration["PayloadFormatVersion"],
            integration["IntegrationType"],
        )
        assert {"Fn::GetAtt": [function, "Arn"]} == integration["IntegrationUri"]
        permission = resources[f"{function}InvokePermission"]["Properties"]
        assert permission["SourceArn"]["Fn::Sub"].endswith(":${HttpAPI}/*")


def test_callers_who_sign_are_judged_by_the_gateway_but_for_preflights(rest: Json) -> None:
    judged = {
        key: judge for key, (_, judge) in routes(http_api.with_http_api(rest, Access.IAM)).items()
    }

    assert "NONE" == judged.pop("OPTIONS /{proxy+}")
    assert {"AWS_IAM"} == set(judged.values())


def test_its_stage_has_no_name_in_the_address_is_throttled_and_logged(template: Json) -> None:
    stage = template["Resources"]["HttpAPIStage"]["Properties"]
    line = json.loads(stage["AccessLogSettings"]["Format"])

    assert ("$default", True) == (stage["StageName"], stage["AutoDeploy"])
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert {"status", "path", "latency_ms", "error"} <= line.keys()
    address = template["Outputs"]["EndpointURL"]["Value"]["Fn::Sub"]
    assert address.startswith("https://${HttpAPI}.execute-api.")


def test_it_leaves_cors_to_the_functions(template: Json) -> None:
    assert "CorsConfiguration" not in template["Resources"]["HttpAPI"]["Properties"]


def test_the_alarm_on_errors_looks_at_it(template: Json) -> None:
    alarm = template["Resources"]["ServerErrorsAlarm"]["Properties"]

    assert "5xx" == alarm["MetricName"]
    assert [{"Name": "ApiId", "Value": {"Ref": "HttpAPI"}}] == alarm["Dimensions"]


def test_which_door_a_stage_has_is_read_off_its_outputs() -> None:
    assert FrontDoor.HTTP_API is http_api.door_of({"HttpAPIId": "x"})
    assert FrontDoor.REST_API is http_api.door_of({"RestAPIId": "x"})


def test_the_template_with_the_rest_api_stays_as_it_is(rest: Json, template: Json) -> None:
    assert "RestAPI" in rest["Resources"] and "RestAPIId" in rest["Outputs"]
    assert "HttpAPI" not in rest["Resources"]
