"""What no route serves is answered out of the route table, in the contract's shape."""

from __future__ import annotations

import threading
from urllib.parse import quote

import pytest
from chalice.app import Response

from app import app
from chalicelib.api import http
from chalicelib.api.gateway import Gateway, methods_at
from chalicelib.api.unserved import serve_the_rest
from chalicelib.api.zenbpm import errors
from chalicelib.ports import Ports
from tests.api.client import Client


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/unknown", "/v1/jobs/1/complete/more", "/v2/jobs"]
)
def test_an_unknown_path_is_404(client: Client, path: str) -> None:
    answer = client.get(path)

    assert (404, "application/json") == (answer.status, answer.headers["Content-Type"])
    assert {"code": "NOT_FOUND", "message": "no matching operation was found"} == answer.json


@pytest.mark.parametrize("id_", ["a b", "größe", "50%", "%41", "a/b"])
def test_a_name_in_the_path_reaches_the_operation_as_it_is(client: Client, id_: str) -> None:
    channel = "/api/v1/channels/orders"
    client.put(channel, {})
    client.post(f"{channel}/messages", {"id": id_, "body": {}})

    answer = client.get(f"{channel}/messages/{quote(id_, safe='')}")

    assert (200, id_) == (answer.status, answer.json["id"])


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD"])
def test_a_wrong_method_is_405_and_names_the_right_ones(client: Client, method: str) -> None:
    answer = client.request(method, "/system/status")

    assert (405, "METHOD_NOT_ALLOWED") == (answer.status, answer.json["code"])
    assert "GET" == answer.headers["Allow"]


def test_a_literal_path_is_not_served_by_a_route_with_a_variable() -> None:
    assert ["POST"] == methods_at(app, "/v1/jobs/activate")
    assert ["GET"] == methods_at(app, "/v1/jobs/42")


def test_a_preflight_tells_what_other_origins_may_do(client: Client) -> None:
    answer = client.request("OPTIONS", "/v1/process-instances/5/variables/amount")

    assert (204, "") == (answer.status, answer.text)
    assert "*" == answer.headers["Access-Control-Allow-Origin"]
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Content-Type" in answer.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/process-instances/5/variables", "PATCH"),
        ("/v1/process-instances/5/variables/amount", "DELETE"),
        ("/v1/jobs/activate", "POST"),
        ("/api/v1/channels/orders", "GET, PUT, DELETE"),
        ("/api/v1/jobs/activate", "GET"),
        ("/scheduler/v1/jobs", "GET, POST"),
        ("/scheduler/v1/jobs/5", "GET, PUT, PATCH, DELETE"),
    ],
)
def test_a_preflight_tells_the_methods_of_its_path_in_each_dialect(
    client: Client, path: str, methods: str
) -> None:
    answer = client.request("OPTIONS", path, headers={"Access-Control-Request-Method": "PATCH"})

    assert (204, methods) == (answer.status, answer.headers["Access-Control-Allow-Methods"])


OPS, TEAM = "https://ops.example", "http://team.example:8443"


@pytest.fixture
def named(ports: Ports) -> Client:
    """Return a client of an app whose operator named origins."""
    made = Gateway("named", (OPS, TEAM))
    made.routes.update(app.routes)
    return Client(made)


@pytest.mark.parametrize("path", ["/v1/jobs", "/api/v1/nothing", "/scheduler/v1/jobs/5", "/"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize("origin", [OPS, TEAM])
def test_pages_of_an_origin_that_is_named_may_read_every_answer(
    named: Client, path: str, method: str, origin: str
) -> None:
    answer = named.request(method, path, headers={"Origin": origin})

    assert (origin, "true", "Origin") == tuple(
        answer.headers.get(name)
        for name in ("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Vary")
    )


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://ops.example.evil", "null", "", "http://ops.example"]
)
def test_pages_of_no_other_origin_may(named: Client, method: str, origin: str) -> None:
    for headers in ({"origin": origin}, {}):
        answer = named.request(method, "/v1/jobs", headers=headers)

        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert "Origin" == answer.headers["Vary"]


def test_a_preflight_of_an_unknown_path_is_404(client: Client) -> None:
    assert 404 == client.request("OPTIONS", "/v1/unknown").status


def test_every_answer_may_be_read_from_other_origins(client: Client) -> None:
    for path in ("/system/health/live", "/v1/unknown"):
        assert "*" == client.get(path).headers["Access-Control-Allow-Origin"]


def test_each_thread_has_its_own_request() -> None:
    app = Gateway("threads")
    both = threading.Barrier(2, timeout=60)  # of a thread that never comes

    @app.route("/echo/{word}", content_types=[])
    @http.errors_as(errors.error)
    def echo(word: str) -> Response:
        both.wait()
        assert app.current_request is not None
        return http.answer(200, [word, (app.current_request.uri_params or {})["word"]])

    serve_the_rest(app, {"": errors.error})
    found: list[list[str]] = []

    def call(word: str) -> None:
        found.append(Client(app).get(f"/echo/{word}").json)

    threads = [threading.Thread(target=call, args=[word]) for word in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [["a", "a"], ["b", "b"]] == sorted(found)
