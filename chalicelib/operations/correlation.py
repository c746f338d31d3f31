"""Messages and who waits for them: subscriptions first, then the processes that they start.

Whoever publishes looks for a subscription under the message's name and key, and asks its instance
to correlate: the turn that does ends the subscription. One that is gone by then sends the
publisher looking again, so of any number of messages and subscriptions none meets another twice.

In ZenBPM's profile a message meets one; elsewhere one of each process id.

Source: contracts/zenbpm.md 4.3 ("Messages"); contracts/bpmn.md 3.1; design sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from chalicelib.bpmn.model import EventType, Kind
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.commands import Correlate, CreateInstance, PublishMessage
from chalicelib.engine.facts import MessageNotCorrelated
from chalicelib.engine.profiles import RULES
from chalicelib.engine.state import StartLock
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.attempts import attempts, tell
from chalicelib.operations.repeats import done_before, mark_done
from chalicelib.operations.retention import time_to_live
from chalicelib.operations.turns import take_start, take_turns
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions, names, subscriptions
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once

NOBODY_WAITS = "nobody waits"
THROWN = "thrown message"


@dataclass(frozen=True, slots=True)
class Message:
    """What is published; without a key it can only start an instance.

    Shapes: in the `profile` it is published in it meets one subscription or start, or one of each
        process id.
    """

    name: str
    correlation_key: str | None = None
    variables: JsonObject = field(default_factory=dict)
    profile: Profile = Profile.ZENBPM


@dataclass(frozen=True, slots=True)
class Meeting:
    """Whom a message may meet: a subscription that waits, or a definition that it starts."""

    bpmn_process_id: str
    subscription: int = 0
    definition: Definition | None = None
    element_id: str = ""


def publish(ports: Ports, message: Message, once: Once | None) -> list[Turn]:
    """Let a message meet whoever waits for it; return the turns that it made, none if nobody does.

    Raises: Rejected, also TooLarge; Conflict.
    """
    turns: list[Turn] = []
    met: set[str] = set()
    for _ in attempts(ports):
        meeting = next((m for m in _meetings(ports, message) if m.bpmn_process_id not in met), None)
        if meeting is None:
            return turns
        made = _meet(ports, message, meeting, _once_of(once, message, meeting))
        if made is None:
            continue
        turns += made
        if RULES[message.profile].keys_are_unique:
            return turns
        met.add(meeting.bpmn_process_id)
    raise Conflict(f"message {message.name!r} found others first for {DEADLINE}")


def publish_thrown(ports: Ports, command: PublishMessage) -> list[Turn]:
    """Publish what an instance threw, once; without anybody who waits it is lost.

    Raises: Rejected, also TooLarge; Conflict.
    """
    once = Once(THROWN, command.id, "")
    if done_before(ports, once) is not None:
        return []
    message = Message(command.name, command.correlation_key, command.variables, command.profile)
    turns = publish(ports, message, replace(once, route=f"{THROWN} met"))
    mark_done(ports, once, int(command.id))
    if not turns:
        lost(ports, message)
    return turns


def lost(ports: Ports, message: Message) -> None:
    """Tell that nobody waited."""
    tell(ports, [MessageNotCorrelated(message.name, NOBODY_WAITS)])


def started_by(ports: Ports, kind: EventType, name: str) -> list[tuple[Definition, str]]:
    """Return the latest definitions that a name starts, each with an element it starts at, the
    one deployed last first; a signal may start one at several.

    What was noted of a process may be out of date; its latest version is not.
    """
    found: list[tuple[Definition, str]] = []
    for profile, process_id in subscriptions.starters(ports.table, kind, name):
        latest = definitions.latest_of(ports.table, process_id, profile)
        if latest is not None:
            found += [(latest, at) for at in latest.process.started_by(kind).get(name, ())]
    return sorted(found, key=lambda each: each[0].key, reverse=True)


def start_command(
    ports: Ports, definition: Definition, element_id: str, variables: JsonObject
) -> CreateInstance:
    """Return the command that starts an instance by what an element of it catches."""
    return CreateInstance(
        definition_key=definition.key,
        definition_version=definition.version,
        profile=definition.profile,
        variables=variables,
        time_to_live=time_to_live(ports),
        caught_at=element_id,
    )


def start_lock(definition: Definition, element_id: str, message: Message) -> StartLock | None:
    """Return what an instance that a message starts is to run for alone, None if for nothing.

    In ZenBPM's profile that is a receive task that instantiates; elsewhere, of a process id, the
    correlation key.
    """
    profile, process_id = definition.profile, definition.bpmn_process_id
    key = message.correlation_key or ""
    if RULES[profile].keys_are_unique:
        if definition.process.elements[element_id].kind is not Kind.RECEIVE_TASK:
            return None
        words = ("receive", profile.value, process_id, element_id)
    elif not key:
        return None
    else:
        words = ("key", profile.value, process_id, key)
    return StartLock(names.start_lock_place(*words), message.name, key)


def _meetings(ports: Ports, message: Message) -> Iterator[Meeting]:
    """Yield whom a message may meet, in the order of who comes first."""
    name, key = message.name, message.correlation_key
    if key is not None:
        for entry in subscriptions.waiting(ports.table, name, key):
            yield Meeting(entry.bpmn_process_id, entry.subscription)
    for definition, element_id in started_by(ports, EventType.MESSAGE, name):
        yield Meeting(definition.bpmn_process_id, 0, definition, element_id)


def _meet(ports: Ports, message: Message, meeting: Meeting, once: Once | None) -> list[Turn] | None:
    """Let a message meet a subscription or start; None if the subscription waits no more.

    Returns no turn if the same request did it meanwhile.
    """
    if meeting.definition is not None:
        if done_before(ports, once) is not None:
            return []
        start = start_command(ports, meeting.definition, meeting.element_id, message.variables)
        lock = start_lock(meeting.definition, meeting.element_id, message)
        named = start._replace(message=message.name, start_lock=lock)
        turn = take_start(ports, meeting.definition, named, once)
        return [] if turn is None else [turn]
    command = Correlate(meeting.subscription, message.name, message.variables)
    until = ports.clock.now() + DEADLINE
    try:
        return [take_turns(ports, meeting.subscription, command, until, once)]
    except Rejected as rejected:
        if rejected.reason is Reason.NOT_FOUND:
            return None
        raise


def once_for(once: Once, bpmn_process_id: str) -> Once:
    """Return what makes a message meet a process id once."""
    return replace(once, key=f"{once.key}#{bpmn_process_id}")


def _once_of(once: Once | None, message: Message, meeting: Meeting) -> Once | None:
    """Return what makes a meeting happen once: the message's own, or one of its process id."""
    if once is None or RULES[message.profile].keys_are_unique:
        return once
    return once_for(once, meeting.bpmn_process_id)
