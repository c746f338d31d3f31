"""A secret that was given is never shown again, and need not be given again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.api.scheduler.masks import MASK
from chalicelib.scheduler.definition import Auth
from chalicelib.store import scheduled_jobs
from tests.api.client import Client
from tests.api.scheduler.driver import CALL, JOBS, create, get, patch, post, put
from tests.operations.scheduling import Scheduling

SECRET = "s3cr3t"
BASIC = {"type": "basic", "username": "me", "password": SECRET}
SECRETS: list[tuple[Any, str]] = [
    (BASIC, "password"),
    ({"type": "bearer", "token": SECRET}, "token"),
    ({"type": "header", "header": "X-Key", "value": SECRET}, "value"),
    ({"type": "unheard-of", "token": SECRET}, "token"),
]


def stored(stage: Scheduling, job: Any) -> Auth:
    found = scheduled_jobs.read(stage.table, job["id"])
    assert found is not None
    return found.http.auth


@pytest.mark.parametrize(("auth", "secret"), SECRETS, ids=str)
def test_no_answer_shows_a_secret(
    client: Client, stage: Scheduling, auth: Any, secret: str
) -> None:
    job = create(client, auth=auth)

    assert {**auth, secret: MASK} == job["auth"] == get(client, job)["auth"]
    for answer in (
        client.get(JOBS),
        patch(client, job, name="other"),
        put(client, job, {**CALL, "auth": auth}),
        post(client, job, "pause"),
        post(client, job, "resume"),
    ):
        assert MASK in answer.text and SECRET not in answer.text
    assert SECRET == getattr(stored(stage, job), secret)


@pytest.mark.parametrize("reference", ["ssm:/shop/token", "secretsmanager:shop/token"])
def test_a_reference_is_shown(client: Client, reference: str) -> None:
    auth = {"type": "bearer", "token": reference}

    assert auth == create(client, auth=auth)["auth"]


@pytest.mark.parametrize("almost", ["ssm:", "secretsmanager:", "SSM:/a", " ssm:/a", "vault:a"])
def test_what_is_no_reference_is_a_secret(client: Client, almost: str) -> None:
    assert MASK == create(client, auth={"type": "bearer", "token": almost})["auth"]["token"]


@pytest.mark.parametrize(("auth", "secret"), SECRETS, ids=str)
def test_the_mask_keeps_the_secret_that_is_stored(
    client: Client, stage: Scheduling, auth: Any, secret: str
) -> None:
    job = create(client, auth=auth)

    assert 200 == put(client, job, job).status
    assert SECRET == getattr(stored(stage, job), secret)
    assert 200 == patch(client, job, auth={**auth, "username": "you", secret: MASK}).status
    assert (SECRET, "you") == (
        getattr(stored(stage, job), secret),
        stored(stage, job).username,
    )
    assert 200 == patch(client, job, auth={**auth, secret: "new"}).status
    assert "new" == getattr(stored(stage, job), secret)


def test_auth_that_is_replaced_without_its_mask_forgets_the_secret(
    client: Client, stage: Scheduling
) -> None:
    job = create(client, auth=BASIC)
    assert 200 == patch(client, job, name="other").status
    assert SECRET == stored(stage, job).password

    assert 200 == put(client, job, CALL).status

    assert Auth() == stored(stage, job)


def test_the_mask_of_nothing_is_refused(client: Client) -> None:
    auth = {"type": "basic", "username": "me", "password": MASK}
    job = create(client, auth={"type": "bearer", "token": SECRET})

    for answer in (
        client.post(JOBS, {**CALL, "auth": auth}),
        put(client, job, {**CALL, "auth": auth}),
        patch(client, job, auth=auth),
    ):
        assert (400, "auth.password") == (answer.status, answer.json["field"])


def test_a_refusal_does_not_repeat_a_secret(client: Client) -> None:
    for auth in ({**BASIC, "password": f"{SECRET}\n"}, {**BASIC, "pasword": SECRET}):
        answer = client.post(JOBS, {**CALL, "auth": auth})

        assert 400 == answer.status and SECRET not in answer.text


def test_what_may_hold_a_secret_is_not_logged_with_bodies() -> None:
    from chalicelib import logs  # noqa: PLC0415

    body = {**CALL, "auth": BASIC, "headers": {"a": SECRET}, "env": {"A": SECRET}, "body": SECRET}

    logged = logs._body(json.dumps(body).encode())

    assert logged is not None and '"name":"drain"' in logged and SECRET not in logged
