"""The second front door: an HTTP API in place of the REST API, at about a third of its price.

It hands every request to the same functions, in payload format 1.0, which is that of REST APIs
but for the names of routes (`api/gateway.py`). All goes by one route, `$default`, but what hands
jobs out and what a browser asks beforehand. It has no answers of its own to be worded: what it
refuses itself is `{"message": ...}` with 403, 413, 429, or 503 where no function takes a request.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from chalicelib.access import Access
from infra import hand_out, names

Json = dict[str, Any]

STAGE = "$default"  # whose name is no part of the address
PAYLOAD = "1.0"
TIMEOUT_MS = 30_000  # of an integration, the longest there is (API Gateway quota)
# What an account may send by default (API Gateway quota); an operator may set less here.
RATE_PER_S, BURST = 10_000, 5_000
LOG_DAYS = 30
LOGGED = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "error": "$context.integrationErrorMessage",
}
PREFLIGHT = "OPTIONS /{proxy+}"  # which nobody signs
OUTPUT = "HttpAPIId"


class FrontDoor(StrEnum):
    """What takes the requests of callers, as `headrace deploy --front-door` names it."""

    REST_API = "rest-api"
    HTTP_API = "http-api"


def with_http_api(whole: Json, access: Access) -> Json:
    """Return the whole template with an HTTP API in the place of its REST API.

    Shapes: with `access` IAM the gateway demands a signature of every caller but a preflight.
    """
    changed = copy.deepcopy(whole)
    resources = changed["Resources"]
    del resources["RestAPI"], changed["Outputs"]["RestAPIId"]
    for function in (names.API, names.HAND_OUT):
        resources[f"{function}InvokePermission"]["Properties"]["SourceArn"] = _source()
        resources[f"{function}Integration"] = _integration(function)
    resources |= _api() | _routes(access)
    _watch(resources["ServerErrorsAlarm"]["Properties"])
    address = "https://${HttpAPI}.execute-api.${AWS::Region}.${AWS::URLSuffix}/"
    changed["Outputs"]["EndpointURL"] = {"Value": {"Fn::Sub": address}}
    changed["Outputs"][OUTPUT] = {"Value": {"Ref": "HttpAPI"}}
    return changed


def door_of(outputs: Mapping[str, str]) -> FrontDoor:
    """Return what a deployed stage has, by the outputs of its stack."""
    return FrontDoor.HTTP_API if OUTPUT in outputs else FrontDoor.REST_API


def _api() -> Json:
    """The API, without CORS of its own: the functions answer it, by a setting, for both doors."""
    settings = {"ThrottlingRateLimit": RATE_PER_S, "ThrottlingBurstLimit": BURST}
    fields = ", ".join(f'"{name}": "{value}"' for name, value in LOGGED.items())
    return {
        "HttpAPI": {
            "Type": "AWS::ApiGatewayV2::Api",
            "Properties": {"Name": {"Fn::Sub": "headrace-${Stage}"}, "ProtocolType": "HTTP"},
        },
        "HttpAPIStage": {
            "Type": "AWS::ApiGatewayV2::Stage",
            "Properties": {
                "ApiId": {"Ref": "HttpAPI"},
                "StageName": STAGE,
                "AutoDeploy": True,
                "DefaultRouteSettings": settings,
                "AccessLogSettings": {
                    "DestinationArn": {"Fn::GetAtt": ["HttpAPILogs", "Arn"]},
                    "Format": f"{{{fields}}}",
                },
            },
        },
        "HttpAPILogs": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Delete",
            "UpdateReplacePolicy": "Delete",
            "Properties": {
                "LogGroupName": {"Fn::Sub": "/aws/vendedlogs/headrace-${Stage}-http-api"},
                "RetentionInDays": LOG_DAYS,
            },
        },
    }


def _integration(function: str) -> Json:
    return {
        "Type": "AWS::ApiGatewayV2::Integration",
        "Properties": {
            "ApiId": {"Ref": "HttpAPI"},
            "IntegrationType": "AWS_PROXY",
            "IntegrationUri": {"Fn::GetAtt": [function, "Arn"]},
            "PayloadFormatVersion": PAYLOAD,
            "TimeoutInMillis": TIMEOUT_MS,
        },
    }


def _routes(access: Access) -> Json:
    judged = "AWS_IAM" if access is Access.IAM else "NONE"
    made = {
        f"HandOutRoute{number}": _route(f"{method.upper()} {path}", names.HAND_OUT, judged)
        for number, (method, path) in enumerate(hand_out.ROUTES, start=1)
    }
    return {
        **made,
        "PreflightRoute": _route(PREFLIGHT, names.API, "NONE"),
        "DefaultRoute": _route("$default", names.API, judged),
    }


def _route(key: str, function: str, judged: str) -> Json:
    return {
        "Type": "AWS::ApiGatewayV2::Route",
        "Properties": {
            "ApiId": {"Ref": "HttpAPI"},
            "RouteKey": key,
            "AuthorizationType": judged,
            "Target": {"Fn::Sub": f"integrations/${{{function}Integration}}"},
        },
    }


def _source() -> Json:
    prefix = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:"
    return {"Fn::Sub": prefix + "${HttpAPI}/*"}


def _watch(alarm: Json) -> None:
    """Let the alarm on 5xx look at the API that there is."""
    alarm["MetricName"] = "5xx"
    alarm["Dimensions"] = [{"Name": "ApiId", "Value": {"Ref": "HttpAPI"}}]
