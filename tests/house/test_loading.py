"""No function loads what it does not use: a cold start pays for every module."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from chalicelib import wiring
from infra import names, package
from tests.house.loading import FIRST_CALLS
from tests.house.source import ROOT

# What nothing needs before it calls AWS, reads a model, or writes its first line after the answer.
NEVER = (
    *("boto3", "lxml", "aws_lambda_powertools", "httpcore", "jsonschema"),
    *("chalicelib.dmn.reader", "chalicelib.bpmn.parser", "chalicelib.local", "infra"),
)
_DIALECTS = tuple(f"chalicelib.api.{name}" for name in ("zenbpm", "priostack", "scheduler"))
_HTTP = ("chalicelib.api.http", "chalicelib.api.schema", "chalicelib.api.authorizer", *_DIALECTS)
_SCHEDULER = ("chalicelib.scheduler", "chalicelib.runners", "chalicelib.delivery.scheduler")
_TURNS = ("chalicelib.operations.turns", "chalicelib.engine.handle")
NOT_LOADED: dict[str, tuple[str, ...]] = {
    names.API: (),
    names.HAND_OUT: (
        *("chalicelib.api.scheduler.jobs", "chalicelib.api.priostack.definitions"),
        *("chalicelib.api.zenbpm.instances", "chalicelib.operations.definitions", "chalicelib.dmn"),
        *(*_TURNS, *_SCHEDULER, "chalicelib.routing", "chalicelib.operations.routing"),
    ),
    names.TIMERS: (*_HTTP, *_SCHEDULER, "chalicelib.operations.sweep", "chalicelib.routing"),
    names.COMMANDS: (
        *_HTTP,
        *_SCHEDULER,
        "chalicelib.operations.sweep",
        "chalicelib.triggers.timers",
        "chalicelib.triggers.runs",
    ),
    names.RUNS: (*_HTTP, *_TURNS, "chalicelib.routing", "chalicelib.triggers.commands"),
    names.ROUTING: (*_HTTP, "chalicelib.operations.sweep", "chalicelib.triggers.runs"),
    names.SWEEP: (*_HTTP, "chalicelib.triggers.timers", "chalicelib.triggers.runs"),
}
TELL = "\nimport sys, json; print(json.dumps(sorted(sys.modules)))"


def loaded(function: str) -> list[str]:
    """Return the modules that a function has loaded by the end of its first call, but for AWS's."""
    loading = FIRST_CALLS[function]
    stage = names.environment(stage="house", account="000000000000", region="us-east-1")
    ran = subprocess.run(
        [sys.executable, "-c", loading.code + TELL],
        env={**os.environ, **stage, **loading.environment},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return list(json.loads(ran.stdout))


def test_every_function_is_looked_at_by_the_handler_that_it_has() -> None:
    resources = package.build_template()["Resources"]

    assert names.FUNCTION_NAMES.keys() == FIRST_CALLS.keys() == NOT_LOADED.keys()
    for function, loading in FIRST_CALLS.items():
        handler = resources[function]["Properties"]["Handler"]
        assert handler == loading.environment[wiring.HANDLER]


@pytest.mark.parametrize("function", names.FUNCTION_NAMES)
def test_a_function_loads_nothing_that_it_does_not_use(function: str) -> None:
    spare = (*NEVER, *NOT_LOADED[function])

    found = loaded(function)

    assert [] == [
        name
        for name in found
        if any(name == each or name.startswith(f"{each}.") for each in spare)
        and name not in _DIALECTS  # that name is a folder and its prefix
    ]
    assert "app" in found
