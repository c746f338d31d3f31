"""Who may call: keys and their roles, in every dialect's own words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app import app
from chalicelib import wiring
from chalicelib.access import Access, Role
from chalicelib.api import authorizer
from chalicelib.api.operation import operation_of
from chalicelib.operations import api_keys
from chalicelib.ports import Ports
from tests.api.client import Client
from tests.fakes.clock import ManualClock

JOBS = {"/v1/jobs": {"code", "message"}, "/api/v1/jobs": {"error"}, "/scheduler/v1/jobs": {"error"}}


@pytest.fixture
def closed(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> Ports:
    """A stage that asks for keys."""
    return setting(ports, monkeypatch, access=Access.KEYS)


def setting(ports: Ports, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Ports:
    made = replace(ports, settings=replace(ports.settings, **fields))
    monkeypatch.setattr(wiring, "ports", lambda: made)
    return made


def called(client: Client, method: str, path: str, key: str) -> int:
    filled = path.replace("{", "").replace("}", "")
    return client.request(method, filled, {}, {"x-api-key": key}).status


@pytest.mark.parametrize("path", JOBS)
def test_without_a_key_it_is_401_in_the_dialects_shape(
    client: Client, closed: Ports, path: str
) -> None:
    for headers in ({}, {"x-api-key": "hr_" + "0" * 16 + "_" + "0" * 64}, {"authorization": "é"}):
        answer = client.request("GET", path, headers=headers)

        assert (401, "Bearer") == (answer.status, answer.headers["WWW-Authenticate"])
        assert JOBS[path] == set(answer.json)


@pytest.mark.parametrize("path", JOBS)
def test_with_a_key_of_another_role_it_is_403_in_the_dialects_shape(
    client: Client, closed: Ports, path: str
) -> None:
    key = api_keys.create_key(closed, "w", Role.WORKER)

    answer = client.get(path, **{"x-api-key": key})

    assert (403, JOBS[path]) == (answer.status, set(answer.json))


@pytest.mark.parametrize("path", JOBS)
@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_a_key_is_taken_in_either_header(
    client: Client, closed: Ports, header: str, path: str
) -> None:
    key = api_keys.create_key(closed, "o", Role.OPERATOR)
    value = f"Bearer {key}" if header == "authorization" else key

    assert 200 == client.get(path, **{header: value}).status


def test_a_token_of_somebody_elses_hides_no_key(client: Client, closed: Ports) -> None:
    key = api_keys.create_key(closed, "o", Role.OPERATOR)

    answer = client.get("/v1/jobs", **{"authorization": "Bearer of-a-proxy", "x-api-key": key})

    assert 200 == answer.status


def test_a_secret_that_is_nearly_right_is_wrong(client: Client, closed: Ports) -> None:
    key = api_keys.create_key(closed, "o", Role.OPERATOR)
    other = key[:-1] + ("0" if key[-1] != "0" else "1")

    assert [401, 401] == [client.get("/v1/jobs", **{"x-api-key": k}).status for k in (other, "")]


ROUTES = [
    (method, path, entry.view_function)
    for path, methods in app.routes.items()
    for method, entry in methods.items()
    if method != authorizer.UNASKED and path != authorizer.LIVE
]


@pytest.mark.parametrize(
    ("method", "path", "view"), ROUTES, ids=lambda each: getattr(each, "__name__", each)
)
def test_every_route_asks_for_a_key_and_for_a_role(
    client: Client, closed: Ports, method: str, path: str, view: Any
) -> None:
    keys = {role: api_keys.create_key(closed, role.value, role) for role in Role}
    operation = operation_of(view)
    may = authorizer.roles_of(operation.id if operation else path)

    assert 401 == called(client, method, path, "hr_none")
    for role, key in keys.items():
        assert (role not in may) == (called(client, method, path, key) == 403), role


def test_a_preflight_is_asked_for_nothing(client: Client, closed: Ports) -> None:
    assert 204 == client.request("OPTIONS", "/v1/jobs").status


def test_a_revoked_key_is_forgotten_within_a_minute(
    client: Client, closed: Ports, clock: ManualClock
) -> None:
    key = api_keys.create_key(closed, "o", Role.OPERATOR)
    assert 200 == client.get("/v1/jobs", **{"x-api-key": key}).status

    api_keys.revoke_key(closed, "o")
    clock.move(api_keys.REMEMBERED.total_seconds() - 1)
    remembered = client.get("/v1/jobs", **{"x-api-key": key}).status
    clock.move(1)

    assert (200, 401) == (remembered, client.get("/v1/jobs", **{"x-api-key": key}).status)


def test_the_operators_key_of_the_environment_may_do_everything(
    client: Client, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting(ports, monkeypatch, access=Access.KEYS, operator_key="sesame")

    statuses = [client.get(path, **{"x-api-key": "sesame"}).status for path in JOBS]

    assert [200] * 3 == statuses
    assert 401 == client.get("/v1/jobs", **{"x-api-key": "sesam"}).status


def test_where_the_gateway_verifies_signatures_no_key_counts(
    client: Client, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = setting(ports, monkeypatch, access=Access.IAM)
    key = api_keys.create_key(made, "o", Role.OPERATOR)

    assert 401 == client.get("/v1/jobs", **{"x-api-key": key}).status
    client.identity = {"userArn": "arn:aws:iam::1:user/u"}
    assert 200 == client.get("/v1/jobs").status


def test_who_asks_whether_it_lives_needs_no_key(client: Client, closed: Ports) -> None:
    assert [200, 401] == [client.get(p).status for p in (authorizer.LIVE, "/system/health/ready")]


def test_an_open_stage_asks_nobody(client: Client, ports: Ports) -> None:
    assert 200 == client.get("/v1/jobs", **{"x-api-key": "whatever"}).status
