"""Whatever comes in by HTTP is answered in this dialect's shape, and never with a 5xx."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import json_text
from chalicelib.api.scheduler.members import MEMBERS
from tests.api.client import Answer, Client
from tests.api.scheduler.driver import CALL, JOBS, create, get
from tests.api.test_bad_input import FEW, NUMBERS, WORDS, value

NAMES = (
    *MEMBERS,
    *("id", "done", "warnings", "cron", "timezone", "every_ms", "run_at", "watch", "threshold"),
    *("window_ms", "sinks", "target", "username", "password", "token", "header", "value"),
)
QUESTIONS = ("enabled", "type", "limit", "offset", "since", "failures_only", "pool_idx")

named = st.dictionaries(st.sampled_from(NAMES), value, max_size=5).map(
    lambda members: "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"
)


def is_in_shape(answer: Answer) -> bool:
    """Say whether an answer is a success, or an error as this dialect words it."""
    if answer.status < 300:
        return True
    return (
        400 <= answer.status < 500
        and "application/json" == answer.headers["Content-Type"]
        and {"error"} <= answer.json.keys() <= {"error", "field"}
        and all(isinstance(text, str) for text in answer.json.values())
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@FEW
@given(text=named | value)
def test_no_body_is_answered_with_a_fault(client: Client, method: str, text: str) -> None:
    path = JOBS if method == "POST" else f"{JOBS}/{create(client)['id']}"

    answer = client.request(method, path, text.encode("utf-8", "surrogatepass"))

    assert is_in_shape(answer), (text, answer)


@pytest.mark.parametrize("name", ["schedule", "auth", "alarm", "headers", "env", "args"])
@FEW
@given(text=named | value)
def test_no_member_is_answered_with_a_fault(client: Client, name: str, text: str) -> None:
    members = json_text.dumps(CALL)[1:-1]

    answer = client.post(JOBS, f'{{{members},"{name}":{text}}}'.encode("utf-8", "surrogatepass"))

    assert is_in_shape(answer), (text, answer)
    if answer.status == 201:
        assert answer.json == get(client, answer.json)
        assert 0 <= len(get(client, answer.json, "/firings")["items"]) <= 5


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", ""),
        ("GET", "/{job}/invocations"),
        ("GET", "/{job}/invocations/count"),
        ("POST", "/{job}/unlock"),
    ],
)
@FEW
@given(
    asked=st.dictionaries(
        st.sampled_from(QUESTIONS),
        st.sampled_from((*NUMBERS, *WORDS)) | st.text(max_size=8),
        max_size=3,
    )
)
def test_no_question_is_answered_with_a_fault(
    client: Client, method: str, rest: str, asked: dict[str, Any]
) -> None:
    path = rest.format(job=create(client)["id"])

    answer = client.request(method, f"{JOBS}{path}?{urlencode(asked)}")

    assert is_in_shape(answer), (asked, answer)


IDS = st.characters(exclude_characters="/?#", exclude_categories=["Cs"])


@FEW
@given(key=st.text(alphabet=IDS, min_size=1, max_size=25))
def test_no_id_is_answered_with_a_fault(client: Client, key: str) -> None:
    for rest in ("", "/firings", "/invocations"):
        answer = client.get(f"{JOBS}/{quote(key)}{rest}")
        assert 404 == answer.status and is_in_shape(answer), (key, answer)


@FEW
@given(raw=st.binary(max_size=200))
def test_no_bytes_are_answered_with_a_fault(client: Client, raw: bytes) -> None:
    answer = client.request("POST", JOBS, raw, {"content-type": "application/json; charset=x"})

    assert is_in_shape(answer) and answer.status >= 400, (raw, answer)
