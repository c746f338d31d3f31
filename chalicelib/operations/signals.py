"""Signals that callers broadcast."""

from __future__ import annotations

from hashlib import sha256

from chalicelib.delivery import commands
from chalicelib.delivery.commands import INSURANCE_S, QueuedCommand
from chalicelib.engine.commands import BroadcastSignal
from chalicelib.json_text import JsonObject
from chalicelib.operations.attempts import unfailing
from chalicelib.operations.broadcasts import broadcast
from chalicelib.operations.owed import run_all
from chalicelib.operations.repeats import done_before, mark_done
from chalicelib.ports import Message, Ports
from chalicelib.store.marks import Once


def broadcast_signal(
    ports: Ports, name: str, variables: JsonObject, once: Once | None = None
) -> None:
    """Broadcast a signal to all who wait for it now, and start what it starts.

    It is promised before any of it is done, so whoever gets an answer knows that all will be. A
    repeat of a request is the same broadcast.
    Raises: Rejected, also TooLarge.
    """
    if done_before(ports, once) is not None:
        return
    now = ports.clock.now()
    broadcast_id = ports.chance.id() if once is None else _id_of(once)
    command = BroadcastSignal(broadcast_id, name, now, variables)
    commands.check(command)
    text = commands.to_text(QueuedCommand(0, command, now))
    ports.queues.send(commands.QUEUE, [Message(text, INSURANCE_S)])
    if once is not None:
        mark_done(ports, once)
        done_before(ports, once)
    with unfailing(f"broadcast of {name!r}"):
        run_all(ports, broadcast(ports, command))


def _id_of(once: Once) -> str:
    """Return the id of the broadcast that a request and its repeats are."""
    return sha256("#".join((once.route, once.key, once.fingerprint)).encode()).hexdigest()
