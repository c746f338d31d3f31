"""Every alarm is explained, and watches what there is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infra import names, template, watching
from tests.house.source import ROOT

RESOURCES = template.extension()["Resources"]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
MADE_BY_CHALICE = set(names.FUNCTION_NAMES)


def referred(value: Any) -> set[str]:
    """Return the resources that a value refers to."""
    if isinstance(value, list):
        return {name for each in value for name in referred(each)}
    if not isinstance(value, dict):
        return set()
    named = {value["Ref"]} if "Ref" in value else set()
    named |= {value["Fn::GetAtt"][0]} if "Fn::GetAtt" in value else set()
    return named | {name for each in value.values() for name in referred(each)}


def test_the_run_book_has_a_paragraph_for_each_alarm_and_no_other() -> None:
    alarms = {
        name for name, each in RESOURCES.items() if each.get("Type") == "AWS::CloudWatch::Alarm"
    }
    told = re.findall(r"^\*\*(\w+)\.\*\* ", RUNBOOK, re.MULTILINE)

    assert watching.WATCHED.keys() == alarms
    assert sorted(alarms) == sorted(told)


@pytest.mark.parametrize("name", watching.WATCHED)
def test_an_alarm_watches_what_the_template_makes_and_names_its_paragraph(name: str) -> None:
    properties = RESOURCES[name]["Properties"]

    assert properties["AlarmDescription"].endswith(f"docs/runbook.md, {name}")
    assert referred(properties) <= RESOURCES.keys() | MADE_BY_CHALICE
    assert "notBreaching" == properties["TreatMissingData"]


def test_what_is_counted_of_the_log_is_what_alarms_look_at() -> None:
    counted = {
        each["Properties"]["MetricTransformations"][0]["MetricName"]["Fn::Sub"]
        for each in RESOURCES.values()
        if each.get("Type") == "AWS::Logs::MetricFilter"
    }

    assert {w.metric for w in watching.WATCHED.values() if w.namespace == watching.LINES} == counted


def test_the_lines_that_are_counted_are_those_that_are_written() -> None:
    sources = {
        name: (ROOT / "chalicelib" / name).read_text()
        for name in ("operations/sweep.py", "telemetry/lines.py")
    }

    assert '"mended losses", extra={"mended"' in sources["operations/sweep.py"]
    assert '"oldest job", extra={**told, "waited_s":' in sources["operations/sweep.py"]
    assert 2 == sources["telemetry/lines.py"].count("logging.ERROR")
    assert 2 <= sources["telemetry/lines.py"].count('"incident_key": ')


def test_the_dashboard_is_json_of_widgets_that_do_not_overlap() -> None:
    body = json.loads(RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])

    places = [(widget["x"], widget["y"]) for widget in body["widgets"]]
    assert len(places) == len(set(places)) >= 8
