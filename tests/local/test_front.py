"""The HTTP server of the laptop, before a gateway that only tells what reached it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from chalicelib.api import priostack, scheduler
from chalicelib.local.front import Front
from chalicelib.local.gateways import Gateway
from tests.patience import PATIENCE_S, eventually

BODY_MAX = 1_000


class Echo(ThreadingHTTPServer):
    """Answers every request with what it was."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Echo)
        self.seen: list[dict[str, Any]] = []
        self.holding = threading.Event()
        self.holding.set()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Echo

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        seen = {
            "method": self.command,
            "path": self.path,
            "body": body.decode("latin-1"),
            "headers": {name.lower(): value for name, value in self.headers.items()},
        }
        self.server.seen.append(seen)
        self.server.holding.wait()
        content = json.dumps(seen).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Amzn-Requestid", "1")
        self.send_header("Allow", "GET, POST")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_HEAD = do_DELETE = do_OPTIONS = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        pass


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes
    json: Any = field(init=False)

    def __post_init__(self) -> None:
        self.json = json.loads(self.content or b"null")


@pytest.fixture
def gateway() -> Iterator[Echo]:
    with Echo() as gateway:
        yield gateway
        gateway.holding.set()
        gateway.shutdown()


@contextmanager
def serving(gateway: Echo | None, **more: Any) -> Iterator[Front]:
    """Serve until the block is left."""
    front = Front("127.0.0.1", 0, body_max=BODY_MAX, **more)
    front.listen()
    try:
        if gateway is not None:
            front.open(Gateway("127.0.0.1", int(gateway.server_address[1]), "/api"))
        yield front
    finally:
        front.close()


@pytest.fixture
def front(gateway: Echo) -> Iterator[Front]:
    with serving(gateway) as front:
        yield front


def ask(
    front: Front, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body or None, headers or {})
        answer = connection.getresponse()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, named, answer.read())
    finally:
        connection.close()


def test_it_passes_a_request_on_and_its_answer_back(front: Front) -> None:
    answer = ask(front, "POST", "/v1/jobs?size=2", b"{}", {"Content-Type": "application/json"})

    assert 201 == answer.status
    assert "GET, POST" == answer.headers["allow"]
    assert ("POST", "/api/v1/jobs?size=2", "{}") == (
        answer.json["method"],
        answer.json["path"],
        answer.json["body"],
    )
    assert "application/json" == answer.json["headers"]["content-type"]


def test_a_path_stays_encoded_through_the_one_decoding_of_the_emulator(front: Front) -> None:
    answer = ask(front, "GET", "/v1/variables/a%2Fb%20c?name=%41")

    assert "/api/v1/variables/a%252Fb%2520c?name=%41" == answer.json["path"]


def test_headers_meant_for_us_or_for_aws_do_not_reach_the_gateway(front: Front) -> None:
    private = {"Authorization": "Basic k", "X-Amz-Target": "DynamoDB.Scan"}

    answer = ask(front, "GET", "/v1/jobs", headers=private)

    assert {name.lower() for name in private}.isdisjoint(answer.json["headers"])
    assert "x-amzn-requestid" not in answer.headers


def test_an_answer_to_head_has_no_body(front: Front, gateway: Echo) -> None:
    answer = ask(front, "HEAD", "/v1/jobs")

    assert (201, b"") == (answer.status, answer.content)
    assert "HEAD" == gateway.seen[0]["method"]


def test_a_connection_is_kept_for_the_next_request(front: Front) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=PATIENCE_S)
    statuses = []
    with closing(connection):
        for _ in range(3):
            connection.request("GET", "/v1/jobs")
            answer = connection.getresponse()
            answer.read()
            statuses.append((answer.status, connection.sock is not None))

    assert [(201, True)] * 3 == statuses


def test_a_body_over_the_limit_is_answered_413_in_the_contracts_shape(
    front: Front, gateway: Echo
) -> None:
    answer = ask(front, "POST", "/v1/process-definitions", b"x" * (BODY_MAX + 1))

    assert 413 == answer.status
    assert "PAYLOAD_TOO_LARGE" == answer.json["code"]
    assert "1001 bytes is over the limit of 1000 bytes" in answer.json["message"]
    assert [] == gateway.seen


@pytest.mark.parametrize("prefix", [priostack.PREFIX, scheduler.PREFIX])
def test_it_refuses_in_the_shape_of_the_dialect(front: Front, prefix: str) -> None:
    too_large = ask(front, "POST", f"{prefix}/jobs", b"x" * (BODY_MAX + 1))
    unserved = ask(front, "TRACE", f"{prefix}/jobs")

    assert [413, 405] == [too_large.status, unserved.status]
    assert ["error"] == list(too_large.json)
    assert "1001 bytes is over the limit of 1000 bytes" in too_large.json["error"]
    assert {"error": "method not allowed"} == unserved.json


