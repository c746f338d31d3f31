"""`headrace demo` and `headrace run`, as a person sees them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.local.serving import run, serving
from tests.play import DIAGRAMS

pytestmark = pytest.mark.aws

SHARED = Path(os.environ.get("HEADRACE_SHARED", "../shared")).resolve()
SHIP_PARCEL = SHARED / "bpmn" / "020_zeebe-simple-monitor_ship-parcel.bpmn"
SEQUENCE = DIAGRAMS / "sequence.bpmn"
needs_shared = pytest.mark.skipif(not SHIP_PARCEL.exists(), reason="HEADRACE_SHARED is not here")


def test_the_demo_brings_every_order_to_its_end(tmp_path: Path) -> None:
    ended = run("demo", folder=tmp_path)

    assert 0 == ended.returncode, ended.stderr
    rows = [line for line in ended.stdout.splitlines() if " completed " in line]
    assert 5 == len(rows)
    assert all("reserve-goods" in row and "nobody-answers" in row for row in rows)
    assert {True} == {("ship-insured" in row) != ("ship-parcel" in row) for row in rows}
    assert "5 of 5 orders reached their end" in ended.stdout
    assert [] == list(tmp_path.iterdir())


def test_the_demo_runs_on_a_server_that_is_there(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        ended = run("demo", "--url", served.client.url, folder=tmp_path)
        served.end()

    assert 0 == ended.returncode, ended.stderr


def test_the_demo_says_when_the_aws_of_a_server_is_unknown(tmp_path: Path) -> None:
    ended = run("demo", "--url", "http://127.0.0.1:1", folder=tmp_path)

    assert 1 == ended.returncode
    assert "no server is running on .headrace" in ended.stderr
    assert 1 == len(ended.stderr.splitlines())


def test_a_model_runs_on_a_server_of_which_no_more_is_known_than_its_url(tmp_path: Path) -> None:
    (tmp_path / "serving").mkdir()
    with serving(tmp_path / "serving") as served:
        ended = run("run", str(SEQUENCE), "--url", served.client.url, folder=tmp_path)
        served.end()

    assert 0 == ended.returncode, ended.stderr
    assert "state      completed" in ended.stdout


@needs_shared
@pytest.mark.parametrize(
    ("price", "task"), [(250, "Ship Parcel with Transport Insurance"), (20, "Ship Parcel")]
)
def test_a_model_of_somebody_elses_runs(tmp_path: Path, price: int, task: str) -> None:
    ended = run(
        "run", str(SHIP_PARCEL), "--variables", f'{{"totalPrice": {price}}}', folder=tmp_path
    )

    assert 0 == ended.returncode, ended.stderr
    path = [line for line in ended.stdout.splitlines() if line.endswith("service task")]
    assert [task] == [" ".join(line.split()[1:-2]) for line in path]
    assert "state      completed" in ended.stdout


@needs_shared
def test_an_instance_that_cannot_go_on_fails_the_command(tmp_path: Path) -> None:
    ended = run("run", str(SHIP_PARCEL), "--timeout", "5", folder=tmp_path)

    assert 1 == ended.returncode
    assert "incident at ExclusiveGateway_0zlm4ir" in ended.stdout, ended.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.bpmn"], "missing.bpmn: No such file or directory"),
        (["text.bpmn"], "text.bpmn: expected XML"),
        (["empty.bpmn"], "empty.bpmn: "),
        (["text.bpmn", "--variables", "{half"], "--variables: expected a JSON object"),
        (["text.bpmn", "--variables", "[1]"], "--variables: expected a JSON object, found '[1]'"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "text.bpmn").write_text("no model")
    (tmp_path / "empty.bpmn").write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>'
    )

    ended = run("run", *arguments, folder=tmp_path)

    assert (1, "") == (ended.returncode, ended.stdout)
    assert ended.stderr.startswith(f"headrace: {said}")
    assert 1 == len(ended.stderr.splitlines())
