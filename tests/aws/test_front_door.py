"""A stage behind an HTTP API, then a REST API, on an emulated AWS that enforces IAM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chalicelib.access import Access
from chalicelib.local.client import Client, Refused
from chalicelib.local.deploying import emulated_path
from infra import http_api, names, package
from infra.deploy import Choices, Deployer
from tests.api.driver import one_task
from tests.aws.conftest import POLL_S, EmulatedSession, in_the_default_group, with_batch_rights

pytestmark = pytest.mark.aws

STAGE = "door"


def worked(client: Client) -> str:
    """Bring an instance with one job from its start to its end; return its state."""
    instance = int(client.create_instance(client.deploy(one_task()), {})["key"])
    (job,) = client.activate("work", "w", 1, "PT20S")
    client.complete(int(job["key"]), {})
    return str(client.instance(instance)["state"])


def test_a_stage_is_served_by_an_http_api_and_then_by_a_rest_api(endpoint: str, code: Path) -> None:
    deployer = Deployer(EmulatedSession(endpoint), poll_s=POLL_S)
    rest: dict[str, Any] = in_the_default_group(with_batch_rights(package.build_template()))
    choices = Choices(Access.OPEN)

    def deployed(template: dict[str, Any]) -> tuple[Client, dict[str, str]]:
        prepared = deployer.prepare(STAGE, template, code, choices)
        assert prepared is not None
        planned = {change.resource: change.verb for change in deployer.changes(prepared)}
        deployer.carry_out(prepared)
        return Client(endpoint + emulated_path(deployer.outputs(STAGE))), planned

    client, _ = deployed(http_api.with_http_api(rest, Access.OPEN))
    assert http_api.FrontDoor.HTTP_API is deployer.front_door(STAGE)
    assert "completed" == worked(client)
    assert {"UP"} == {client.get("/system/health/ready")["status"]}
    with pytest.raises(Refused, match="no matching operation was found"):
        client.get("/v1/nothing")
    logs = deployer._session.client("logs")
    name = names.resolve(names.FUNCTION_NAMES[names.HAND_OUT], stage=STAGE, account="", region="")
    assert logs.filter_log_events(logGroupName=f"/aws/lambda/{name}")["events"]

    client, planned = deployed(rest)
    assert ("remove", "make") == (planned["HttpAPI"], planned["RestAPI"])
    assert http_api.FrontDoor.REST_API is deployer.front_door(STAGE)
    assert "completed" == worked(client)
