"""`headrace serve`, as a process: how it starts, how it ends, and what it remembers."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

import pytest

from chalicelib.local import emulator, front, server, snapshots
from chalicelib.local.client import Client, Refused, Unreachable
from chalicelib.local.demo import EXAMPLE, LAMBDA_TYPE, MODEL
from chalicelib.local.workers import LambdaWorker
from infra.package import ROOT
from tests.aws.conftest import EmulatedSession
from tests.local.serving import (
    END_S,
    children,
    command,
    environment,
    listeners,
    run,
    serving,
)
from tests.patience import PATIENCE_S, eventually, has_ended

pytestmark = pytest.mark.aws

ONE_TASK = (ROOT / "tests" / "diagrams" / "one_task.bpmn").read_bytes()
TABLE = "headrace-local"
ITEMS = 20_000  # with which a server still ends in time (issue 2)
POLL = {"type": "nothing", "clientId": "w", "maxJobs": 1, "waitFor": "PT20S"}


def started(client: Client) -> int:
    """Deploy the smallest model with a job, and start an instance of it."""
    return int(client.create_instance(client.deploy(ONE_TASK), {"amount": 7})["key"])


def job_type(client: Client, instance: int) -> str:
    (job,) = client.jobs(instance)
    return str(job["type"])


def finish(client: Client, instance: int) -> str:
    """Work on jobs until the instance's own was done; return the instance's state then."""
    kind = job_type(client, instance)
    for _ in range(5):
        for job in client.activate(kind, "worker", 10, "PT20S"):
            client.complete(int(job["key"]), {})
        if client.instance(instance)["state"] != "active":
            break
    return str(client.instance(instance)["state"])


def test_it_serves_says_so_once_and_ends_with_all_it_started(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        instance = started(served.client)
        ports = listeners(served.process.pid)
        host = served.client.url.removeprefix("http://")
        with closing(http.client.HTTPConnection(host, timeout=PATIENCE_S)) as polling:
            headers = {"Content-Type": "application/json"}
            polling.request("POST", "/v1/jobs/activate", json.dumps(POLL), headers)
            began = time.monotonic()

            assert "completed" == finish(served.client, instance)  # what is asked later is done
            assert served.end() < END_S
            assert time.monotonic() - began < 20  # nobody waited for the poll's own end
            answer = polling.getresponse()
            assert (200, []) == (answer.status, json.load(answer)["jobs"])

        assert 2 == len(ports) == len([port for port in ports if port.startswith("0100007F:")])
        assert 0 == served.process.returncode
        assert served.process.stdout is not None
        assert "" == served.process.stdout.read()
        with pytest.raises(Unreachable):
            served.client.get("/system/health/live")
        assert [] == list(tmp_path.iterdir())


def test_an_interrupt_ends_it_as_well(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        assert served.end(signal.SIGINT) < END_S
        assert 0 == served.process.returncode


def test_what_an_end_waits_for_has_bounds() -> None:
    """In the order of `Server.stop`; a checkpoint is work, and waits for nobody."""
    assert server.DRAIN_S + emulator.STOP_TIMEOUT_S + front.ACCEPT_POLL_S < END_S


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_starts_ends_it_as_well(tmp_path: Path, number: int) -> None:
    """It starts as long as it reads where the emulator listened, which nobody writes here."""
    checkpoint = tmp_path / "state" / "checkpoints" / "000000001"
    checkpoint.mkdir(parents=True)
    os.mkfifo(checkpoint / snapshots.ENDPOINT_FILE)
    arguments = command("serve", "--port", "0", "--state-dir", str(tmp_path / "state"))
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        writing: list[int] = []

        def is_reading() -> bool:
            with suppress(OSError):  # nobody has opened the other end yet
                flags = os.O_WRONLY | os.O_NONBLOCK
                writing.append(os.open(checkpoint / snapshots.ENDPOINT_FILE, flags))
            return bool(writing)

        try:
            assert eventually(is_reading)
            process.send_signal(number)
            said, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
            for pipe in writing:
                os.close(pipe)

        assert ("", 130) == (said, process.returncode)


def test_a_poll_that_was_abandoned_takes_no_job(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        kind = job_type(served.client, started(served.client))
        path = f"/api/v1/jobs/activate?type={kind}&requestTimeout=20000"

        def polled() -> list[object]:
            with urllib.request.urlopen(f"{served.client.url}{path}") as answer:
                return list(json.load(answer)["jobs"])

        assert 1 == len(polled())
        host, _, port = served.client.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as abandoned:
            abandoned.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            time.sleep(1)
        started(served.client)
        time.sleep(1)

        assert 1 == len(polled())
        served.end()


def test_it_leaves_no_process_behind(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client
        client.create_instance(client.deploy(MODEL.read_bytes()), {"total": 1})
        queue = run("queue", LAMBDA_TYPE, folder=tmp_path)
        assert 0 == queue.returncode, queue.stderr
        worker = LambdaWorker(session(tmp_path), "worker", EXAMPLE / "lambda_worker.py")
        worker.subscribe(queue.stdout.strip(), {"HEADRACE_URL": client.url})
        assert eventually(lambda: children(served.process.pid))
        processes = children(served.process.pid)

        assert served.end() < END_S

        assert eventually(lambda: all(has_ended(pid) for pid in processes))


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        ended = run("serve", "--ephemeral", "--port", port, folder=tmp_path)

    assert (1, "") == (ended.returncode, ended.stdout)
    assert [f"headrace: port {port} of 127.0.0.1 is in use; choose another with --port"] == (
        ended.stderr.splitlines()
    )


def test_another_host_demands_a_key(tmp_path: Path) -> None:
    ended = run("serve", "--ephemeral", "--host", "0.0.0.0", folder=tmp_path)

    assert 1 == ended.returncode
    assert "set HEADRACE_API_KEY" in ended.stderr
    assert 1 == len(ended.stderr.splitlines())


def preflight(url: str) -> tuple[int, str | None]:
    """Ask as a browser does for a page of another origin: without the key."""
    headers = {"Origin": "https://page.example", "Access-Control-Request-Method": "GET"}
    request = urllib.request.Request(url, headers=headers, method="OPTIONS")
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return answer.status, answer.headers["Access-Control-Allow-Origin"]


def test_with_a_key_it_serves_other_hosts_and_only_who_has_it(tmp_path: Path) -> None:
    arguments = ("--ephemeral", "--host", "0.0.0.0")
    with serving(tmp_path, *arguments, HEADRACE_API_KEY="sesame") as served:
        url = served.client.url.replace("0.0.0.0", "127.0.0.1")
        ports = sorted(listeners(served.process.pid))

        with pytest.raises(Refused, match="UNAUTHORIZED") as refused:
            Client(url).get("/system/health/ready")

        assert 401 == refused.value.status
        assert "UP" == Client(url, "sesame").get("/system/health/ready")["status"]
        assert (204, "*") == preflight(f"{url}/v1/jobs")
        made = run("keys", "create", "w", "--role", "worker", folder=tmp_path)
        assert (1, True) == (made.returncode, "no server is running" in made.stderr)
        assert ["00000000", "0100007F"] == [port.partition(":")[0] for port in ports]
        served.end()


def test_a_served_stage_asks_for_the_keys_that_were_made_for_it(tmp_path: Path) -> None:
    with serving(tmp_path, HEADRACE_API_KEY="sesame") as served:
        made = run("keys", "create", "w", "--role", "worker", folder=tmp_path)
        worker = Client(served.client.url, made.stdout.strip())

        assert [] == worker.activate("t", "c", 1, "PT0S")
        with pytest.raises(Refused, match="FORBIDDEN") as refused:
            worker.get("/v1/process-instances")

        assert 403 == refused.value.status
        assert "w     worker  " in run("keys", "list", folder=tmp_path).stdout
        served.end()


def test_names_of_any_characters_reach_the_operation_as_they_are(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        client = served.client
        instance = int(
            client.create_instance(client.deploy(ONE_TASK), {"a/b c%41?": 1, "plain": 2})["key"]
        )

        path = f"{client.url}/v1/process-instances/{instance}/variables/a%2Fb%20c%2541%3F"
        with urllib.request.urlopen(urllib.request.Request(path, method="DELETE")) as answer:
            status = answer.status

        assert 204 == status
        assert {"plain": 2} == client.instance(instance)["variables"]
        served.end()


def test_a_setting_that_makes_no_sense_is_told_in_one_line(tmp_path: Path) -> None:
    ended = run("serve", "--ephemeral", folder=tmp_path, JOBS_DEFAULT_RETRIES="many")

    assert 1 == ended.returncode
    assert "jobs.defaultRetries (JOBS_DEFAULT_RETRIES)" in ended.stderr
    assert 1 == len(ended.stderr.splitlines())


def test_a_second_server_on_the_same_state_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path):
        ended = run("serve", "--port", "0", folder=tmp_path)

    assert 1 == ended.returncode
    assert ".headrace is in use by another server" in ended.stderr
    assert 1 == len(ended.stderr.splitlines())


def test_a_clean_stop_loses_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        instance = started(served.client)
        served.end()

    with serving(tmp_path) as again:
        assert {"amount": 7} == again.client.instance(instance)["variables"]
        assert "completed" == finish(again.client, instance)
        again.end()


def test_a_killed_server_comes_up_on_its_last_checkpoint_and_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        instance = started(served.client)
        kind = job_type(served.client, instance)
        held = served.client.activate(kind, "lives-longer-than-the-server", 1, "PT20S")
        waiting = started(served.client)
        # What was acknowledged before is with it in the same checkpoint.
        checkpoints = tmp_path / ".headrace" / "checkpoints"
        assert eventually(lambda: is_kept(checkpoints, str(waiting)))
        late = started(served.client)
        served.kill()

    with serving(tmp_path) as again:
        assert 1 == len(held)
        assert "active" == again.client.instance(instance)["state"]
        again.client.complete(int(held[0]["key"]), {})
        assert "completed" == again.client.instance(instance)["state"]
        assert "completed" == finish(again.client, waiting)
        # An instance that came too late for the checkpoint may be lost, but then wholly.
        assert again.client.get("/v1/process-instances?size=100")["totalCount"] in (2, 3), late
        assert "completed" == finish(again.client, started(again.client))
        again.end()


def is_kept(checkpoints: Path, words: str) -> bool:
    """Say whether a whole checkpoint holds some words; old ones are removed while it looks."""
    with suppress(FileNotFoundError):
        return any(
            words in (each / "dynamodb.json").read_text()
            for each in checkpoints.iterdir()
            if each.name.isdigit()
        )
    return False


def test_a_server_with_much_state_ends_in_time_and_has_it_all_again(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        tables = session(tmp_path).client("dynamodb")
        for first in range(0, ITEMS, 25):
            puts = [
                {"PutRequest": {"Item": an_item(number)}} for number in range(first, first + 25)
            ]
            tables.batch_write_item(RequestItems={TABLE: puts})

        assert served.end() < END_S

    with serving(tmp_path) as again:
        tables = session(tmp_path).client("dynamodb")
        assert tables.describe_table(TableName=TABLE)["Table"]["ItemCount"] >= ITEMS
        again.end()


def an_item(number: int) -> dict[str, dict[str, str]]:
    """Return an item as large as a job's, of a kind that nothing of ours looks at."""
    key = {"pk": {"S": f"test#{number // 5}"}, "sk": {"S": f"test#{number}"}}
    return {**key, **{f"attribute{each}": {"N": str(each)} for each in range(12)}} | {
        "text": {"S": "x" * 300}
    }


def session(folder: Path) -> EmulatedSession:
    """Return a session with the emulated AWS of the server that runs on a folder."""
    note = json.loads((folder / ".headrace" / "server.json").read_text())
    return EmulatedSession(note["aws_endpoint"])


def test_commands_find_the_server_that_runs_here(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        instance = started(served.client)

        queue = run("queue", job_type(served.client, instance), folder=tmp_path)
        rang = run("ring", "--all", folder=tmp_path)
        released = run("release-holds", folder=tmp_path)
        note = json.loads((tmp_path / ".headrace" / "server.json").read_text())
        served.end()

    assert queue.stdout.startswith("arn:aws:sqs:us-east-1:000000000000:headrace-local-j-")
    assert (0, 0, 0) == (queue.returncode, rang.returncode, released.returncode), rang.stderr
    assert served.client.url == note["url"]
    assert not (tmp_path / ".headrace" / "server.json").exists()


def test_commands_say_when_no_server_runs_here(tmp_path: Path) -> None:
    ended = run("ring", "--all", folder=tmp_path)

    assert 1 == ended.returncode
    assert "no server is running on .headrace" in ended.stderr
