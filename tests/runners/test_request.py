"""The bytes of a request, and what a redirect makes of it."""

from __future__ import annotations

import pytest

from chalicelib.runners import requests, urls
from chalicelib.runners.addresses import refuse_nothing
from chalicelib.runners.client import Client
from chalicelib.runners.http import HttpRunner
from chalicelib.runners.requests import Headers, Request
from chalicelib.scheduler.definition import HttpCall
from tests.fakes.runner import MemorySecrets
from tests.runners.definitions import PATIENCE, calling
from tests.runners.site import Site

RUNNER = HttpRunner(Client(refuse_nothing), MemorySecrets())
TARGET = "/a/./b/../%7e%7E//c?b=2&a=1&&b=%zz+x'\"{}|#not-sent"
SENT = "/a/./b/../%7e%7E//c?b=2&a=1&&b=%zz+x'\"{}|"
HEADERS = (
    ("Authorization", "Bearer x"),
    ("Cookie", "c=1"),
    ("X-Key", "k"),
    ("X-Plain", "p"),
    ("Content-Type", "text/plain"),
    ("Host", "other.example"),
)


def sent(call: HttpCall, pool_count: int = 1, pool_idx: int = 0) -> bytes:
    """Return the request as it came, with {port} for the port."""
    with Site() as site:
        call = HttpCall(site.url + call.url, call.method, call.headers, call.body, call.auth)
        RUNNER.run(calling(call, pool_count), pool_idx, PATIENCE)
        return site.requests[0].replace(str(site.port).encode(), b"{port}")


def test_a_request_is_what_was_asked_for_and_nothing_else() -> None:
    call = HttpCall("/p", "PATCH", (("X-b", "2"), ("x-A", " 1 "), ("X-b", "é")), "né")

    assert (
        b"PATCH /p HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Headrace\r\n"
        b"X-b: 2\r\nx-A: 1\r\nX-b: \xc3\xa9\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        b"n\xc3\xa9"
    ) == sent(call)


def test_what_frames_a_request_is_ours_to_say() -> None:
    call = HttpCall(
        "/", headers=(("Content-Length", "99"), ("transfer-encoding", "chunked"), ("Host", "h"))
    )

    assert (
        b"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: Headrace\r\nConnection: close\r\n\r\n"
    ) == sent(call)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PURGE", "post", "OPTIONS"])
def test_any_method_goes_out_as_it_is_written(method: str) -> None:
    assert sent(HttpCall("/", method)).startswith(f"{method} / HTTP/1.1\r\n".encode())


@pytest.mark.rule("Z72", "Z73")
def test_the_target_goes_out_byte_for_byte() -> None:
    assert sent(HttpCall(TARGET)).startswith(f"GET {SENT} HTTP/1.1\r\n".encode())


def test_what_no_request_line_can_hold_is_encoded() -> None:
    line = sent(HttpCall("/ä b?q=ö c"))

    assert line.startswith(b"GET /%C3%A4%20b?q=%C3%B6%20c HTTP/1.1\r\n")


@pytest.mark.rule("Z71", "Z73")
def test_a_member_of_a_pool_says_its_index_behind_the_query() -> None:
    expected = f"GET {SENT}&pool_idx=1 HTTP/1.1\r\n".encode()

    assert sent(HttpCall(TARGET), 2, 1).startswith(expected)
    assert sent(HttpCall("/p"), 2, 0).startswith(b"GET /p?pool_idx=0 HTTP/1.1\r\n")
    assert sent(HttpCall(""), 2, 1).startswith(b"GET /?pool_idx=1 HTTP/1.1\r\n")
    assert sent(HttpCall("?"), 2, 1).startswith(b"GET /?pool_idx=1 HTTP/1.1\r\n")


