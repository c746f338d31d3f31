"""Messages that wait: published with a time to live, for who is there and who comes later.

Publication and subscription each write themselves first and look for the other then, so they meet
whatever their order; a mark in the transaction of the meeting says which process id had which
message, so they meet once. A meeting that fails leaves nothing behind: the message is free again.

Source: contracts/bpmn.md 3.1 (message events); contracts/priostack.md ("messages").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice

from chalicelib import json_text
from chalicelib.bpmn.model import EventType
from chalicelib.delivery import commands, horizon
from chalicelib.delivery.commands import INSURANCE_S, QueuedCommand
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.delivery.promise import PROMISES_MAX, is_fresh
from chalicelib.engine.commands import (
    Correlate,
    OfferMessage,
    PublishMessage,
    SeekMessage,
    SeekStart,
)
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import attempts
from chalicelib.operations.correlation import (
    Message,
    once_for,
    publish,
    start_command,
    start_lock,
    started_by,
)
from chalicelib.operations.repeats import done_before
from chalicelib.operations.turns import take_start, take_turns
from chalicelib.ports import Message as QueueMessage
from chalicelib.ports import Ports
from chalicelib.store import definitions, marks, publications, subscriptions
from chalicelib.store.marks import KEPT, Once
from chalicelib.store.publications import Publication

MET = "publication"
LOOKS_MAX = 1_000  # messages of one name and key that one command looks at: seconds at most


def let_wait(
    ports: Ports, message: Message, time_to_live: timedelta, message_id: str, once: Once | None
) -> list[Turn]:
    """Publish a message that waits for a time; return the turns of those it met at once.

    Shapes: a `message_id` that is not empty is taken once while the message waits.
    Raises: Rejected(INVALID_STATE) if the id is taken; TooLarge; Conflict.
    """
    name, key, variables = message.name, message.correlation_key, message.variables
    now = ports.clock.now()
    route = f"message {json_text.dumps([name, key])}"  # no two names and keys have one
    named = [Once(route, message_id, "", time_to_live)] if message_id else []
    wanted = [*named, *([] if once is None else [once])]
    if key is None:  # nobody who comes later can wait for it
        return _let_start(ports, message, wanted) if named else publish(ports, message, once)
    commands.check(PublishMessage("", name, key, message.profile, variables))
    puts = [marks.write(each, 0, now=now) for each in wanted]
    publication = Publication(
        ports.chance.id(), name, key, variables, now, now + time_to_live, message.profile
    )
    offer = OfferMessage(publication.id, name, key, message.profile, now)
    for _ in range(PROMISES_MAX):
        promised_at = ports.clock.now()
        _promise(ports, offer, INSURANCE_S)
        if is_fresh(ports, promised_at):
            break
    else:
        raise Conflict(f"message {name!r} stalled again and again before it was published")
    if not publications.put(ports.table, publication, puts, ports.chance.id()):
        if done_before(ports, once) is not None:
            return []
        raise _taken(message, message_id)
    return publish(ports, message, _met(publication))


def _let_start(ports: Ports, message: Message, wanted: Sequence[Once]) -> list[Turn]:
    """Publish a message without a key, once for its id: what it starts is marked with the id.

    Shapes: `wanted` is what its id and its request are marked by.
    Raises: as `let_wait`.
    """
    named, *requests = wanted
    is_taken = done_before(ports, named) is not None
    met = replace(named, route=f"{named.route} met", kept=named.kept + KEPT)
    turns = [] if is_taken else publish(ports, message, met)
    if not (is_taken or marks.put(ports.table, wanted, ports.chance.id(), now=ports.clock.now())):
        is_taken = not turns  # another request with the id came first
    if is_taken and all(done_before(ports, request) is None for request in requests):
        raise _taken(message, named.key)
    return turns


def _taken(message: Message, message_id: str) -> Rejected:
    return Rejected(
        Reason.INVALID_STATE,
        f"message {message.name!r}: expected a new message id, found {message_id!r}, which "
        "one has that waits",
    )


def look(ports: Ports, command: OfferMessage | SeekMessage | SeekStart) -> list[Turn]:
    """Look for who waits for a message, or for a message on behalf of a subscription or start."""
    match command:
        case OfferMessage():
            return offer_again(ports, command)
        case SeekMessage():
            return seek(ports, command)
        case SeekStart():
            return seek_start(ports, command)


def offer_again(ports: Ports, command: OfferMessage) -> list[Turn]:
    """Look who waits for a message, in case its publisher died before it did.

    One that is not there may be about to be put.
    """
    name, key, at = command.name, command.correlation_key, command.published_at
    found = publications.read(ports.table, name, key, at, command.id)
    now = ports.clock.now()
    if found is None and not horizon.is_over(at, now):
        _promise(ports, command, INSURANCE_S)
    if found is None or found.expires_at <= now:
        return []
    return publish(ports, Message(name, key, found.variables, command.profile), _met(found))


def is_owed(ports: Ports, publication: Publication) -> bool:
    """Say whether a message that waits could meet somebody by now who has not had it."""
    name, key = publication.name, publication.correlation_key
    now = ports.clock.now()
    waiting = {entry.bpmn_process_id for entry in subscriptions.waiting(ports.table, name, key)}
    message = Message(name, key, profile=publication.profile)
    for definition, element_id in started_by(ports, EventType.MESSAGE, name):
        lock = start_lock(definition, element_id, message)
        if lock is None or not subscriptions.is_locked(ports.table, lock):
            waiting.add(definition.bpmn_process_id)
    asked = [once_for(_met(publication), process_id) for process_id in sorted(waiting)]
    return len(marks.those_done(ports.table, asked, now=now)) < len(asked)


def _promise(ports: Ports, command: OfferMessage | SeekMessage | SeekStart, delay_s: int) -> None:
    text = commands.to_text(QueuedCommand(0, command, ports.clock.now()))
    ports.queues.send(commands.QUEUE, [QueueMessage(text, delay_s)])


def seek(ports: Ports, command: SeekMessage) -> list[Turn]:
    """Let a subscription look for a message that was published before it; return its turn.

    Raises: TooLarge; Conflict.
    """
    for _ in attempts(ports):
        found = _first(ports, command)
        if found is None:
            return []
        correlate = Correlate(command.subscription_key, command.name, found.variables)
        once = once_for(_met(found), command.bpmn_process_id)
        until = ports.clock.now() + DEADLINE
        try:
            turn = take_turns(ports, command.subscription_key, correlate, until, once)
        except Rejected as rejected:
            if rejected.reason is Reason.NOT_FOUND:
                return []  # it waits no more, and the message is free
            raise
        if turn.changes:
            return [turn]
    raise Conflict(f"subscription {command.subscription_key} found each message met by others")


def seek_start(ports: Ports, command: SeekStart) -> list[Turn]:
    """Let the oldest message that waits start the next instance, as one that ran alone has ended:
    of any name that starts the process, for the key stands for them all.

    Raises: TooLarge; Conflict.
    """
    key, process_id = command.correlation_key, command.bpmn_process_id
    definition = definitions.latest_of(ports.table, process_id, command.profile)
    if definition is None:
        return []
    places = definition.process.started_by(EventType.MESSAGE)
    looked_at = [command.name] if command.after else places
    waiting = [_first(ports, replace(command, name=name)) for name in looked_at if name in places]
    found = min(
        (each for each in waiting if each is not None),
        key=lambda each: (each.published_at, each.id),
        default=None,
    )
    if found is None:
        return []
    message = Message(found.name, key, found.variables, command.profile)
    element_id = places[found.name][0]
    start = start_command(ports, definition, element_id, message.variables)
    lock = start_lock(definition, element_id, message)
    named = start._replace(message=found.name, start_lock=lock)
    turn = take_start(ports, definition, named, once_for(_met(found), process_id))
    return [] if turn is None else [turn]


def _first(ports: Ports, command: SeekMessage | SeekStart) -> Publication | None:
    """Return the oldest message that waits and that the process id has not had.

    Of very many messages a command looks at LOOKS_MAX, and hands on the look at those behind.
    """
    now = ports.clock.now()
    name, key, process_id = command.name, command.correlation_key, command.bpmn_process_id
    waiting = publications.waiting(ports.table, name, key, now, command.after)
    found = list(islice(waiting, LOOKS_MAX))
    asked = [once_for(_met(each), process_id) for each in found]
    done = marks.those_done(ports.table, asked, now=now)
    left = (each for each, once in zip(found, asked, strict=True) if once not in done)
    first = next(left, None)
    if first is None and len(found) == LOOKS_MAX:
        _promise(ports, replace(command, after=publications.place_of(found[-1])), 0)
    return first


def _met(publication: Publication) -> Once:
    """Return what makes a message meet somebody once, for as long as it waits and a day."""
    lived = publication.expires_at - publication.published_at
    return replace(Once(MET, publication.id, ""), kept=lived + KEPT)
