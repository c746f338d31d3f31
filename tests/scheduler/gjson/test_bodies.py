"""What a body means to a loop: the table of contracts/gjson.md 3.3, and the Z rules on paths."""

from __future__ import annotations

import math

import pytest

from chalicelib.scheduler.gjson import Type, get
from tests.scheduler.gjson.documents import Q

PATH = "result.remaining"


def remaining(token: str) -> bytes:
    return f'{{"result":{{"remaining":{token}}}}}'.encode()


@pytest.mark.rule("Z3", "Z4", "Z6", "Z7", "Z8")
@pytest.mark.parametrize(
    ("token", "type_", "number"),
    [
        ("true", Type.TRUE, 0),
        ('"5"', Type.STRING, 0),
        ("null", Type.NULL, 0),
        ("[1,2]", Type.JSON, 0),
        ('{"n":1}', Type.JSON, 0),
        ("0", Type.NUMBER, 0),
        ("-0", Type.NUMBER, 0),
        ("-3", Type.NUMBER, -3),
        ("1e-400", Type.NUMBER, 0),
    ],
)
def test_a_value_that_is_no_number_above_0_is_found_and_stops(
    token: str, type_: Type, number: float
) -> None:
    found = get(remaining(token), PATH)

    assert (True, type_, token.encode(), number) == (
        found.exists,
        found.type,
        found.raw,
        found.number,
    )


@pytest.mark.rule("Z5")
@pytest.mark.parametrize(
    ("token", "number"),
    [
        ("0.25", 0.25),
        ("1e3", 1000.0),
        ("9007199254740993", 9007199254740992.0),
        ("1e400", math.inf),
        ("Infinity", math.inf),
        ("inf", math.inf),
        ("+5", 5.0),
        ("05", 5.0),
    ],
)
def test_a_number_above_0_goes_on(token: str, number: float) -> None:
    assert number == get(remaining(token), PATH).number


def test_no_number_at_all_is_not_above_0() -> None:
    number = get(remaining("NaN"), PATH).number

    assert math.isnan(number)
    assert not number > 0


@pytest.mark.parametrize("token", ["0x10", "5abc", "1__0", "--5", "5-", "+", "1e", "٣"])
def test_a_token_that_is_no_number_is_0(token: str) -> None:
    assert 0 == get(remaining(token), PATH).number


@pytest.mark.rule("Z2")
@pytest.mark.parametrize(
    "body",
    [
        b'{"result.remaining":5}',
        b'{"result":null}',
        b'{"result":[{"remaining":5}]}',
        rb'{"result":"{\"remaining\":5}"}',
    ],
)
def test_a_path_through_what_is_not_there_is_absent(body: bytes) -> None:
    assert not get(body, PATH).exists


@pytest.mark.rule("Z17")
@pytest.mark.parametrize(
    "body",
    [b"", b"<html>5</html>", b"5", b"{'result':{'remaining':5}}", b"{result:{remaining:5}}"],
)
def test_what_is_no_json_is_absent(body: bytes) -> None:
    found = get(body, PATH)

    assert (False, b"", 0) == (found.exists, found.raw, found.number)


@pytest.mark.rule("Z14")
@pytest.mark.parametrize(
    "body",
    [
        b'starting\n{"result":{"remaining":3}}',
        b'{"result":{"remaining":3}}\ndone',
        b'\xef\xbb\xbf{"result":{"remaining":3}}',
        b'/*x*/{"result":{"remaining":3}}',
    ],
)
def test_what_stands_around_the_json_is_passed_over(body: bytes) -> None:
    assert 3 == get(body, PATH).number


@pytest.mark.rule("Z15")
@pytest.mark.parametrize(
    "body", [b'[info] hi\n{"result":{"remaining":3}}', b'{x} {"result":{"remaining":3}}']
)
def test_a_bracket_before_the_json_hides_it(body: bytes) -> None:
    assert not get(body, PATH).exists


@pytest.mark.rule("Z16")
@pytest.mark.parametrize(
    "body",
    [
        b'{"result":{"remaining":0}}{"result":{"remaining":5}}',
        b'{"result":{"remaining":0},"result":{"remaining":5}}',
        b'{"result":{"remaining":0,"remaining":5}}',
    ],
)
def test_the_first_of_equal_keys_and_documents_counts(body: bytes) -> None:
    found = get(body, PATH)

    assert (b"0", 0) == (found.raw, found.number)


@pytest.mark.parametrize(
    "body",
    [
        b'{"result":{"x":0},"result":{"remaining":5}}',
        b'{"result":0,"result":{"remaining":5}}',
        b'{"result":{"remaining":5',
        b'{"result":{"x":1,"remaining":5,},}',
        rb'{"r\u0065sult":{"remaining":5}}',
    ],
)
def test_the_search_goes_on_to_the_first_key_that_has_the_rest(body: bytes) -> None:
    assert 5 == get(body, PATH).number


@pytest.mark.rule("Z10")
def test_the_length_of_an_array_is_a_number() -> None:
    assert 3 == get(Q, "data.items.#").number
    assert 0 == get(Q, "data.empty.#").number


@pytest.mark.rule("Z11")
def test_an_index_reads_one_element() -> None:
    assert 4 == get(Q, "queue.0.depth").number


@pytest.mark.rule("Z12")
def test_a_dollar_is_a_key_like_any_other() -> None:
    assert 7 == get(Q, "result.remaining").number
    assert not get(Q, "$.result.remaining").exists


@pytest.mark.parametrize(
    ("body", "path", "number"),
    [
        (b"5", "@this", 5),
        (b"5", "..#", 1),
        (b'log\n{"a":1}', "..#", 1),
        (b"[3,4]", "#", 2),
        (b"[3,4]", "..#", 1),
    ],
)
def test_a_plain_body_can_be_asked_too(body: bytes, path: str, number: float) -> None:
    assert number == get(body, path).number


def test_a_result_shows_its_value_as_text() -> None:
    body = rb'{"s":"\u00e9\n","n":1.50,"big":1e21,"i":12,"t":true,"z":null,"o":{"a": 1}}'

    assert ["é\n", "1.5", "1000000000000000000000", "12", "true", "", '{"a": 1}', ""] == [
        get(body, path).text for path in ("s", "n", "big", "i", "t", "z", "o", "nope")
    ]
