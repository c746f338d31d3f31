"""Whatever comes in by HTTP is answered in the contract's shape, and never with a 5xx."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app import app
from chalicelib import json_text
from chalicelib.ports import Ports
from tests.api.client import Answer, Client
from tests.api.driver import XML, activate, create, instance, job, model, one_task

FEW = hypothesis_settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
DOORS = (
    ("POST", "/v1/process-instances"),
    ("PATCH", "/v1/process-instances/{instance}/variables"),
    ("POST", "/v1/process-instances/{instance}/cancel"),
    ("POST", "/v1/jobs/{job}/complete"),
    ("POST", "/v1/jobs/{job}/fail"),
    ("POST", "/v1/jobs/{job}/claim"),
    ("POST", "/v1/jobs/activate"),
)
LISTS = (
    "/v1/process-definitions",
    "/v1/process-instances",
    "/v1/process-instances/{instance}/jobs",
    "/v1/process-instances/{instance}/history",
    "/v1/process-instances/{instance}/incidents",
    "/v1/jobs",
)
NAMES = (
    *("processDefinitionKey", "bpmnProcessId", "variables", "historyTimeToLive", "businessKey"),
    *("errorCode", "message", "retries", "retryBackoff", "deliveryToken", "clientId"),
    *("type", "maxJobs", "lockDuration", "waitFor", "bell"),
    *("page", "size", "sortBy", "sortOrder", "state", "createdFrom", "createdTo", "search"),
    *("processInstanceKey", "jobType", "assignee", "onlyLatest", "activityId"),
)
NUMBERS = (
    "0", "-0", "-1", "1", "1.0", "1.5", "1E400", "1E-400", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "NaN", "1e99999",
)  # fmt: skip
WORDS = (
    "",
    " ",
    "PT0S",
    "PT1S",
    "P1D",
    "1d8h",
    "\u0000",
    "größe",
    "😀",
    "\u202e",
    "=x",
    "asc",
    "me",
)

value = st.recursive(
    st.sampled_from(NUMBERS)
    | st.sampled_from(("null", "true", "false"))
    | st.sampled_from(WORDS).map(json_text.dumps)
    | st.text(max_size=8).map(json_text.dumps),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
        | st.dictionaries(st.text(max_size=4), inner, max_size=3).map(
            lambda members: (
                "{"
                + ",".join(f"{json_text.dumps(name)}:{text}" for name, text in members.items())
                + "}"
            )
        )
    ),
    max_leaves=6,
)
body = (
    st.dictionaries(st.sampled_from(NAMES), value, max_size=5).map(
        lambda members: "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"
    )
    | value
)


def is_in_shape(answer: Answer) -> bool:
    """Say whether an answer is a success, or an error as the contract words it."""
    if answer.status < 300:
        return True
    return (
        400 <= answer.status < 500
        and "application/json" == answer.headers["Content-Type"]
        and {"code", "message"} <= answer.json.keys()
        and all(isinstance(answer.json[name], str) for name in ("code", "message"))
    )


@pytest.mark.parametrize(("method", "path"), DOORS)
@FEW
@given(text=body)
def test_no_body_is_answered_with_a_fault(ports: Ports, method: str, path: str, text: str) -> None:
    client = Client(app)
    key = create(client, one_task(definition='retries="100"'))
    (work,) = activate(client)
    place = path.format(instance=key, job=work["key"])

    answer = client.request(method, place, text.encode("utf-8", "surrogatepass"))

    assert is_in_shape(answer), (text, answer)


@pytest.mark.parametrize("path", LISTS)
@FEW
@given(
    asked=st.dictionaries(
        st.sampled_from(NAMES),
        st.sampled_from((*NUMBERS, *WORDS)) | st.text(max_size=8),
        max_size=3,
    )
)
def test_no_question_is_answered_with_a_fault(
    ports: Ports, path: str, asked: dict[str, str]
) -> None:
    from urllib.parse import urlencode  # noqa: PLC0415

    client = Client(app)
    key = create(client, one_task())

    answer = client.get(f"{path.format(instance=key)}?{urlencode(asked)}")

    assert is_in_shape(answer), (asked, answer)


@FEW
@given(
    key=st.text(
        alphabet=st.characters(codec="utf-8", exclude_characters="/?#"), min_size=1, max_size=25
    )
)
def test_no_key_is_answered_with_a_fault(ports: Ports, key: str) -> None:
    from urllib.parse import quote  # noqa: PLC0415

    client = Client(app)
    for path in ("/v1/jobs/", "/v1/process-instances/", "/v1/process-definitions/"):
        answer = client.get(path + quote(key))
        assert answer.status in (400, 404) and is_in_shape(answer), (key, answer)


@FEW
@given(raw=st.binary(max_size=200))
def test_no_bytes_are_answered_with_a_fault(ports: Ports, raw: bytes) -> None:
    client = Client(app)

    for path, media_type in (
        ("/v1/process-definitions", "application/octet-stream"),
        ("/v1/process-definitions", "multipart/form-data; boundary=x"),
        ("/v1/jobs/activate", "application/json"),
        ("/v1/jobs/activate", "application/json; charset=utf-16"),
    ):
        answer = client.request("POST", path, raw, {"content-type": media_type})
        assert is_in_shape(answer) and answer.status >= 400, (raw, answer)


# --- what the issue names ----------------------------------------------------------------------


def nested(depth: int) -> bytes:
    return b'{"variables":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (nested(2_000), 400),
        (nested(400), 201),
        (b'{"variables":{"a":"\\ud800"}}', 400),
        (b'{"variables":{"\\udc00":1}}', 400),
        (b'{"variables":{"a":"' + b"x" * 500_000 + b'"}}', 413),
        (b'{"variables":{"a":1e400}}', 201),
        (b'{"variables":{"a":1e40000}}', 400),
        (b'{"variables":{"a":NaN}}', 400),
        (b'{"variables":{"a":Infinity}}', 400),
        (b'{"variables":{"a":' + b"1" * 34 + b"}}", 201),
        (b'{"variables":{"a":' + b"1" * 35 + b"}}", 400),
        (b'{"variables":{"a":1},"variables":{"b":2}}', 201),
        (b'{"variables":null}', 201),
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'{"variables":"{}"}', 400),
        (b" " * 10_485_759 + b"{}", 413),
    ],
)
def test_a_completion_is_taken_exactly_or_refused(client: Client, body: bytes, status: int) -> None:
    create(client, model("one_task"))
    (work,) = activate(client, "charge")

    answer = client.post(f"/v1/jobs/{work['key']}/complete", body)

    assert status == answer.status
    if status == 201:
        sent: Any = json_text.loads(body)
        assert (sent["variables"] or {}) == job(client, work["key"])["outputVariables"]
    else:
        assert "active" == job(client, work["key"])["state"]
        assert 201 == client.post(f"/v1/jobs/{work['key']}/complete", {}).status


def test_the_largest_body_that_is_taken_is_read(client: Client) -> None:
    assert 400 == client.post("/v1/process-instances", b" " * 10_485_758 + b"{}").status


def test_names_of_any_characters_come_back_as_they_were(client: Client) -> None:
    strange = {"a.b": 1, "": 2, "\u0000": 3, "größe 😀": 4, "\u202e\u2028": 5, "'\"\\/": 6}
    process = one_task("pröcess-ö", type_="zahlung:größe 😀 / ?#&amp;amp;")

    key = create(client, process, strange)

    assert strange == instance(client, key)["variables"]
    (work,) = activate(client, "zahlung:größe 😀 / ?#&amp;")
    assert strange == work["variables"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_model_in_any_encoding_deploys(client: Client, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + one_task("größe").decode()

    answer = client.request("POST", "/v1/process-definitions", text.encode(encoding), XML)

    assert 201 == answer.status, answer.text
    shown = client.get(f"/v1/process-definitions/{answer.json['processDefinitionKey']}").json
    assert ("größe", text) == (shown["bpmnProcessId"], shown["bpmnData"])
