"""Signals that callers broadcast."""

from __future__ import annotations

from chalicelib.delivery import commands
from chalicelib.delivery.commands import INSURANCE_S, QueuedCommand
from chalicelib.engine.commands import BroadcastSignal
from chalicelib.json_text import JsonObject
from chalicelib.operations.attempts import unfailing
from chalicelib.operations.broadcasts import broadcast
from chalicelib.operations.owed import run_all
from chalicelib.ports import Message, Ports


def broadcast_signal(
    ports: Ports, name: str, variables: JsonObject, request: str | None = None
) -> None:
    """Broadcast a signal to all who wait for it now, and start what it starts.

    It is promised before any of it is done, so whoever gets an answer knows that all will be. A
    `request` that is named again is the same broadcast.
    Raises: TooLarge.
    """
    now = ports.clock.now()
    command = BroadcastSignal(request or ports.chance.id(), name, now, variables)
    commands.check(command)
    text = commands.to_text(QueuedCommand(0, command, now))
    ports.queues.send(commands.QUEUE, [Message(text, INSURANCE_S)])
    with unfailing(f"broadcast of {name!r}"):
        run_all(ports, broadcast(ports, command))
