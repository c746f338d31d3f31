"""The page of quotas tells our constants as they are, and what a stack needs stays below AWS's."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest

import app
from infra import package
from tests.house.source import ROOT

PAGE = (ROOT / "docs" / "quotas.md").read_text(encoding="utf-8")
# `room.module.NAME` or `room.module.Class.field`, and what is said of it, if anything.
NAMED = re.compile(r"`((?:[a-z_]+\.)+)([A-Z][A-Za-z_]*(?:\.[a-z_]+)?)`(?: = ([0-9,]+)( s)?)?")

RESOURCES_MAX = 500  # of a stack (CloudFormation)
TEMPLATE_BYTES_MAX = 1_000_000  # of a template in S3 (CloudFormation)
PATHS_MAX = 300  # resources of a REST API (API Gateway)
POLICIES_MAX = 10_240  # characters of all inline policies of a role, without blanks (IAM)


def value_of(module: str, name: str) -> Any:
    """Return a constant of ours, or the default of a dataclass's field."""
    home = import_module(module if module.startswith("infra") else f"chalicelib.{module}")
    first, _, field = name.partition(".")
    value = getattr(home, first)
    if is_dataclass(value) and field:
        return next(each.default for each in fields(value) if each.name == field)
    return value


def test_the_page_names_many_constants() -> None:
    assert 25 < len(NAMED.findall(PAGE))


@pytest.mark.parametrize("named", sorted(set(NAMED.findall(PAGE))), ids="".join)
def test_a_constant_is_as_the_page_says(named: tuple[str, str, str, str]) -> None:
    module, name, said, unit = named
    found = value_of(module.rstrip("."), name)

    if said:
        number = int(said.replace(",", ""))
        assert (timedelta(seconds=number) if unit else number) == found


def test_a_stack_stays_below_the_quotas_of_a_stack() -> None:
    template = package.build_template()

    assert len(template["Resources"]) < RESOURCES_MAX
    assert len(json.dumps(template)) < TEMPLATE_BYTES_MAX


def test_the_api_stays_below_the_quota_of_paths() -> None:
    steps = [route.strip("/").split("/") for route in app.app.routes]
    paths = {tuple(each[:length]) for each in steps for length in range(1, len(each) + 1)}

    assert len(paths) < PATHS_MAX


def test_the_policies_of_a_role_stay_below_theirs() -> None:
    resources = package.build_template()["Resources"].values()
    roles = [each["Properties"] for each in resources if each["Type"] == "AWS::IAM::Role"]

    for role in roles:
        written = json.dumps([each["PolicyDocument"] for each in role["Policies"]])
        assert len(re.sub(r"\s", "", written)) < POLICIES_MAX
