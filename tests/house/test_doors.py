"""Importing `app` is cheap: no client is made, and what few functions need is not loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.house.source import ROOT

NOT_LOADED = (
    "aws_lambda_powertools",
    "boto3",
    "botocore",
    "chalicelib.bpmn.parser",
    "chalicelib.bpmn.refusals",
    "chalicelib.runners",
    "chalicelib.telemetry",
    "chalicelib.dmn",
    "httpcore",
    "hypercorn",
    "infra",
    "lxml",
    "ministack",
    "moto",
    "pydantic",
)
IMPORT_APP = """
import json, sys
import app
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.skipif(not (ROOT / "app.py").is_file(), reason="app.py is not written yet")
def test_importing_the_app_loads_no_client_and_no_parser() -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("HEADRACE_")}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_APP],
        cwd=ROOT,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    loaded = json.loads(done.stdout)
    assert [] == [name for name in NOT_LOADED if name in loaded]
