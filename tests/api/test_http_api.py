"""The same app behind the other front door: events of an HTTP API in payload format 1.0."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest

from app import app
from chalicelib import wiring
from chalicelib.access import Access
from chalicelib.ports import Ports
from tests.api import driver
from tests.api.client import HttpApiClient
from tests.api.priostack import driver as priostack


@pytest.fixture
def client(ports: Ports) -> HttpApiClient:
    return HttpApiClient(app)


def test_an_instance_goes_through_its_life(client: HttpApiClient) -> None:
    instance = driver.create(client, driver.one_task(), {"amount": 7})
    (job,) = driver.activate(client)

    assert 201 == driver.complete(client, job["key"], {"paid": True}).status
    assert "completed" == client.get(f"/v1/process-instances/{instance}").json["state"]
    assert 200 == client.get("/v1/jobs?size=5&state=completed").status


def test_the_other_dialects_are_served_too(client: HttpApiClient) -> None:
    key = priostack.start(client, driver.one_task())
    (job,) = priostack.activate(client)
    made = client.post("/scheduler/v1/jobs", {"name": "n", "type": "http", "url": "https://x.de"})

    assert str(key) == str(client.get(f"/api/v1/process-instances/{key}").json["key"])
    assert 200 == client.post(f"/api/v1/jobs/{job['key']}/complete", {}).status
    assert 204 == client.delete(f"/scheduler/v1/jobs/{made.json['id']}").status


@pytest.mark.parametrize("id_", ["a b", "größe", "50%", "%41", "a+b", "a&b=c", "a;b", "#1"])
def test_a_name_in_the_path_reaches_the_operation_as_it_is(client: HttpApiClient, id_: str) -> None:
    channel = "/api/v1/channels/orders"
    assert client.put(channel, {}).status in (200, 201)

    assert 201 == client.post(f"{channel}/messages", {"id": id_, "body": {}}).status
    answer = client.get(f"{channel}/messages/{quote(id_, safe='')}")

    assert (200, id_) == (answer.status, answer.json["id"])


def test_what_no_route_serves_is_404_or_405_with_the_methods(client: HttpApiClient) -> None:
    wrong = client.request("PATCH", "/v1/jobs/activate")

    assert (404, 404) == (client.get("/v1/nothing").status, client.get("/").status)
    assert {"code", "message"} == set(client.get("/v1/nothing").json)
    assert ["error"] == list(client.get("/api/v1/nothing").json)
    assert (405, "POST") == (wrong.status, wrong.headers["Allow"])
    assert 204 == client.request("OPTIONS", "/v1/jobs/activate").status


def test_who_signed_is_known_by_the_identity_that_the_gateway_found(
    client: HttpApiClient, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = replace(ports, settings=replace(ports.settings, access=Access.IAM))
    monkeypatch.setattr(wiring, "ports", lambda: signed)

    assert 401 == client.get("/v1/jobs").status
    client.identity = {"userArn": "arn:aws:iam::123456789012:user/ada"}
    assert 200 == client.get("/v1/jobs").status
