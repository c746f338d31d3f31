"""What most stories about scheduled jobs begin with, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.api.client import Answer, Client
from tests.operations.scheduling import Scheduling

JOBS = "/scheduler/v1/jobs"
CALL = {"name": "drain", "type": "http", "url": "https://shop.example/drain"}


def create(client: Client, **members: Any) -> Any:
    """Make a job that can be called, and return it."""
    answer = client.post(JOBS, {**CALL, **members})
    assert 201 == answer.status, answer.text
    return answer.json


def get(client: Client, job: Any, rest: str = "") -> Any:
    """Return a job, or what is under it, that must be there."""
    answer = client.get(f"{JOBS}/{job['id']}{rest}")
    assert 200 == answer.status, answer.text
    return answer.json


def put(client: Client, job: Any, body: Any) -> Answer:
    return client.request("PUT", f"{JOBS}/{job['id']}", body)


def patch(client: Client, job: Any, **members: Any) -> Answer:
    return client.patch(f"{JOBS}/{job['id']}", members)


def post(client: Client, job: Any, verb: str) -> Answer:
    return client.post(f"{JOBS}/{job['id']}/{verb}")


def allow_scripts(stage: Scheduling) -> None:
    """Turn the setting on."""
    stage.ports = replace(stage.ports, settings=replace(stage.ports.settings, scripts=True))
