"""The member `result` of a completion: read strictly, and refused where a job does not ask."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.api.job_results import RESULT, result_of
from chalicelib.api.schema import Mismatch
from chalicelib.engine.job_results import Activation, AdHocResult
from tests.api.client import Client
from tests.api.driver import activate, create, job, one_task

AD_HOC = {"type": "adHocSubProcess", "activateElements": [{"elementId": "a"}]}


def test_a_result_is_told_by_its_type() -> None:
    read = RESULT.read(
        {
            "type": "adHocSubProcess",
            "activateElements": [
                {"elementId": "a", "variables": {"x": "y"}},
                {"elementId": "b", "variables": None},
            ],
            "isCancelRemainingInstances": True,
        }
    )

    activate = (Activation("a", {"x": "y"}), Activation("b"))
    assert AdHocResult(activate, cancels_remaining=True) == result_of({"result": read})


def test_a_completion_without_a_result_has_none() -> None:
    assert (None, None) == (result_of({}), result_of({"result": None}))


@pytest.mark.parametrize(
    ("body", "message", "pointer"),
    [
        ("text", "value must be an object", ""),
        ({}, 'property "type" is missing', "/type"),
        ({"type": "other"}, "value is not one of the allowed values", "/type"),
        (
            {"type": "adHocSubProcess", "activateElements": [{}]},
            'property "elementId" is missing',
            "/activateElements/0/elementId",
        ),
        (
            {"type": "adHocSubProcess", "isCompletionConditionFulfilled": "yes"},
            "value must be a boolean",
            "/isCompletionConditionFulfilled",
        ),
    ],
)
def test_a_result_that_does_not_fit_is_refused_where_it_stands(
    body: Any, message: str, pointer: str
) -> None:
    with pytest.raises(Mismatch) as refused:
        RESULT.read(body)

    assert refused.value.message.startswith(message)
    assert pointer == refused.value.pointer


def test_a_result_is_refused_with_a_job_that_does_not_ask_for_it(client: Client) -> None:
    create(client, one_task())
    (work,) = activate(client)

    refused = client.post(f"/v1/jobs/{work['key']}/complete", {"result": AD_HOC})

    assert 400 == refused.status
    assert (
        f"result of job {work['key']}, which is of SERVICE_TASK task: expected none of type "
        "adHocSubProcess, found one"
    ) in str(refused.json)
    assert "active" == job(client, work["key"])["state"]
