"""Masking: a secret that was answered is shown in none of the forms in which it may be written."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus, urlencode

import pytest

from chalicelib.scheduler.masking import hide

SECRET = 'p"a\\s/ s<&é€\t!'


@pytest.mark.parametrize(
    "echoed",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET).replace("/", "\\/")[1:-1],
        json.dumps(SECRET.encode().decode("latin-1"))[1:-1],
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        urlencode({"": SECRET})[1:],
    ],
)
def test_a_secret_is_hidden_in_each_form(echoed: str) -> None:
    assert b"<********>" == hide(f"<{echoed}>".encode(), (SECRET,))


def test_a_secret_is_hidden_without_the_blanks_that_a_header_does_not_send() -> None:
    assert b"Bearer ********" == hide(b"Bearer token", (" token\t",))


def test_the_longest_secret_is_hidden_first_and_an_empty_one_hides_nothing() -> None:
    assert b"******** ******** x" == hide(b"token tok x", ("tok", "token", "", " "))
