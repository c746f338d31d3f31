"""`headrace run FILE.bpmn`: one instance of anybody's model, every job completed as it comes."""

from __future__ import annotations

import time
from pathlib import Path

from chalicelib import json_text
from chalicelib.errors import Rejected
from chalicelib.json_text import JsonObject
from chalicelib.local import attach, paths
from chalicelib.local.client import Client, Refused
from chalicelib.local.terminal import BOLD, DIM, GREEN, RED, columns, paint, say

POLL_S = 0.1
JSON_SHOWN_MAX = 100  # characters of variables in one line


class BadInput(Exception):
    """What the command was given cannot be used; the message is one line."""


def run(file: Path, variables: str, url: str | None, timeout_s: float) -> int:
    """Deploy the file and run one instance; return 0 if it completed. Raises: BadInput."""
    xml, start = _read(file), json_object(variables)
    try:
        names = paths.names_of(xml)
    except Rejected as error:
        raise BadInput(f"{file}: {error.message}") from error
    with attach.own_or(url, with_aws=False) as place:
        client = place.client
        try:
            definition = client.deploy(xml)
            instance = int(client.create_instance(definition, start)["key"])
        except Refused as error:
            raise BadInput(f"{file}: {error}") from error
        say(paint(f"{file.name}: instance {instance}", BOLD))
        state = _work(client, instance, names, timeout_s)
        _tell(client, instance, names, state)
    return 0 if state == "completed" else 1


def _work(client: Client, instance: int, names: dict[str, str], timeout_s: float) -> str:
    """Complete job after job until the instance has ended; return the state it is in then."""
    done: set[int] = set()
    waiting_for: str | None = None
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        read = client.instance(instance)
        if read["state"] != "active" or client.incidents(instance):
            return str(read["state"])
        jobs = [job for job in client.jobs(instance) if job["state"] == "active"]
        new = [job for job in jobs if int(job["key"]) not in done]
        for job in new:
            done.add(int(job["key"]))
            _complete(client, job, names)
        if not new:
            waiting_for = _say_what_waits(read, names, waiting_for)
            time.sleep(POLL_S)
    return "active"


def _complete(client: Client, job: JsonObject, names: dict[str, str]) -> None:
    name = names.get(str(job["elementId"]), str(job["elementId"]))
    say(f"  job {job['key']}  {job['type']}  {paint(name, DIM)}  {_short(job['inputVariables'])}")
    try:
        client.complete(int(job["key"]), {})
    except Refused as error:
        say(f"  job {job['key']}  {paint(str(error), RED)}")


def _say_what_waits(read: JsonObject, names: dict[str, str], said: str | None) -> str:
    ids = [str(each["elementId"]) for each in read["activeElementInstances"]]
    waits = ", ".join(names.get(each, each) for each in ids) or "nothing"
    if waits != said:
        say(f"  waiting at {waits}")
    return waits


def _tell(client: Client, instance: int, names: dict[str, str], state: str) -> None:
    rows = [["", "element", "type"]]
    for number, row in enumerate(paths.completed(client.history(instance)), 1):
        element = str(row["elementId"])
        kind = str(row["elementType"]).lower().replace("_", " ")
        rows.append([str(number), names.get(element, element), kind])
    say()
    say("The path it took:")
    for line in columns(rows, right=frozenset({0})):
        say(f"  {line}")
    for incident in client.incidents(instance):
        say(paint(f"incident at {incident['elementId']}: {incident['message']}", RED))
    say()
    say(f"variables  {_short(client.instance(instance)['variables'])}")
    say(f"state      {paint(state, GREEN if state == 'completed' else RED)}")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from error


def json_object(text: str, option: str = "--variables") -> JsonObject:
    """Read what an option was given. Raises: BadInput if it is no JSON object."""
    try:
        value = json_text.loads(text)
    except ValueError as error:
        raise BadInput(f"{option}: expected a JSON object, found {text[:50]!r}: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{option}: expected a JSON object, found {text[:50]!r}")
    return value


def _short(value: object) -> str:
    text = json_text.dumps(value)  # type: ignore[arg-type]
    return text if len(text) <= JSON_SHOWN_MAX else text[: JSON_SHOWN_MAX - 1] + "…"
