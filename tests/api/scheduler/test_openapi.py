"""What the document says of a definition is what reading one enforces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.api.scheduler import shapes
from chalicelib.api.schema import Object
from tests.api.client import Client
from tests.api.published import published
from tests.api.scheduler.driver import CALL, JOBS, create
from tests.api.scheduler.test_jobs import WHOLE
from tests.api.scheduler.test_refusals import WRONG
from tests.api.test_openapi import reads, validator

PREFIX = "/scheduler/v1"
READ = (shapes.CREATE_JOB, shapes.REPLACE_JOB, shapes.PATCH_JOB)
SCHEDULES: list[Any] = [
    {"cron": "* * * * *"},
    {"cron": "* * * * *", "timezone": "Europe/Paris"},
    {"every_ms": 60_000},
    {"run_at": "2030-01-01T00:00:00Z"},
    None,
]


@pytest.mark.parametrize("shape", READ, ids=lambda shape: shape.name)
def test_a_body_is_refused_by_reading_if_and_only_if_by_the_document(shape: Object) -> None:
    valid = validator(published(PREFIX), shape)
    bodies: list[Any] = [
        *({**CALL, **members} for members, _ in WRONG),
        *({**CALL, "schedule": schedule} for schedule in SCHEDULES),
        *({}, CALL, WHOLE, {"name": "a"}, {"schedule": None}, [], "text", None),
    ]
    for body in bodies:
        assert valid.is_valid(body) == reads(shape, body), body


def test_a_job_as_it_is_shown_is_what_a_put_takes_and_a_post_does_not(client: Client) -> None:
    shown = json.loads(client.get(f"{JOBS}/{create(client, **WHOLE)['id']}").text)

    assert validator(published(PREFIX), shapes.REPLACE_JOB).is_valid(shown)
    assert not validator(published(PREFIX), shapes.CREATE_JOB).is_valid(shown)


def test_parameters_are_named_as_the_members_are() -> None:
    paths = published(PREFIX)["paths"]

    assert {"/jobs", "/jobs/{job_id}", "/jobs/{job_id}/invocations/count"} <= paths.keys()
    (job_id, pool_idx) = paths["/jobs/{job_id}/unlock"]["post"]["parameters"]
    assert ("job_id", True) == (job_id["name"], job_id["required"])
    assert ("pool_idx", True) == (pool_idx["name"], pool_idx["required"])
