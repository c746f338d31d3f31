"""Finds the Headrace that a command is about: a server here, one elsewhere, or a stage on AWS."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chalicelib.local import stack
from chalicelib.local.client import Client
from chalicelib.local.emulator import client_environment, set_environment
from chalicelib.local.server import API_KEY, NOTE, Options, Server
from infra import names

STATE = Path(".headrace")


class NotFound(Exception):
    """There is no such Headrace; the message says what was looked for."""


@dataclass(frozen=True)
class Place:
    """A server, the AWS that it runs on (empty if nobody asked for it), and its stage there."""

    client: Client
    aws_endpoint: str
    stage: str = stack.STAGE


@contextmanager
def own_or(url: str | None, *, with_aws: bool = True) -> Iterator[Place]:
    """Give the server at a URL, or one of our own, of which nothing stays.

    Raises: NotFound if the AWS of the server at that URL is wanted but unknown; StartFailed.
    """
    key = os.environ.get(API_KEY) or None
    if url is not None:
        yield Place(Client(url, key), _endpoint_of(url) if with_aws else "")
        return
    server = Server(Options(port=0, api_key=key))
    server.start()
    try:
        yield Place(Client(server.url, key), server.aws_endpoint)
    finally:
        server.stop()


def use_local(state: Path) -> None:
    """Point this process at the AWS of the server that runs on a state folder. Raises: NotFound."""
    use_emulated(_note(state)["aws_endpoint"])


def use_emulated(endpoint: str, stage: str = stack.STAGE) -> None:
    """Point this process at an emulated AWS, and a stage there."""
    set_environment(client_environment(endpoint))
    set_environment(stack.environment(stage))


def use_stage(stage: str) -> None:
    """Point this process at a stage on AWS, in the account and region of its credentials."""
    import boto3  # noqa: PLC0415

    session = boto3.session.Session()
    account = session.client("sts").get_caller_identity()["Account"]
    set_environment(names.environment(stage=stage, account=account, region=session.region_name))


def _endpoint_of(url: str) -> str:
    """Return the AWS of the server at a URL: as the environment says, or as the server noted."""
    given = os.environ.get("AWS_ENDPOINT_URL")
    if given:
        return given
    note = _note(STATE)
    if note["url"].rstrip("/") != url.rstrip("/"):
        raise NotFound(
            f"the emulated AWS of {url} is not known here: set AWS_ENDPOINT_URL, or run this "
            "where its `headrace serve` was started"
        )
    return note["aws_endpoint"]


def _note(state: Path) -> dict[str, str]:
    path = state / NOTE
    try:
        note = json.loads(path.read_text())
        return {"url": str(note["url"]), "aws_endpoint": str(note["aws_endpoint"])}
    except (OSError, ValueError, KeyError) as error:
        raise NotFound(f"no server is running on {state} (there is no {path})") from error
