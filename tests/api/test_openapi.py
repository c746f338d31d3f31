"""The OpenAPI documents are valid, whole, and say of each shape what reading it enforces."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest

from chalicelib import json_text
from chalicelib.api import openapi
from chalicelib.api.openapi import document
from chalicelib.api.operation import About, Operation
from chalicelib.api.schema import Field, Mismatch, Object, Period, Text, Type, Whole
from chalicelib.api.zenbpm import job_shapes, shapes
from tests.api.client import Client
from tests.api.published import DOCUMENTS

META = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture(params=DOCUMENTS)
def served(request: pytest.FixtureRequest, client: Client) -> Any:
    """Return the document of each dialect in turn."""
    return fetched(client, request.param)


@pytest.fixture
def zenbpm(client: Client) -> Any:
    return fetched(client, "/v1")


def fetched(client: Client, prefix: str) -> Any:
    answer = client.get(f"{prefix}/openapi.json")
    assert (200, "application/json") == (answer.status, answer.headers["Content-Type"])
    return json.loads(answer.text)


def test_it_is_served_and_names_every_operation_once(served: Any) -> None:
    ids = [each["operationId"] for path in served["paths"].values() for each in path.values()]

    assert "3.1.1" == served["openapi"]
    assert len(ids) == len(set(ids)) >= 14
    assert "getOpenApi" in ids


def test_every_reference_leads_to_a_schema_and_every_schema_is_valid(served: Any) -> None:
    schemas = served["components"]["schemas"]
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(served)))

    assert references == schemas.keys()
    for schema in schemas.values():
        jsonschema_rs.meta.validate({"$schema": META, **schema})


def test_parameters_of_paths_are_those_of_the_path(served: Any) -> None:
    for path, methods in served["paths"].items():
        for operation in methods.values():
            named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert set(re.findall(r"{(\w+)}", path)) == named


def test_every_operation_tells_its_errors_by_the_one_shape(served: Any) -> None:
    for methods in served["paths"].values():
        for operation in methods.values():
            assert {"500", "503"} <= operation["responses"].keys()
            assert {"Retry-After"} == operation["responses"]["503"]["headers"].keys()
            for status, answer in operation["responses"].items():
                if status >= "400":
                    schema = answer["content"]["application/json"]["schema"]
                    assert {"$ref": "#/components/schemas/Error"} == schema


def test_a_shape_of_ours_refuses_unknown_members_and_one_of_the_dialect_does_not(
    zenbpm: Any,
) -> None:
    schemas = zenbpm["components"]["schemas"]

    assert schemas["ActivateJobs"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["FailJob"]


# --- what a schema says is what reading enforces -----------------------------------------------

BODIES: list[Any] = [
    {},
    {"retries": 0},
    {"retries": -1},
    {"retries": 1.5},
    {"retries": 2**31},
    {"retries": None},
    {"retries": "1"},
    {"retryBackoff": "PT1M30S"},
    {"retryBackoff": "P1W2DT3H4M5S"},
    {"retryBackoff": " PT1S "},
    {"retryBackoff": "PT"},
    {"retryBackoff": "P"},
    {"retryBackoff": "P1DT"},
    {"retryBackoff": "P1Y"},
    {"retryBackoff": "PT1.5S"},
    {"retryBackoff": "-PT1S"},
    {"retryBackoff": "10 seconds"},
    {"deliveryToken": 0},
    {"deliveryToken": 2**63 - 1},
    {"variables": None},
    {"variables": {"a": [1]}},
    {"result": None},
    {"result": {"type": "adHocSubProcess", "activateElements": [{"elementId": "a"}]}},
    {"result": {"type": "adHocSubProcess", "activateElements": [{"elementId": ""}]}},
    {"result": {"activateElements": []}},
    {"result": {"type": "other"}},
    {"variables": [1]},
    {"clientId": ""},
    {"clientId": "x" * 201},
    {"type": "work"},
    {"type": "", "maxJobs": 1},
    {"type": "work", "maxJobs": 101},
    {"type": "work", "waitFor": "PT20S", "requestId": "r"},
    {"type": "work", "unknown": 1},
    {"clientId": "a", "lockDuration": "PT5M"},
    {"retries": 3, "retryAt": "2026-01-02T03:04:05Z"},
    {"retries": 3, "retryAt": "tomorrow"},
    [],
    "text",
    None,
]
READ = (
    shapes.FAIL_JOB,
    shapes.ACTIVATE_JOBS,
    shapes.CLAIM_JOB,
    shapes.COMPLETE_JOB,
    shapes.SET_VARIABLES,
    job_shapes.EXTEND_LOCK,
    job_shapes.SET_RETRIES,
)


@pytest.mark.parametrize("shape", READ, ids=lambda shape: shape.name)
def test_a_body_is_refused_by_reading_if_and_only_if_by_the_schema(
    zenbpm: Any, shape: Object
) -> None:
    valid = validator(zenbpm, shape)
    for body in BODIES:
        assert valid.is_valid(body) == reads(shape, body), body


def validator(document: Any, shape: Object) -> Any:
    """Return what tells whether a document lets a body pass."""
    reference = f"#/components/schemas/{shape.name}"
    schema = {"$ref": reference, "components": document["components"]}
    return jsonschema_rs.validator_for(schema, validate_formats=True)


def reads(shape: Object, body: Any) -> bool:
    """Say whether a shape lets a body pass."""
    try:
        shape.read(json_text.loads(json.dumps(body)))
    except Mismatch:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    ["PT0S", "P1D", "P3W", "PT1H", "P1DT1S", " P1D ", "", "P", "PT", "P1M", "PT1", "1D", "P1D1W"],
)
def test_the_pattern_of_a_period_is_the_grammar_of_r114(text: str) -> None:
    fits = re.search(openapi.PERIOD, text) is not None
    try:
        Period().read(text)
    except Mismatch:
        assert not fits
    else:
        assert fits


def routes_of(*operations: Operation) -> openapi.Routes:
    """Make routes as Chalice keeps them."""

    class Entry:
        def __init__(self, operation: Operation) -> None:
            self.view_function = operation(lambda: None)

    return {f"/v1/{each.id}": {"GET": Entry(each)} for each in operations}


def about() -> About:
    return About("t", "1", "d", "/v1", Object("Error", {"code": Field(Text())}))


def test_two_shapes_of_one_name_are_our_own_mistake() -> None:
    kinds: list[Type] = [Object("Same", {"a": Field(kind)}) for kind in (Text(), Whole())]
    one, two = (Operation(f"get{n}", answers={200: kind}) for n, kind in enumerate(kinds))

    with pytest.raises(ValueError, match="expected one shape called Same, found two"):
        document(routes_of(one, two), about())


def test_what_is_outside_the_prefix_is_not_in_it() -> None:
    routes = {"/system/status": routes_of(Operation("a", answers={200: None}))["/v1/a"]}

    assert {} == document(routes, about())["paths"]
