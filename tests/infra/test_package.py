"""The zip: source and compiled code, the same for the same source."""

from __future__ import annotations

import importlib.util
import marshal
import zipfile
from pathlib import Path

import pytest

from infra import deploy, package

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

    for function in ("APIHandler", "OnTimers", "OnCommands", "Sweep"):
        assert {"Bucket": "b", "Key": "k"} == placed["Resources"][function]["Properties"]["CodeUri"]
        assert package.CODE == template["Resources"][function]["Properties"]["CodeUri"]


def test_code_that_is_placed_already_is_refused() -> None:
    placed = deploy.with_code(package.build_template(), {"Bucket": "b", "Key": "k"})

    with pytest.raises(ValueError, match="expected the code of APIHandler"):
        deploy.with_code(placed, None)
