"""The compose file: well, pinned images, loopback only, and the pinned emulator's own version."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from infra.package import ROOT
from tests.infra.compose import FILE, faults

TEXT = FILE.read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]


def test_the_file_is_well() -> None:
    assert [] == faults(TEXT)


def test_the_default_is_the_emulator_that_serve_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pinned,) = [
        each.partition("==")[2]
        for each in project["optional-dependencies"]["local"]
        if each.startswith("ministack==")
    ]

    assert f"ministackorg/ministack:{pinned}" == SERVICES["aws"]["image"]
    assert "profiles" not in SERVICES["aws"]


def test_localstack_is_a_profile_of_the_last_image_without_a_token() -> None:
    assert "localstack/localstack:4.14.0" == SERVICES["localstack"]["image"]
    assert ["localstack"] == SERVICES["localstack"]["profiles"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_pinned_healthy_and_on_loopback_only(service: str) -> None:
    assert re.search(r":\d+\.\d+\.\d+$", SERVICES[service]["image"])
    assert ["127.0.0.1:4566:4566"] == SERVICES[service]["ports"]
    assert "/_localstack/health" in SERVICES[service]["healthcheck"]["test"][-1]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("    image: ministackorg/ministack:1.5.33", "    image: ministack", "fixed version"),
        ("ministack:1.5.33", "ministack:latest", "fixed version"),
        ('"127.0.0.1:4566:4566"', '"4566:4566"', "expected 127.0.0.1:HOST:CONTAINER"),
        ("interval: 5s", "interval: 5", "services.aws.healthcheck.interval: expected a duration"),
        ("    profiles: [localstack]\n", "", "expected one without a profile"),
        ("    healthcheck: *health", "    helthcheck: *health", "'helthcheck' is nothing"),
        ("- ministack:/var", "- other:/var", "expected one of ['localstack', 'ministack']"),
        ("${LOCALSTACK_AUTH_TOKEN:-}", "${LOCALSTACK", "expected ${NAME}"),
        ("        - CMD\n", "", "behind CMD or CMD-SHELL"),
        ("services:", "services: [", "expected YAML"),
        ("retries: 12", "retries: many", "expected a whole number"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(before: str, after: str, told: str) -> None:
    assert before in TEXT
    found = faults(TEXT.replace(before, after, 1))

    assert found and any(told in fault for fault in found), found


@pytest.mark.aws
def test_its_health_check_succeeds_where_the_emulator_runs_and_fails_elsewhere(
    emulated_aws: str,
) -> None:
    *_, program = SERVICES["aws"]["healthcheck"]["test"]
    here = program.replace("http://127.0.0.1:4566", emulated_aws)
    assert here != program

    def code(text: str) -> int:
        return subprocess.run(
            [sys.executable, "-c", text], capture_output=True, check=False
        ).returncode

    assert 0 == code(here)
    assert 0 != code(program.replace(":4566", ":1"))
