"""The zip: source and compiled code, the same for the same source."""

from __future__ import annotations

import importlib.util
import json
import marshal
import zipfile
from pathlib import Path

import pytest

from chalicelib.settings import BadSetting
from infra import deploy, names, package

SOURCE = {"app.py": "answer = 42\n", "chalicelib/__init__.py": "", "chalicelib/data.json": "{}"}
LAPTOP = {"chalicelib/cli.py": "", "chalicelib/local/__init__.py": ""}


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (SOURCE | LAPTOP).items():
            archive.writestr(name, text)
        archive.writestr("chalicelib/__pycache__/stale.cpython-39.pyc", b"stale")
    return path


def compiled(tmp_path: Path, name: str = "target.zip") -> zipfile.ZipFile:
    target = tmp_path / name
    package.compile_zip(zipped(tmp_path / "source.zip"), target)
    return zipfile.ZipFile(target)


def test_every_module_but_the_laptops_is_there_as_source_and_compiled(tmp_path: Path) -> None:
    with compiled(tmp_path) as archive:
        held = set(archive.namelist())

    tag = importlib.util.cache_from_source("app.py").removeprefix("__pycache__/app")
    assert {
        *SOURCE,
        f"__pycache__/app{tag}",
        f"chalicelib/__pycache__/__init__{tag}",
    } == held


def test_compiled_code_is_never_checked_against_its_source(tmp_path: Path) -> None:
    with compiled(tmp_path) as archive:
        pyc = archive.read(importlib.util.cache_from_source("app.py"))

    assert 0b01 == int.from_bytes(pyc[4:8], "little")  # PEP 552: hash-based, unchecked
    assert "/var/task/app.py" == marshal.loads(pyc[16:]).co_filename


def test_the_same_source_makes_the_same_zip(tmp_path: Path) -> None:
    compiled(tmp_path, "one.zip").close()
    compiled(tmp_path, "two.zip").close()

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_code_is_placed_in_every_function() -> None:
    template = package.build_template()

    placed = deploy.with_code(template, {"Bucket": "b", "Key": "k"})

    for function in ("APIHandler", "OnTimers", "OnCommands", "OnRuns", "OnRouting", "Sweep"):
        assert {"Bucket": "b", "Key": "k"} == placed["Resources"][function]["Properties"]["CodeUri"]
        assert package.CODE == template["Resources"][function]["Properties"]["CodeUri"]


def test_code_that_is_placed_already_is_refused() -> None:
    placed = deploy.with_code(package.build_template(), {"Bucket": "b", "Key": "k"})

    with pytest.raises(ValueError, match="expected the code of APIHandler"):
        deploy.with_code(placed, None)


def configure(folder: Path, **variables: str) -> None:
    """Write a configuration as an operator does."""
    config = json.loads((package.ROOT / ".chalice" / "config.json").read_text())
    (folder / ".chalice").mkdir()
    (folder / ".chalice" / "config.json").write_text(
        json.dumps({**config, "environment_variables": variables})
    )


def test_what_the_configuration_sets_is_what_every_function_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, JOBS_MAX_RETRIES="7")
    monkeypatch.setattr(package, "ROOT", tmp_path)

    assert {"JOBS_MAX_RETRIES": "7"} == package.configured()
    for function in names.FUNCTION_NAMES:
        properties = package.build_template()["Resources"][function]["Properties"]
        assert "7" == properties["Environment"]["Variables"]["JOBS_MAX_RETRIES"]
        assert "HEADRACE_TABLE" in properties["Environment"]["Variables"]


def test_alarms_are_mailed_from_the_operators_address_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, SCHEDULER_ALARM_SENDER="alarms@example.com")
    monkeypatch.setattr(package, "ROOT", tmp_path)

    resources = package.build_template()["Resources"]

    may_mail = {
        function: statement
        for function in names.FUNCTION_NAMES
        for policy in resources[f"{function}Role"]["Properties"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "ses:SendEmail" in statement["Action"]
    }
    assert [names.RUNS] == list(may_mail)
    assert {"StringEquals": {"ses:FromAddress": "alarms@example.com"}} == may_mail[names.RUNS][
        "Condition"
    ]
    assert ["identity/alarms@example.com", "identity/example.com"] == [
        identity["Fn::Sub"].rpartition(":")[2] for identity in may_mail[names.RUNS]["Resource"]
    ]


def test_a_setting_that_makes_no_sense_is_not_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path, JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS="1001")
    monkeypatch.setattr(package, "ROOT", tmp_path)

    with pytest.raises(
        BadSetting, match=r"jobManager.defaultMaxActiveJobs \(JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS\)"
    ):
        package.build_template()
