"""`headrace demo` and `headrace run`, as a person sees them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import boto3
import pytest

from chalicelib.local.emulator import LOOPBACK, REGION
from tests.local.serving import environment, run, serving
from tests.patience import PATIENCE_S, eventually
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
    ended = run("run", str(SHIP_PARCEL), "--timeout", str(PATIENCE_S), folder=tmp_path)

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


def test_the_demo_runs_on_an_emulated_aws_that_is_there(tmp_path: Path) -> None:
    """The emulator is a process of its own, as it is in a container; nothing of ours is in it."""
    with emulator_of_its_own(tmp_path / "aws") as endpoint:
        ended = run("demo", "--endpoint-url", endpoint, folder=tmp_path)
        left = boto3.client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        ).list_tables()["TableNames"]

    assert 0 == ended.returncode, ended.stdout + ended.stderr
    assert "5 of 5 orders reached their end" in ended.stdout
    assert [] == left


def test_the_demo_says_when_no_aws_is_there(tmp_path: Path) -> None:
    ended = run("demo", "--endpoint-url", "http://127.0.0.1:1", folder=tmp_path)

    assert 1 == ended.returncode
    assert "Could not connect to the endpoint URL" in ended.stderr
    assert 1 == len(ended.stderr.splitlines())


@contextmanager
def emulator_of_its_own(folder: Path) -> Iterator[str]:
    """Run the emulator as its own command does, on a free port; give its endpoint."""
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    settings = {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": LOOPBACK,
        "MINISTACK_HOST": LOOPBACK,
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "STATE_DIR": str(folder / "state"),
        "S3_DATA_DIR": str(folder / "s3"),
        "DOCKER_HOST": f"unix://{folder}/no-docker.sock",  # or it looks for containers
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-c", "from ministack.app import main; main()"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(**settings), stderr=subprocess.DEVNULL
    ) as process:
        try:
            health = f"http://{LOOPBACK}:{port}/_localstack/health"
            assert eventually(lambda: process.poll() is not None or answers(health))
            assert process.poll() is None
            yield f"http://{LOOPBACK}:{port}"
        finally:
            process.terminate()  # it ends what it started, which a kill would leave


def answers(url: str) -> bool:
    """Say whether something answers there."""
    with suppress(OSError), urllib.request.urlopen(url):
        return True
    return False
