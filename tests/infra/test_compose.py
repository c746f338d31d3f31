"""The compose file: pinned images, loopback only, and the pinned emulator's own version."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from infra.package import ROOT

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "localstack-compose.yml").read_text())["services"]


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
