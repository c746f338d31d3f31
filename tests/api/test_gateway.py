"""What no route serves is answered out of the route table, in the contract's shape."""

from __future__ import annotations

import threading

import pytest
from chalice.app import Response

from app import app
from chalicelib.api import http
from chalicelib.api.gateway import Gateway, methods_at, serve_the_rest
from chalicelib.api.zenbpm import errors
from tests.api.client import Client


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/unknown", "/v1/jobs/1/complete/more", "/v2/jobs"]
)
def test_an_unknown_path_is_404(client: Client, path: str) -> None:
    answer = client.get(path)

    assert (404, "application/json") == (answer.status, answer.headers["Content-Type"])
    assert {"code": "NOT_FOUND", "message": "no matching operation was found"} == answer.json


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD"])
def test_a_wrong_method_is_405_and_names_the_right_ones(client: Client, method: str) -> None:
    answer = client.request(method, "/system/status")

    assert (405, "METHOD_NOT_ALLOWED") == (answer.status, answer.json["code"])
    assert "GET" == answer.headers["Allow"]


def test_a_literal_path_is_not_served_by_a_route_with_a_variable() -> None:
    assert ["POST"] == methods_at(app, "/v1/jobs/activate")
    assert ["GET"] == methods_at(app, "/v1/jobs/42")


def test_a_preflight_tells_what_other_origins_may_do(client: Client) -> None:
    answer = client.request("OPTIONS", "/system/status")

    assert (204, "") == (answer.status, answer.text)
    assert "*" == answer.headers["Access-Control-Allow-Origin"]
    assert "PATCH" in answer.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in answer.headers["Access-Control-Allow-Headers"]


def test_a_preflight_of_an_unknown_path_is_404(client: Client) -> None:
    assert 404 == client.request("OPTIONS", "/v1/unknown").status


def test_every_answer_may_be_read_from_other_origins(client: Client) -> None:
    for path in ("/system/health/live", "/v1/unknown"):
        assert "*" == client.get(path).headers["Access-Control-Allow-Origin"]


def test_each_thread_has_its_own_request() -> None:
    app = Gateway("threads")
    both = threading.Barrier(2, timeout=5)

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
