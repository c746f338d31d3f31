"""Requests are read strictly, answers and errors worded by the dialect, faults told to nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from chalice.app import Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.gateway import Gateway
from chalicelib.api.schema import Anything, Choice, Field, Flag, Object, Text, Type, Whole
from chalicelib.api.unserved import serve_the_rest
from chalicelib.api.zenbpm import errors
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.ports import Ports
from tests.api.client import Answer, Client

BODY = Object("Body", {"variables": Field(Anything(), nullable=True), "name": Field(Text())})
QUERY: dict[str, Type] = {
    "page": Whole(1, 2**31 - 1),
    "order": Choice(("asc", "desc")),
    "all": Flag(),
}


def serving(view: Callable[[Gateway], Response]) -> Client:
    """Return a client of an app whose one route, POST or GET /thing/{key}, is the view."""
    app = Gateway("test")

    @app.route("/thing/{key}", methods=["GET", "POST"], content_types=[])
    @http.errors_as(errors.error)
    def thing(key: str) -> Response:
        return view(app)

    serve_the_rest(app, {"": errors.error})
    return Client(app)


def sent(body: bytes | None, **headers: str) -> Answer:
    def view(app: Gateway) -> Response:
        assert app.current_request is not None
        return http.answer(200, http.json_body(app.current_request, BODY))

    return serving(view).request("POST", "/thing/1", body, headers)


def asked(query: str) -> Answer:
    def view(app: Gateway) -> Response:
        assert app.current_request is not None
        return http.answer(200, http.query(app.current_request, QUERY))

    return serving(view).get(f"/thing/1{query}")


def raised(error: Exception) -> Answer:
    def view(app: Gateway) -> Response:
        raise error

    return serving(view).get("/thing/1")


def test_a_body_is_read_with_every_digit(ports: Ports) -> None:
    answer = sent(b'{"variables":{"a":0.10,"b":12345678901234567890123456789.01},"more":1}')

    assert 200 == answer.status
    assert '{"variables":{"a":0.10,"b":12345678901234567890123456789.01}}' == answer.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "value is required but missing"),
        (b"", "value is required but missing"),
        (b" \n", "value is required but missing"),
        (b"{", "failed to decode request body"),
        (b"{'name':1}", "failed to decode request body"),
        (b'{"name":"\xff"}', "expected UTF-8, found byte 0xff"),
        (b'{"name":"\\ud800"}', "found a lone surrogate"),
        (b'{"name":"\xed\xa0\x80"}', "expected UTF-8"),
        (b'{"variables":{"a":NaN}}', "expected a JSON number, found NaN"),
        (b'{"variables":{"a":1e400000}}', "exponent of at most 6144"),
        (b'{"variables":{"a":' + b"1" * 35 + b"}}", "at most 34 digits, found 35"),
        (b'{"variables":' + b'{"a":' * 2_000 + b"1" + b"}" * 2_001, "nested deeper than 500"),
        (b"null", "doesn't match schema: value must be an object"),
        (b"[]", "doesn't match schema: value must be an object"),
        (b'"text"', "doesn't match schema: value must be an object"),
        (b'{"name":1}', 'doesn\'t match schema: Error at "/name": value must be a string'),
        (b'{"variables":"x"}', 'Error at "/variables": value must be an object'),
    ],
)
def test_a_bad_body_is_400_and_says_what_was_expected(
    ports: Ports, body: bytes | None, words: str
) -> None:
    answer = sent(body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert answer.json["message"].startswith("request body has an error: ")
    assert words in answer.json["message"]


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", ""]
)
def test_json_is_taken_by_its_name_or_without_one(ports: Ports, media_type: str) -> None:
    assert 200 == sent(b"{}", **{"content-type": media_type}).status


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "json"])
def test_another_media_type_is_415(ports: Ports, media_type: str) -> None:
    answer = sent(b"{}", **{"content-type": media_type})

    assert (415, "UNSUPPORTED_MEDIA_TYPE") == (answer.status, answer.json["code"])


def test_a_body_over_the_limit_is_413(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(ports, settings=replace(ports.settings, max_body_bytes=10))
    monkeypatch.setattr(wiring, "ports", lambda: small)

    assert 200 == sent(b'{"a":   1}').status
    answer = sent(b'{"a":    1}')

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])
    assert "11 bytes is over the limit of 10 bytes" in answer.json["message"]


def test_a_query_gives_values_and_drops_empty_and_unknown_ones(ports: Ports) -> None:
    answer = asked("?page=2&order=&all=true&other=x")

    assert {"page": 2, "all": True} == answer.json


def test_the_first_of_repeated_query_values_counts(ports: Ports) -> None:
    assert {"page": 3} == asked("?page=&page=3&page=4").json


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?page=0", 'parameter "page" in query has an error: number must be at least 1'),
        ("?page=2147483648", "number must be at most 2147483647"),
        ("?page=one", "value one: an invalid integer: invalid syntax"),
        ("?page=" + "9" * 6_000, "an invalid integer: value out of range"),
        ("?order=up", 'value is not one of the allowed values ["asc", "desc"]'),
        ("?all=perhaps", "an invalid boolean: invalid syntax"),
    ],
)
def test_a_bad_query_value_is_400_and_names_the_parameter(
    ports: Ports, query: str, message: str
) -> None:
    answer = asked(query)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert message in answer.json["message"]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Rejected(Reason.INVALID_ARGUMENT, "no"), 400, "BAD_REQUEST"),
        (Rejected(Reason.NOT_FOUND, "no"), 404, "NOT_FOUND"),
        (Rejected(Reason.INVALID_STATE, "no"), 409, "CONFLICT"),
        (TooLarge("no"), 413, "PAYLOAD_TOO_LARGE"),
        (Conflict("no"), 503, "CLUSTER_ERROR"),
    ],
)
def test_what_is_refused_is_worded_by_the_dialect(error: Exception, status: int, code: str) -> None:
    answer = raised(error)

    assert (status, {"code": code, "message": "no"}) == (answer.status, answer.json)
    assert "application/json" == answer.headers["Content-Type"]


def test_a_fault_is_logged_once_and_tells_the_caller_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = raised(RuntimeError("secret-host refused the connection"))

    assert (500, "TECHNICAL_ERROR") == (answer.status, answer.json["code"])
    assert "secret-host" not in answer.text


@pytest.mark.parametrize("accept", ["application/json", "text/html", "image/png", ""])
def test_an_answer_is_text_whatever_the_caller_accepts(ports: Ports, accept: str) -> None:
    answer = serving(lambda app: http.answer(200, {"word": "größe"})).get("/thing/1", accept=accept)

    assert (200, '{"word":"größe"}') == (answer.status, answer.text)


def test_an_answer_without_a_body_names_no_type() -> None:
    answer = serving(lambda app: http.answer(204)).get("/thing/1")

    assert (204, "") == (answer.status, answer.text)
    assert "Content-Type" not in answer.headers


def test_an_answer_that_cannot_be_sent_is_413_and_says_what_to_do() -> None:
    answer = serving(lambda app: http.answer(200, ['"' * 1_000_000] * 2)).get("/thing/1")

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])
    assert "ask for fewer at a time" in answer.json["message"]


def test_an_answer_that_can_be_sent_is() -> None:
    answer = serving(lambda app: http.answer(200, ["ä" * 1_000_000] * 2)).get("/thing/1")

    assert 200 == answer.status
