"""Messages: published by name, and correlated with the one who waits for them.

Whoever publishes looks for a subscription under the message's name and key, and asks its instance
to correlate: the turn that does ends the subscription. One that is gone by then sends the
publisher looking again, so of any number of messages and subscriptions none meets another twice.

Source: contracts/zenbpm.md 4.3 ("Messages"); design sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.bpmn.model import EventType
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.commands import Correlate, CreateInstance
from chalicelib.engine.facts import MessageNotCorrelated
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance, start_once
from chalicelib.operations.attempts import attempts, tell
from chalicelib.operations.instances import time_to_live
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports
from chalicelib.store import definitions, subscriptions
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once

NOBODY_WAITS = "nobody waits"


@dataclass(frozen=True, slots=True)
class Message:
    """What is published; without a key it can only start an instance."""

    name: str
    correlation_key: str | None = None
    variables: JsonObject = field(default_factory=dict)


def publish_message(ports: Ports, message: Message, once: Once | None = None) -> None:
    """Correlate a message with who waits for its name and key, else start an instance by its name.

    Raises: Rejected(NOT_FOUND) if nobody waits: the message is lost; TooLarge; Conflict.
    """
    for _ in attempts(ports):
        if done_before(ports, once) is not None:
            return
        waiting = _waiting(ports, message)
        if waiting is not None:
            if correlate(ports, waiting, message, once):
                return
            continue
        starter = _starter(ports, message.name)
        if starter is None:
            tell(ports, [MessageNotCorrelated(message.name, NOBODY_WAITS)])
            raise _lost(message)
        start_once(ports, starter[0], start_command(ports, *starter, message), once)
        return
    raise Conflict(f"message {message.name!r} found others first for {DEADLINE}")


def correlate(ports: Ports, subscription: int, message: Message, once: Once | None) -> bool:
    """Let a subscription's instance take a message; say whether the subscription still waited.

    Raises: Rejected, also TooLarge; Conflict.
    """
    command = Correlate(subscription, message.name, message.variables)
    try:
        advance(ports, subscription, command, once)
    except Rejected as rejected:
        if rejected.reason is Reason.NOT_FOUND:
            return False
        raise
    return True


def start_command(
    ports: Ports, definition: Definition, element_id: str, message: Message
) -> CreateInstance:
    """Return the command that starts an instance of a definition by a message."""
    return CreateInstance(
        definition_key=definition.key,
        definition_version=definition.version,
        profile=definition.profile,
        variables=message.variables,
        time_to_live=time_to_live(ports),
        caught_at=element_id,
        message=message.name,
    )


def started_by(ports: Ports, kind: EventType, name: str) -> list[tuple[Definition, str]]:
    """Return the latest definitions that a name starts, each with the element it starts at.

    What was noted of a process may be out of date; its latest version is not.
    """
    found = []
    for profile, process_id in subscriptions.starters(ports.table, kind, name):
        latest = definitions.latest(ports.table, process_id, profile)
        at = None if latest is None else latest.process.started_by(kind).get(name)
        if latest is not None and at is not None:
            found.append((latest, at))
    return found


def _waiting(ports: Ports, message: Message) -> int | None:
    """Return the subscription that waits for a message: who waits alone, else the oldest."""
    if message.correlation_key is None:
        return None
    entries = subscriptions.waiting(ports.table, message.name, message.correlation_key)
    return next((entry.subscription for entry in entries), None)


def _starter(ports: Ports, name: str) -> tuple[Definition, str] | None:
    """Return what a message starts: of several processes the one deployed last."""
    found = started_by(ports, EventType.MESSAGE, name)
    return max(found, key=lambda each: each[0].key, default=None)


def _lost(message: Message) -> Rejected:
    key = message.correlation_key
    named = f"message {message.name!r}" + ("" if key is None else f" with correlation key {key!r}")
    return Rejected(Reason.NOT_FOUND, f"nobody waits for {named}, and it starts no process")
