"""Headrace's own stack on the emulated AWS: the template of AWS, its functions in this process.

Here is also what the emulator's CloudFormation leaves out of what a template says.
"""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Any

from chalicelib.local.emulator import ACCOUNT, REGION
from chalicelib.wiring import FIRINGS, PLANNED
from infra import names, package
from infra.deploy import Deployer
from infra.hand_out import DEFAULT_POLLERS_MAX

if TYPE_CHECKING:
    import boto3

    from chalicelib.local.front import Front

STAGE = "local"
POLL_S = 0.02  # how often the emulator is asked whether the stack is up
PROXY = "MINISTACK_LAMBDA_PROXY_"  # + function name: where its invocations are sent


def build_template() -> dict[str, Any]:
    """Return the template, ready for an emulator that has no code of ours."""
    logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it warns of unpublished metrics
    return package.build_template()


def environment(stage: str = STAGE) -> dict[str, str]:
    """Return what tells our code where a stage's parts are, and how jobs are fired here."""
    named = names.environment(stage=stage, account=ACCOUNT, region=REGION)
    return {**named, FIRINGS: PLANNED}


def call_here(template: dict[str, Any], front: Front) -> None:
    """Have the emulator send the invocations of our functions to this process."""
    for function, name in names.FUNCTION_NAMES.items():
        deployed = names.resolve(name, stage=STAGE, account="", region="")
        handler = template["Resources"][function]["Properties"]["Handler"]
        os.environ[PROXY + deployed] = front.function_url(handler)


def deploy(template: dict[str, Any], session: boto3.session.Session) -> str:
    """Deploy onto the emulator; return the id of the REST API."""
    deployer = Deployer(session, poll_s=POLL_S)
    outputs = deployer.deploy_without_code(STAGE, template)
    if deployer.has_changed:
        _complete(template, session)
    return outputs["RestAPIId"]


def _complete(template: dict[str, Any], session: boto3.session.Session) -> None:
    """Do what the emulator's CloudFormation does not: expiry of items, settings of functions."""
    tables, functions = session.client("dynamodb"), session.client("lambda")
    for resource in json.loads(json.dumps(template))["Resources"].values():
        properties = resource["Properties"]
        if "TimeToLiveSpecification" in properties:
            name = names.resolve(
                properties["TableName"]["Fn::Sub"], stage=STAGE, account="", region=""
            )
            state = tables.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
            if state["TimeToLiveStatus"] == "DISABLED":
                tables.update_time_to_live(
                    TableName=name,
                    TimeToLiveSpecification=properties["TimeToLiveSpecification"],
                )
        elif properties.get("RecursiveLoop"):
            name = names.resolve(
                properties["FunctionName"]["Fn::Sub"], stage=STAGE, account="", region=""
            )
            functions.put_function_recursion_config(
                FunctionName=name, RecursiveLoop=properties["RecursiveLoop"]
            )
            if "ReservedConcurrentExecutions" in properties:
                functions.put_function_concurrency(
                    FunctionName=name, ReservedConcurrentExecutions=DEFAULT_POLLERS_MAX
                )
