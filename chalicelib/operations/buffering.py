"""Messages that wait: published with a time to live, for who is there and who comes later.

Publication and subscription each write themselves first and look for the other then, so they meet
whatever their order; a mark in the transaction of the meeting says which process id had which
message, so they meet once. A meeting that fails leaves nothing behind: the message is free again.

Source: contracts/bpmn.md 3.1 (message events); contracts/priostack.md ("messages").
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice

from chalicelib.delivery import commands
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.commands import Correlate, PublishMessage, SeekMessage
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import attempts
from chalicelib.operations.correlation import Message, once_for, publish
from chalicelib.operations.repeats import done_before
from chalicelib.operations.turns import take_turns
from chalicelib.ports import Ports
from chalicelib.store import marks, publications
from chalicelib.store.marks import KEPT, Once
from chalicelib.store.publications import Publication

MET = "publication"
LOOKS_MAX = 1_000  # messages of one name and key that a subscription looks at


def let_wait(
    ports: Ports, message: Message, time_to_live: timedelta, message_id: str, once: Once | None
) -> list[Turn]:
    """Publish a message that waits for a time; return the turns of those it met at once.

    Shapes: a `message_id` that is not empty is taken once while the message waits.
    Raises: Rejected(INVALID_STATE) if the id is taken; TooLarge; Conflict.
    """
    name, key, variables = message.name, message.correlation_key, message.variables
    if key is None:  # nobody who comes later can wait for it
        return publish(ports, message, once)
    commands.check(PublishMessage("", name, key, message.profile, variables))
    now = ports.clock.now()
    publication = Publication(ports.chance.id(), name, key, variables, now, now + time_to_live)
    route = f"message {name} {key}"
    named = [Once(route, message_id, "", time_to_live)] if message_id else []
    wanted = [*named, *([] if once is None else [once])]
    puts = [marks.write(each, 0, now=now) for each in wanted]
    if not publications.put(ports.table, publication, puts, ports.chance.id()):
        if done_before(ports, once) is not None:
            return []
        raise Rejected(
            Reason.INVALID_STATE,
            f"message {name!r}: expected a new message id, found {message_id!r}, which "
            "one has that waits",
        )
    return publish(ports, message, _met(publication))


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


def _first(ports: Ports, command: SeekMessage) -> Publication | None:
    """Return the oldest message that waits and that the process id has not had."""
    now = ports.clock.now()
    name, key, process_id = command.name, command.correlation_key, command.bpmn_process_id
    found = list(islice(publications.waiting(ports.table, name, key, now), LOOKS_MAX))
    asked = [once_for(_met(each), process_id) for each in found]
    done = marks.those_done(ports.table, asked, now=now)
    left = (each for each, once in zip(found, asked, strict=True) if once not in done)
    return next(left, None)


def _met(publication: Publication) -> Once:
    """Return what makes a message meet somebody once, for as long as it waits and a day."""
    lived = publication.expires_at - publication.published_at
    return replace(Once(MET, publication.id, ""), kept=lived + KEPT)
