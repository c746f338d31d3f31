"""The guard: no name, redirect or second answer of the DNS leads to an address that is refused."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from typing import Any

import pytest

from chalicelib.runners.addresses import refuse_nothing
from chalicelib.runners.client import Client
from chalicelib.runners.ending import Ending
from chalicelib.runners.guard import LookUp, Place, look_up_in_dns
from chalicelib.runners.http import HttpRunner
from chalicelib.scheduler.definition import HttpCall
from chalicelib.scheduler.rows import Outcome
from tests.fakes.runner import MemorySecrets
from tests.runners.certificate import make_certificate
from tests.runners.definitions import IMPATIENCE, PATIENCE, calling, cut
from tests.runners.site import Site, redirect


def made(url: str, client: Client, **given: Any) -> Ending:
    return HttpRunner(client, MemorySecrets()).run(
        calling(HttpCall(url)), 0, given.get("timeout", PATIENCE)
    )


def at(*addresses: str) -> LookUp:
    """Return a DNS in which every name has these addresses."""

    def look_up(host: str, port: int, seconds: float) -> list[Place]:
        families = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in addresses]
        return [
            (int(family), (each, port)) for family, each in zip(families, addresses, strict=True)
        ]

    return look_up


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "0"],
)
def test_this_machine_is_refused_however_it_is_written(host: str) -> None:
    with Site() as site:
        ended = made(f"http://{host}:{site.port}/", Client())

    assert (Outcome.FAILED, []) == (ended.outcome, site.requests)
    assert "SCHEDULER_ALLOW_PRIVATE_ADDRESSES" in ended.error


def test_a_public_name_with_a_private_address_is_refused() -> None:
    ended = made("http://rebound.example/", Client(look_up=at("169.254.169.254")))

    assert Outcome.FAILED == ended.outcome
    assert (
        "refused to connect to rebound.example: 169.254.169.254 is link-local, and "
        "scheduler.allowPrivateAddresses (SCHEDULER_ALLOW_PRIVATE_ADDRESSES) is off"
    ) == ended.error


def test_every_address_of_a_name_is_judged() -> None:
    with Site() as site:
        url = f"http://both.example:{site.port}/"
        ended = made(url, Client(look_up=at("::1", "127.0.0.1")))

    assert (Outcome.FAILED, []) == (ended.outcome, site.requests)


def test_the_next_address_is_tried_if_one_does_not_answer() -> None:
    with Site() as site:
        client = Client(refuse_nothing, look_up=at("127.0.0.2", "127.0.0.1"))
        ended = made(f"http://two.example:{site.port}/", client)

    assert Outcome.SUCCEEDED == ended.outcome
    assert f"Host: two.example:{site.port}" in site.heads[0]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems queue or refuse instead")
def test_an_address_that_says_nothing_leaves_time_for_the_next() -> None:
    with Site() as site, socket.socket() as silent:
        silent.bind(("127.0.0.2", site.port))
        silent.listen(0)
        with contextlib.ExitStack() as waiting:
            for _ in range(3):  # a full queue, after which the system answers nobody
                queued = waiting.enter_context(socket.socket())
                queued.setblocking(False)
                queued.connect_ex(("127.0.0.2", site.port))
            client = Client(refuse_nothing, at("127.0.0.2", "127.0.0.1"))
            url = f"http://two.example:{site.port}/"
            ended = cut(
                lambda timeout: made(url, client, timeout=timeout),
                lambda ended: ended.outcome == Outcome.SUCCEEDED,
            )

    assert Outcome.SUCCEEDED == ended.outcome


def test_a_name_is_resolved_once_for_each_request() -> None:
    asked: list[str] = []

    def look_up(host: str, port: int, seconds: float) -> list[Place]:
        asked.append(host)
        return at("127.0.0.1")(host, port, seconds)

    with Site(redirect(302, "/again"), b"HTTP/1.1 204 No Content\r\n\r\n") as site:
        made(f"http://once.example:{site.port}/", Client(refuse_nothing, look_up))

    assert ["once.example", "once.example"] == asked


def test_a_redirect_passes_the_guard_too() -> None:
    def look_up(host: str, port: int, seconds: float) -> list[Place]:
        return at("127.0.0.1" if host == "public.example" else "127.0.0.2")(host, port, seconds)

    def judge(address: str) -> str:
        return "" if address == "127.0.0.1" else "loopback"

    with Site(redirect(302, "http://inside.example/latest/meta-data")) as site:
        ended = made(f"http://public.example:{site.port}/", Client(judge, look_up))

    assert (Outcome.FAILED, 1) == (ended.outcome, len(site.requests))
    assert ended.error.startswith("refused to connect to inside.example: 127.0.0.2 is loopback")


def test_nobody_waits_longer_for_the_resolver_than_there_is_time() -> None:
    is_over = threading.Event()

    def hang(*asked: object, **options: object) -> list[object]:
        is_over.wait()
        return []

    try:
        with pytest.raises(TimeoutError):
            look_up_in_dns("slow.example", 80, 0.01, hang)
    finally:
        is_over.set()


def test_a_name_without_addresses_is_a_failure() -> None:
    ended = made("http://empty.example/", Client(look_up=at()))

    assert "could not connect to empty.example: its name has no address" == ended.error


def test_a_connection_that_is_not_made_in_time_is_a_failure() -> None:
    def look_up(host: str, port: int, seconds: float) -> list[Place]:
        raise TimeoutError

    ended = made("http://slow.example/", Client(look_up=look_up), timeout=IMPATIENCE)

    assert Outcome.FAILED == ended.outcome
    assert "expected a connection to slow.example in time, found none" == ended.error


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the TLS of a server at safe.example, and that of a client who trusts it."""
    certificate, key = make_certificate(tmp_path_factory.mktemp("tls"), "safe.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=str(certificate))


TLS = tuple[ssl.SSLContext, ssl.SSLContext]


def test_a_certificate_is_checked_against_the_name_and_not_the_address(tls: TLS) -> None:
    server, trusting = tls
    with Site(tls=server) as site:
        client = Client(refuse_nothing, at("127.0.0.1"), lambda: trusting)
        right = made(f"https://safe.example:{site.port}/", client)
        wrong = made(f"https://other.example:{site.port}/", client)
        client = Client(refuse_nothing, at("127.0.0.1"))
        unknown = made(f"https://safe.example:{site.port}/", client)

    assert Outcome.SUCCEEDED == right.outcome
    for ended in (wrong, unknown):
        assert Outcome.FAILED == ended.outcome
        assert "certificate verify failed" in ended.error


@pytest.mark.rule("Z58")
def test_tls_that_ends_without_a_farewell_was_cut(tls: TLS) -> None:
    server, trusting = tls
    with Site(b"HTTP/1.1 200 OK\r\n\r\nabc", tls=server) as site:
        client = Client(refuse_nothing, at("127.0.0.1"), lambda: trusting)
        ended = made(f"https://safe.example:{site.port}/", client)

    assert (Outcome.FAILED, 200) == (ended.outcome, ended.status_code)
