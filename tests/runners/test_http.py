"""HTTP calls: what is a success, what is a failure, and what can never succeed."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.runners.addresses import refuse_nothing
from chalicelib.runners.client import BODY_MAX, Client
from chalicelib.runners.ending import Ending
from chalicelib.runners.http import HttpRunner
from chalicelib.runners.runner import JobRunner
from chalicelib.scheduler.definition import Auth, HttpCall
from chalicelib.scheduler.rows import Outcome
from tests.fakes.clock import ManualClock
from tests.fakes.runner import MemorySecrets
from tests.runners.definitions import IMPATIENCE, PATIENCE, calling, cut, row
from tests.runners.site import DRIP, ENDLESS, HANG_AFTER, RESET_AFTER, Site, answer, redirect

SECRETS = MemorySecrets({"ssm:/hooks/token": "s3cret", "secretsmanager:bad": "two\nlines"})
RUNNER = HttpRunner(Client(refuse_nothing), SECRETS)


def made(call: HttpCall, timeout: timedelta = PATIENCE) -> Ending:
    return RUNNER.run(calling(call), 0, timeout)


@pytest.mark.rule("Z55")
@pytest.mark.parametrize("status", [200, 204, 299])
def test_a_status_of_the_200s_is_a_success(status: int) -> None:
    with Site(answer(status)) as site:
        ended = made(HttpCall(site.url))

    assert Ending(Outcome.SUCCEEDED, status) == ended


@pytest.mark.rule("Z56")
@pytest.mark.parametrize("status", [300, 304, 404, 500])
def test_any_other_status_is_a_failure(status: int) -> None:
    with Site(answer(status)) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.FAILED, status) == (ended.outcome, ended.status_code)
    assert f"expected a status from 200 to 299, found {status}" == ended.error


@pytest.mark.rule("Z56")
def test_a_status_of_the_100s_is_no_answer_yet() -> None:
    with Site(b"HTTP/1.1 199 Wait\r\n\r\n") as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.FAILED, None) == (ended.outcome, ended.status_code)


def test_the_body_is_what_a_loop_will_look_into() -> None:
    with Site(answer(200, b'{"result":{"remaining":3}}')) as site:
        assert b'{"result":{"remaining":3}}' == made(HttpCall(site.url)).output


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    with Site(b"HTTP/1.1 200 OK\r\n\r\nall of it") as site:
        assert b"all of it" == made(HttpCall(site.url)).output


def test_a_body_in_chunks_is_put_together() -> None:
    with Site(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    ) as site:
        assert b"abcde" == made(HttpCall(site.url)).output


@pytest.mark.parametrize(
    ("method", "said", "expected"),
    [
        ("HEAD", answer(200, b"not sent with HEAD"), (Outcome.SUCCEEDED, 200)),
        ("CONNECT", answer(200, b"tunnel"), (Outcome.SUCCEEDED, 200)),
        ("GET", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", (Outcome.FAILED, 101)),
        ("GET", b"HTTP/1.1 103 Early Hints\r\n\r\n" + answer(204), (Outcome.SUCCEEDED, 204)),
    ],
)
def test_an_answer_that_has_no_body_has_none(
    method: str, said: bytes, expected: tuple[Outcome, int]
) -> None:
    with Site(said) as site:
        ended = made(HttpCall(site.url, method, (("Upgrade", "x"), ("Connection", "upgrade"))))

    assert (*expected, b"") == (ended.outcome, ended.status_code, ended.output)


@pytest.mark.rule("Z57")
def test_a_refused_connection_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    ended = made(HttpCall(f"http://127.0.0.1:{port}/"))

    assert Outcome.FAILED == ended.outcome
    assert "could not connect to 127.0.0.1: Connection refused" == ended.error


@pytest.mark.rule("Z57")
def test_a_timeout_before_the_headers_is_a_failure() -> None:
    with Site(HANG_AFTER) as site:
        ended = made(HttpCall(site.url), IMPATIENCE)

    assert (Outcome.FAILED, None) == (ended.outcome, ended.status_code)
    assert "in time" in ended.error


@pytest.mark.rule("Z57")
def test_a_name_that_is_not_found_is_a_failure() -> None:
    def look_up(host: str, port: int, seconds: float) -> list[tuple[int, tuple[str, int]]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    runner = HttpRunner(Client(look_up=look_up), SECRETS)

    ended = runner.run(calling(HttpCall("http://nowhere.example/")), 0, PATIENCE)

    assert Outcome.FAILED == ended.outcome
    assert "could not connect to nowhere.example: Name or service not known" == ended.error


@pytest.mark.rule("Z58")
@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        RESET_AFTER + b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        RESET_AFTER + b"HTTP/1.1 200 OK\r\n\r\nabc",
    ],
    ids=["length", "chunks", "length, reset", "reset"],
)
def test_a_connection_cut_while_the_body_is_read_is_a_failure(cut: bytes) -> None:
    with Site(cut) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.FAILED, b"") == (ended.outcome, ended.output)
    assert ended.status_code in (200, None)  # a reset may overtake what was sent before


def test_a_timeout_while_the_body_is_read_is_a_failure() -> None:
    with Site(HANG_AFTER + b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") as site:
        call = HttpCall(site.url)
        ended = cut(lambda timeout: made(call, timeout), lambda ended: ended.status_code)

    assert (Outcome.FAILED, 200) == (ended.outcome, ended.status_code)
    assert "in time" in ended.error


def test_a_server_that_drips_has_no_more_time_than_any_other() -> None:
    with Site(DRIP + answer(200, b"x" * 40)) as site:
        ended = made(HttpCall(site.url), IMPATIENCE)

    assert Outcome.FAILED == ended.outcome
    assert "in time" in ended.error


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 OK\r\n\r\n"])
def test_what_is_no_answer_is_a_failure_that_quotes_none_of_it(said: bytes) -> None:
    with Site(said) as site:
        ended = made(HttpCall(site.url))

    assert Outcome.FAILED == ended.outcome
    assert "the answer of 127.0.0.1 ended early, or is not HTTP/1.1" == ended.error


def test_of_a_long_body_the_beginning_is_kept_and_the_status_decides(
    lines: list[dict[str, Any]],
) -> None:
    with Site(answer(200, b"x" * (3 * BODY_MAX))) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.SUCCEEDED, BODY_MAX, "") == (ended.outcome, len(ended.output), ended.error)
    (line,) = lines
    assert ("WARNING", "j1", BODY_MAX) == (line["level"], line["job_id"], line["limit_bytes"])


def test_a_body_without_end_is_read_up_to_the_limit() -> None:
    with Site(ENDLESS + b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 65_536) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.SUCCEEDED, BODY_MAX) == (ended.outcome, len(ended.output))


def test_a_body_of_just_the_limit_is_whole(lines: list[dict[str, Any]]) -> None:
    with Site(answer(200, b"x" * BODY_MAX)) as site:
        assert BODY_MAX == len(made(HttpCall(site.url)).output)

    assert [] == lines


@pytest.mark.rule("Z62")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("last", "outcome"), [(200, Outcome.SUCCEEDED), (404, Outcome.FAILED)])
def test_a_redirect_is_followed_and_the_last_status_counts(
    status: int, last: int, outcome: Outcome
) -> None:
    with Site(redirect(status, "/next?b=2&a=1"), answer(last, b"here")) as site:
        ended = made(HttpCall(f"{site.url}/first"))

    assert (outcome, last, b"here") == (ended.outcome, ended.status_code, ended.output)
    assert ["GET /first HTTP/1.1", "GET /next?b=2&a=1 HTTP/1.1"] == [head[0] for head in site.heads]


@pytest.mark.rule("Z62")
def test_ten_redirects_are_followed_and_the_eleventh_is_not() -> None:
    with Site(*[redirect(302, "/again")] * 10, answer(200)) as site:
        assert Outcome.SUCCEEDED == made(HttpCall(site.url)).outcome
        assert 11 == len(site.requests)

    with Site(redirect(302, "/again")) as site:
        ended = made(HttpCall(site.url))
    assert (Outcome.FAILED, 302) == (ended.outcome, ended.status_code)
    assert "expected at most 10 redirects, found more" == ended.error
    assert 11 == len(site.requests)


@pytest.mark.rule("Z62")
def test_a_redirect_without_a_location_is_an_answer() -> None:
    with Site(answer(302)) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.FAILED, 302, 1) == (ended.outcome, ended.status_code, len(site.requests))


def test_a_redirect_to_what_is_no_url_is_a_failure() -> None:
    with Site(redirect(302, "gopher://127.0.0.1/")) as site:
        ended = made(HttpCall(site.url))

    assert (Outcome.FAILED, 302) == (ended.outcome, ended.status_code)


@pytest.mark.rule("Z63")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/path",
        "ftp://example.com/",
        "http://",
        "http:///path",
        "http://:80/",
        "http://exa mple.com/",
        "http://example.com:port/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://example.com/\n",
        "http://exam\tple.com/",
        "http://example.com/\x7f",
        "http://example.com/%zz",
        "http://example.com/\ud800",
    ],
)
def test_an_unparseable_url_is_cancelled(url: str) -> None:
    ended = made(HttpCall(url))

    assert Outcome.CANCELLED == ended.outcome
    assert ended.error.startswith("http.url: ")


@pytest.mark.rule("Z64")
def test_an_unknown_auth_type_is_cancelled() -> None:
    ended = made(HttpCall("http://127.0.0.1/", auth=Auth("digest")))

    assert Outcome.CANCELLED == ended.outcome
    assert "http.auth.type: expected none, basic, bearer or header, found 'digest'" == ended.error


@pytest.mark.parametrize(
    "call",
    [
        HttpCall("http://127.0.0.1/", method="GET /"),
        HttpCall("http://127.0.0.1/", headers=(("a b", "c"),)),
        HttpCall("http://127.0.0.1/", headers=(("a", "b\r\nc: d"),)),
        HttpCall("http://127.0.0.1/", body="\ud800"),
        HttpCall("http://127.0.0.1/", auth=Auth("basic", username="\ud800")),
        HttpCall("http://127.0.0.1/", auth=Auth("header", value="x")),
    ],
)
def test_what_http_cannot_write_is_cancelled(call: HttpCall) -> None:
    assert Outcome.CANCELLED == made(call).outcome


@pytest.mark.parametrize(
    ("auth", "line"),
    [
        (Auth("basic", "me", "pass word"), "Authorization: Basic bWU6cGFzcyB3b3Jk"),
        (Auth("bearer", token="ssm:/hooks/token"), "Authorization: Bearer s3cret"),
        (Auth("header", header="X-Key", value="ssm:/hooks/token"), "X-Key: s3cret"),
    ],
)
def test_a_call_names_itself_as_its_auth_says(auth: Auth, line: str) -> None:
    given = (("authorization", "given"), ("x-key", "given"))
    with Site() as site:
        made(HttpCall(site.url, headers=given, auth=auth))

    assert line in site.heads[0]
    assert 1 == sum("given" in line for line in site.heads[0])


@pytest.mark.parametrize(
    "auth",
    [
        Auth("basic", "me", "ssm:/hooks/token"),
        Auth("bearer", token="ssm:/hooks/token"),
        Auth("header", header="X-Key", value="ssm:/hooks/token"),
    ],
    ids=lambda auth: auth.type,
)
def test_an_answer_that_echoes_a_secret_is_shown_without_it(auth: Auth) -> None:
    echo = b'{"result":{"remaining":3}, "seen": "s3cret bWU6czNjcmV0"}'
    with Site(answer(200, echo)) as site:
        job = calling(HttpCall(site.url, auth=auth))
        made = JobRunner(ManualClock(), lambda: RUNNER, lambda: RUNNER).run(job, row(), PATIENCE)

    assert echo == made.output  # which a loop looks into
    assert b"s3cret" not in made.shown and b'{"remaining":3}' in made.shown
    assert (auth.type == "basic") is (b"bWU6" not in made.shown)
    assert "s3cret" not in repr(made).replace(repr(echo), "")


def test_a_secret_is_in_no_error() -> None:
    missing = made(HttpCall("http://127.0.0.1/", auth=Auth("bearer", token="ssm:gone")))
    broken = made(HttpCall("http://127.0.0.1/", auth=Auth("bearer", token="secretsmanager:bad")))

    assert (Outcome.FAILED, Outcome.CANCELLED) == (missing.outcome, broken.outcome)
    assert "could not read the secret ssm:gone: ParameterNotFound" == missing.error
    assert "lines" not in broken.error


def test_the_users_name_in_a_url_is_basic_auth() -> None:
    with Site() as site:
        made(HttpCall(site.url.replace("http://", "http://me:p%20w@")))

    assert "Authorization: Basic bWU6cCB3" in site.heads[0]
    assert f"Host: 127.0.0.1:{site.port}" in site.heads[0]
