"""The `commands` queue: commands that are real are done, parts of a sweep are looked through."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from chalicelib.delivery import commands, sweeps
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.delivery.verdicts import LiveDue, Verdict
from chalicelib.engine.effects import Send
from chalicelib.operations.owed import do, run_all
from chalicelib.ports import Ports
from chalicelib.store import history, instances
from chalicelib.triggers.batches import Messages, put_back, serve_each, settle

SERVE_TIME = timedelta(seconds=15)  # of a batch in 30 s: one that is begun then takes 13 at most


def on_commands(ports: Ports, messages: Messages) -> list[str]:
    """Serve queued commands; return the ids of those to be delivered again.

    What there is no time for is put back, for any function to take up.
    """
    return serve_each(messages, partial(_serve, ports, ports.clock.now() + SERVE_TIME))


def _serve(ports: Ports, end: datetime, body: str) -> None:
    if ports.clock.now() < end:
        receive(ports, body)
    else:
        put_back(ports, commands.QUEUE, body)


def receive(ports: Ports, body: str) -> None:
    """Do what a message asks for, if the turn that sent it was.

    Raises: Rejected if it is no command, or is refused for good; Conflict.
    """
    if sweeps.is_sweep(body):
        from chalicelib.operations import sweep_parts  # noqa: PLC0415  scheduled jobs, hourly

        sweep_parts.sweep_part(ports, sweeps.from_text(body))
        return
    queued = commands.from_text(body)
    settle(ports, commands.QUEUE, body, lambda: _judge_and_do(ports, queued))


def _judge_and_do(ports: Ports, queued: QueuedCommand) -> Verdict:
    verdict = _judge(ports, queued)
    if isinstance(verdict, LiveDue):
        send = Send(queued.instance_key, queued.command, 0)
        run_all(ports, do(ports, send, ports.clock.now() + DEADLINE))
    return verdict


def _judge(ports: Ports, queued: QueuedCommand) -> Verdict:
    """Read how far the source is, then which turn made the version that the command names."""
    source = queued.source
    root_version, turn_id = None, None
    if source is not None:
        root_version = instances.root_version(ports.table, source.instance_key)
        if root_version is not None and root_version >= source.version:
            turn_id = history.turn_id(ports.table, source.instance_key, source.version)
    return commands.judge(queued, root_version, turn_id, ports.clock.now())
