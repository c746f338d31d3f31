"""The zip holds all that Lambda needs beside what its runtime brings."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from infra import names

pytestmark = pytest.mark.aws

# What the runtime for Python brings (Lambda Developer Guide, "Python", "Runtime-included SDK").
RUNTIME = ("boto3", "botocore", "s3transfer", "urllib3", "dateutil", "six.py", "jmespath")

# What the functions do on their first invocation, without a call to AWS.
USE = """
import sys
sys.path[:0] = [{code!r}, {runtime!r}]
import app
from chalicelib import bpmn, feel, logs, wiring
from chalicelib.profile import Profile
wiring.ports()
logs.logger()
try:
    bpmn.parse(b"<no-bpmn/>", Profile.ZENBPM)
except Exception as error:
    assert str(error).startswith("expected a BPMN model"), error
uncompiled = [
    name for name, module in sys.modules.items()
    if (getattr(module, "__file__", None) or "").startswith({code!r} + "/")
    and module.__file__.endswith(".py") and not module.__cached__
]
foreign = sorted(
    name for name, module in sys.modules.items()
    if "site-packages" in (getattr(module, "__file__", None) or "")
)
print(uncompiled, foreign)
"""


def test_every_module_is_compiled(code: Path) -> None:
    with zipfile.ZipFile(code) as archive:
        held = set(archive.namelist())

    tag = sys.implementation.cache_tag
    ours = {
        name for name in held if name.endswith(".py") and name.startswith(("app", "chalicelib"))
    }
    compiled = {
        str(Path(name).parent / "__pycache__" / f"{Path(name).stem}.{tag}.pyc") for name in ours
    }
    assert len(ours) > 50
    assert compiled <= held


def test_tests_and_the_laptop_stay_at_home(code: Path) -> None:
    with zipfile.ZipFile(code) as archive:
        held = archive.namelist()

    away = ("tests/", "infra/", "examples/", "bench/", "chalicelib/local/", "ministack/", "boto")
    assert [] == [name for name in held if name.startswith(away)]


def test_it_is_far_below_what_lambda_takes(code: Path) -> None:
    with zipfile.ZipFile(code) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())

    assert code.stat().st_size < 50_000_000  # zipped, for direct upload (AWS quota)
    assert unpacked < 250_000_000  # unzipped (AWS quota)


def test_it_runs_with_nothing_but_the_runtime(code: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(code) as archive:
        archive.extractall(tmp_path / "task")
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    for package in RUNTIME:
        (runtime / package).symlink_to(Path(sysconfig.get_path("purelib")) / package)
    environment = names.environment(stage="zip", account="000000000000", region="us-east-1")

    program = USE.format(code=str(tmp_path / "task"), runtime=str(runtime))
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={**environment, "AWS_DEFAULT_REGION": "us-east-1", "PATH": os.defpath},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "[] []") == (ran.returncode, ran.stdout.strip()), ran.stderr