def test_it_knows_whose_request_is_served_and_whether_that_has_hung_up(
    front: Front, gateway: Echo
) -> None:
    gateway.holding.clear()
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_S) as raw:
        raw.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nX-Headrace-Caller: me\r\n\r\n")
        assert eventually(lambda: gateway.seen)
        caller = gateway.seen[0]["headers"]["x-headrace-caller"]
        is_gone_too_soon = front.is_gone(caller)

    assert eventually(lambda: front.is_gone(caller))
    gateway.holding.set()

    assert not is_gone_too_soon
    assert not front.is_gone("me")


def test_a_body_of_the_limit_passes(front: Front) -> None:
    assert 201 == ask(front, "POST", "/v1/process-definitions", b"x" * BODY_MAX).status


@pytest.mark.parametrize("path", ["/caf\u00e9", "/a\x01b"])
def test_a_path_that_is_no_path_is_refused(front: Front, path: str) -> None:
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_S) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1"))
        said = raw.makefile("rb").read()

    assert said.startswith(b"HTTP/1.1 400 ")
    assert b'"code": "BAD_REQUEST"' in said


@pytest.mark.parametrize("method", ["TRACE", "FOO", 'FOO"'])
def test_a_method_that_nobody_serves_is_405_and_told_which_ones_are(
    front: Front, method: str
) -> None:
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_S) as raw:
        raw.sendall(f"{method} /v1/jobs HTTP/1.1\r\n\r\n".encode())
        head, _, body = raw.makefile("rb").read().partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"Allow: GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS" in head
    assert "METHOD_NOT_ALLOWED" == json.loads(body)["code"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1 and more", 400),
        (b"\x16\x03\x01 \\", 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1", 414),
        (b"PRI * HTTP/2.0", 505),
    ],
)
def test_what_is_no_http_is_refused_in_the_contracts_shape(
    front: Front, sent: bytes, status: int
) -> None:
    """Contract section 1.1: the error body is JSON of code and message, everywhere."""
    with socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE_S) as raw:
        raw.sendall(sent + b"\r\n\r\n")
        head, _, body = raw.makefile("rb").read().partition(b"\r\n\r\n")

    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Content-Type: application/json" in head
    assert "BAD_REQUEST" == json.loads(body)["code"]


def test_before_it_is_open_it_asks_to_come_again() -> None:
    with serving(None) as front:
        answer = ask(front, "GET", "/v1/jobs")

    assert (503, "1") == (answer.status, answer.headers["retry-after"])


@pytest.mark.parametrize(
    ("origins", "origin", "shared"),
    [
        (("*",), "https://page.example", "*"),
        (("https://ops.example",), "https://ops.example", "https://ops.example"),
        (("https://ops.example",), "https://page.example", None),
    ],
)
def test_what_it_refuses_itself_is_shared_as_other_answers_are(
    origins: tuple[str, ...], origin: str, shared: str | None
) -> None:
    with serving(None, origins=origins) as front:
        answer = ask(front, "GET", "/v1/jobs", headers={"Origin": origin})

    assert (503, shared) == (answer.status, answer.headers.get("access-control-allow-origin"))


def test_a_gateway_that_is_gone_is_a_bad_gateway(front: Front, gateway: Echo) -> None:
    front.open(Gateway("127.0.0.1", 1, "/api"))

    answer = ask(front, "GET", "/v1/jobs")

    assert (502, "CLUSTER_ERROR") == (answer.status, answer.json["code"])


@pytest.mark.parametrize("headers", [{"X-Api-Key": "sesame"}, {"Authorization": "Bearer sesame"}])
def test_a_key_reaches_the_authorizer_in_the_header_that_the_emulator_leaves_to_us(
    front: Front, headers: dict[str, str]
) -> None:
    passed = ask(front, "GET", "/v1/jobs", headers=headers).json["headers"]

    assert "sesame" == passed["x-api-key"]
    assert "authorization" not in passed


@pytest.mark.parametrize("path", ["/../../dynamodb", "/v1/./jobs", "/.."])
def test_no_path_leads_out_of_the_api(front: Front, gateway: Echo, path: str) -> None:
    assert 400 == ask(front, "GET", path).status
    assert [] == gateway.seen


def test_functions_are_reached_only_by_who_knows_the_secret(front: Front) -> None:
    function = front.function_url("json.dumps").removeprefix(f"http://127.0.0.1:{front.port}")

    called = ask(front, "POST", function, b"{}")
    guessed = ask(front, "POST", "/guess/json.dumps", b"{}")

    assert 500 == called.status  # it was called, with a context that it does not take
    assert 201 == guessed.status  # a path as any other


def test_draining_waits_for_what_is_in_flight_and_refuses_what_is_new(
    front: Front, gateway: Echo
) -> None:
    gateway.holding.clear()
    answers: list[Answer] = []
    asking = threading.Thread(target=lambda: answers.append(ask(front, "GET", "/v1/slow")))
    asking.start()
    assert eventually(lambda: gateway.seen)

    assert not front.drain(0.05)
    assert 503 == ask(front, "GET", "/v1/new").status
    gateway.holding.set()
    assert front.drain(PATIENCE_S)
    asking.join()

    assert [(201, "close")] == [(each.status, each.headers["connection"]) for each in answers]
