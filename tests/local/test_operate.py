"""`headrace incidents` and `headrace resolve`, over the fakes and as a person types them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from chalicelib.engine.state import Job
from chalicelib.local import operate
from chalicelib.operations.incidents import Mended
from tests.local.serving import run, serving
from tests.operations.models import typed_task
from tests.operations.stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def stopped(stage: Stage, message: str = "card declined") -> Job:
    """A job that is exhausted."""
    stage.create(typed_task("work", "1"))
    (job,) = stage.activate("work")
    stage.fail(job, message)
    return job


def keys_shown(lines: str) -> list[int]:
    return [int(line.split()[0]) for line in lines.splitlines() if line[:1].isdigit()]


def test_open_incidents_are_listed_in_columns(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    job = stopped(stage, "card\ndeclined " + "x" * 200)

    assert 0 == operate.show_incidents(stage.ports, None)

    head, _, row = capsys.readouterr().out.splitlines()
    assert ["incident", "process", "instance", "element", "job", "since", "message"] == head.split()
    cells = row.split()
    assert ["made", str(job.instance_key), "task", str(job.key)] == cells[1:5]
    assert ["2026-03-02T09:00:00+00:00", "card", "declined"] == cells[5:8]
    assert row.endswith("x…")


def test_without_incidents_it_says_so(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == operate.show_incidents(stage.ports, None)
    assert "no open incidents\n" == capsys.readouterr().out


def test_incidents_of_one_process_are_listed(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(stage)
    operate.show_incidents(stage.ports, "other")
    assert [] == keys_shown(capsys.readouterr().out)
    operate.show_incidents(stage.ports, "made")
    assert 1 == len(keys_shown(capsys.readouterr().out))


def test_many_are_resolved_at_once_and_each_is_answered(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [stopped(stage) for _ in range(2)]
    operate.show_incidents(stage.ports, None)
    newest, oldest = keys_shown(capsys.readouterr().out)

    failed = operate.resolve_incidents(stage.ports, [oldest, 17, newest], Mended(retries=4))

    said = capsys.readouterr()
    assert 1 == failed
    assert f"{oldest}  resolved\n{newest}  resolved\n" == said.out
    assert "17  incident 17 was not found\n" == said.err
    assert [4, 4] == [stage.job(job.key).retries for job in jobs]
    assert 1 == operate.resolve_incidents(stage.ports, [newest], Mended())
    assert f"{newest}  incident {newest} is already resolved\n" == capsys.readouterr().err


def test_variables_are_mended_with_the_resolve(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    key = stage.create(typed_task("work", "=n"), n="many")
    operate.show_incidents(stage.ports, None)
    (incident,) = keys_shown(capsys.readouterr().out)

    assert 0 == operate.resolve_incidents(stage.ports, [incident], Mended(variables={"n": 2}))

    assert [2] == [job.retries for job in stage.jobs_of(key)]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["resolve", "1", "--variables", "[1]"], 1, "--variables: expected a JSON object"),
        (["resolve", "x"], 2, "KEY"),
        (["resolve"], 2, "KEY"),
        (["incidents"], 1, "no server is running on .headrace"),
        (["resolve", "1"], 1, "no server is running on .headrace"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, arguments: list[str], code: int, words: str
) -> None:
    ended = run(*arguments, folder=tmp_path)

    assert (code, True) == (ended.returncode, words in ended.stderr), ended.stderr


@pytest.mark.aws
def test_incidents_of_a_running_server_are_listed_and_resolved(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client
        instance = client.create_instance(client.deploy(typed_task("work", "1")), {})["key"]
        (job,) = client.activate("work", "me", 1, "PT20S")
        client._json("POST", f"/v1/jobs/{job['key']}/fail", {"message": "card declined"})

        listed = run("incidents", "--process", "made", folder=tmp_path)
        (key,) = keys_shown(listed.stdout)
        resolved = run("resolve", str(key), "--retries", "3", folder=tmp_path)

        assert (0, f"{key}  resolved\n") == (resolved.returncode, resolved.stdout), resolved.stderr
        assert [] == client.incidents(int(str(instance)))
        (again,) = client.activate("work", "me", 1, "PT20S")
        assert (job["key"], 3) == (again["key"], again["retries"])
        served.end()


def test_an_instance_stands_for_all_that_is_open_in_it(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    job = stopped(stage)
    key = job.instance_key

    codes = [
        operate.resolve_incidents(stage.ports, [key], Mended(variables={"a": Decimal(1)})),
        operate.resolve_incidents(stage.ports, [key], Mended()),
    ]

    first, second = capsys.readouterr().out.splitlines()
    assert [0, 0] == codes
    assert first.endswith("  resolved") and not first.startswith(str(key))
    assert f"{key}  no open incidents" == second
    assert {"a": Decimal(1)} == stage.variables(key)
    assert [job.key] == [each.key for each in stage.activate("work")]