@pytest.mark.rule("Z72")
@pytest.mark.parametrize("body", [None, "{}"])
def test_without_a_pool_the_bytes_are_those_of_a_job_that_never_heard_of_one(
    body: str | None,
) -> None:
    call = HttpCall(TARGET, "POST", (("X-A", "1"),), body)
    pooled = sent(call, 2, 1)

    alone = sent(call, 1, 0)

    assert b"pool_idx" not in alone
    assert pooled.replace(b"&pool_idx=1", b"") == alone


def following(status: int, location: str, method: str = "POST", **host: str) -> Request:
    first = urls.parse("https://api.example.com/v1/x?y=1")
    request = Request(method, first, HEADERS, b"body", frozenset({"x-key"}))
    return requests.redirected(request, status, location, host.get("first", first.host))


def names(headers: Headers) -> set[str]:
    return {name.lower() for name, _ in headers}


@pytest.mark.rule("Z62")
@pytest.mark.parametrize("status", [301, 302, 303])
def test_such_a_redirect_becomes_a_get_without_a_body(status: int) -> None:
    request = following(status, "/y")

    assert ("GET", None) == (request.method, request.body)
    assert names(HEADERS) - {"content-type"} == names(request.headers)
    assert "HEAD" == following(status, "/y", "HEAD").method


@pytest.mark.rule("Z62")
@pytest.mark.parametrize("status", [307, 308])
def test_such_a_redirect_keeps_method_and_body(status: int) -> None:
    request = following(status, "/y")

    assert ("POST", b"body", HEADERS) == (request.method, request.body, request.headers)


@pytest.mark.parametrize(
    ("location", "is_kept"),
    [
        ("/y", True),
        ("https://api.example.com:8443/y", True),
        ("https://eu.api.example.com/y", True),
        ("http://api.example.com/y", False),
        ("https://example.com/y", False),
        ("https://evilapi.example.com/y", False),
        ("//elsewhere.example/y", False),
    ],
)
def test_what_names_the_job_stays_with_its_host(location: str, is_kept: bool) -> None:
    headers = names(following(307, location).headers)

    assert ({"authorization", "cookie", "x-key"} <= headers) == is_kept
    assert ({"authorization", "cookie", "x-key"} & headers == set()) == (not is_kept)
    assert "x-plain" in headers


@pytest.mark.parametrize("first", ["10.0.0.1", "2001:db8::1"])
def test_an_address_has_no_subdomains(first: str) -> None:
    request = following(307, "https://evil.10.0.0.1/", first=first)

    assert "authorization" not in names(request.headers)


def test_what_was_dropped_stays_dropped_on_the_way_back() -> None:
    away = following(307, "https://elsewhere.example/")

    back = requests.redirected(away, 307, "https://api.example.com/", "api.example.com")

    assert "authorization" not in names(back.headers)


def test_the_host_that_a_job_names_is_the_first_ones_alone() -> None:
    assert "host" in names(following(307, "/y").headers)
    assert "host" not in names(following(307, "https://eu.api.example.com/y").headers)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("y", "https://api.example.com/v1/y"),
        ("?z=%2f", "https://api.example.com/v1/x?z=%2f"),
        ("/a?b#c", "https://api.example.com/a?b"),
        ("//h.example/%7e", "https://h.example/%7e"),
        ("HTTP://H.example:81", "http://h.example:81/"),
    ],
)
def test_a_location_is_read_against_the_url_that_answered(location: str, expected: str) -> None:
    url = following(302, location).url

    assert expected == f"{url.scheme}://{url.authority}{url.target}"


@pytest.mark.parametrize(
    ("text", "authority"),
    [
        ("http://EXAMPLE.com:80", "example.com"),
        ("https://example.com:80/", "example.com:80"),
        ("https://example.com:/", "example.com"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://[2001:DB8::1]:8080/", "[2001:db8::1]:8080"),
        ("http://a:b@c@under_score.example./", "under_score.example."),
    ],
)
def test_the_host_is_written_as_servers_know_it(text: str, authority: str) -> None:
    assert authority == urls.parse(text).authority
