"""Whatever is given for a URL is either refused or can be sent, and nothing in between."""

from __future__ import annotations

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.runners import urls
from chalicelib.runners.urls import Unparseable, Url

PIECES = st.sampled_from(
    [*"/?#@:[]%&=.;'\" \t\n\\|", "..", "%2F", "%zz", "é", "。", "\ud800", "a", "1", "::1", "h"]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40)
STARTS = st.sampled_from(["http://", "https://", "HTTP://h", "http://h/", "http://h:8/?", "//", ""])
QUERY = st.text(st.sampled_from("abz019=&%+/?;:@!$'()*,-._~|{}[]^`\"<>\\"), max_size=40)


def parsed(text: str) -> Url | None:
    try:
        return urls.parse(text)
    except Unparseable:
        return None


@given(STARTS, TEXTS)
@example("http://", "\ud800")
@example("http://", "a..b/")
@example("http://", "." * 300)
@example("http://h", ":٣/")
def test_what_is_parsed_can_be_sent(start: str, rest: str) -> None:
    url = parsed(start + rest)

    if url is not None:
        headers = [("Host", url.authority)]
        h11.Request(method="GET", target=url.target, headers=headers)
        assert 0 < url.port < 65_536
        assert url.host.encode("idna")  # as TLS will read it


@given(QUERY, st.integers(0, 19))
def test_a_query_is_kept_whatever_it_is(query: str, index: int) -> None:
    url = urls.parse(f"http://h/p?{query}")

    assert f"/p?{query}" == url.target
    pooled = urls.with_pool_index(url, index).target
    assert pooled.startswith(url.target)
    assert pooled.endswith(f"pool_idx={index}")
    assert pooled[-len(f"pool_idx={index}") - 1] in "?&"


@given(STARTS, TEXTS)
def test_what_was_parsed_is_parsed_alike(start: str, rest: str) -> None:
    url = parsed(start + rest)

    if url is not None:
        again = urls.parse(f"{url.scheme}://{url.authority}{url.target}")
        assert (url.authority, url.target) == (again.authority, again.target)


@given(TEXTS)
@example("//[")
@example("//[::1%25a]/")
@example("/a\tb")
def test_any_location_is_followed_or_refused(location: str) -> None:
    base = urls.parse("https://api.example.com/v1/x?y=1")
    try:
        url = urls.resolved(base, location)
    except Unparseable:
        return

    assert url.target.startswith("/")
    assert "\t" not in location


@pytest.mark.rule("Z62")
@pytest.mark.parametrize(
    ("location", "userinfo"),
    [
        ("/next", "me:p%20w"),
        ("next?a=1", "me:p%20w"),
        ("?a=1", "me:p%20w"),
        ("//example.com/next", ""),
        ("http://example.com/next", ""),
        ("http://you@example.com/next", "you"),
    ],
)
def test_a_redirect_that_names_no_host_keeps_the_user(location: str, userinfo: str) -> None:
    base = urls.parse("http://me:p%20w@example.com/first")

    assert userinfo == urls.resolved(base, location).userinfo
