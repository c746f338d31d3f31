"""Messages in channels: put, read, listed, and handled once for each id.

What has to happen to a message is told to the `routing` queue before the write that makes it so:
a message that is there is handled, however often a process dies in between. Each handling ends in
one transaction, which changes the message as it was read, together with all that it becomes.
"""

from __future__ import annotations

from chalicelib.delivery import routing
from chalicelib.delivery.routing import GroupDue, Handle, RoutingMessage
from chalicelib.delivery.verdicts import LiveDue, Verdict
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.operations import aggregating
from chalicelib.operations.attempts import attempts
from chalicelib.operations.passing import advance
from chalicelib.operations.settling import entered, settled
from chalicelib.ports import Ports
from chalicelib.routing.decisions import size_of
from chalicelib.routing.definition import MESSAGE_BYTES_MAX
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from chalicelib.store import entries, routes
from chalicelib.store.lists import LIST_MAX, Cut, Listed


def put_message(ports: Ports, channel: str, message: Message) -> tuple[Entry, bool]:
    """Put a message into a channel; return it as it is there, and whether it is new.

    One whose id was put before changes nothing: the first one is what counts.
    Raises: Rejected(NOT_FOUND) if there is no such channel; TooLarge; Conflict.
    """
    declared = routes.channel(ports.table, channel)
    if declared is None:
        raise Rejected(Reason.NOT_FOUND, f"channel {channel[:100]!r} is not declared")
    size = size_of(message)
    if size > MESSAGE_BYTES_MAX:
        raise TooLarge(f"expected a message of at most {MESSAGE_BYTES_MAX} bytes, found {size}")
    place = Place(channel, message.id)
    for _ in attempts(ports):
        now = ports.clock.now()
        known = entries.read(ports.table, place, now)
        if known is not None:
            return known, False
        entry = entered(ports, declared, message, now)
        routing.promise(ports, [routing.handling(entry, now)])
        token = ports.chance.id()
        if entries.commit(ports.table, [entries.enter(entry, now)], token) is None:
            return entry, True
    raise Conflict(f"message {message.id} came and went in channel {channel} until the deadline")


def get_message(ports: Ports, channel: str, id_: str) -> tuple[Entry, Group | None]:
    """Return a message in a channel, with the group that it was in if that is closed.

    Raises: Rejected(NOT_FOUND).
    """
    entry = entries.read(ports.table, Place(channel, id_), ports.clock.now())
    if entry is None:
        raise Rejected(Reason.NOT_FOUND, f"channel {channel[:100]!r} has no message {id_[:100]!r}")
    return entry, aggregating.closed_group_of(ports, entry)


def list_messages(
    ports: Ports, channel: str, states: frozenset[State] | None, cut: Cut
) -> Listed[tuple[Entry, Group | None]]:
    """Return a page of a channel's messages, the newest first.

    Raises: Rejected(NOT_FOUND) if there is no such channel.
    """
    if routes.channel(ports.table, channel) is None:
        raise Rejected(Reason.NOT_FOUND, f"channel {channel[:100]!r} is not declared")
    page: list[Entry] = []  # only this is kept: messages may be large
    looked_at = total = 0
    for entry in entries.newest(ports.table, channel, ports.clock.now()):
        looked_at += 1
        if states is None or entry.state in states:
            if cut.first <= total < cut.first + cut.size:
                page.append(entry)
            total += 1
    shown = [(entry, aggregating.closed_group_of(ports, entry)) for entry in page]
    return Listed(shown, total, looked_at >= LIST_MAX)


def retry_message(ports: Ports, channel: str, id_: str) -> Entry:
    """Let a message that failed be handled once more.

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if it has not failed; Conflict.
    """
    for _ in attempts(ports):
        entry, _group = get_message(ports, channel, id_)
        if entry.state is not State.FAILED:
            raise Rejected(
                Reason.INVALID_STATE,
                f"expected message {id_[:100]!r} to be failed, it is {entry.state.value}",
            )
        now = ports.clock.now()
        after = entry.changed(now, state=State.WAITING, due=now, attempt=0, by=None, why=None)
        routing.promise(ports, [routing.handling(after, now)])
        if settled(ports, entry, after) is not None:
            return after
    raise Conflict(f"message {id_} of channel {channel} was changed by others until the deadline")


def receive(ports: Ports, message: RoutingMessage) -> Verdict:
    """Do what a message of the queue asks for, if it is due; return what it was.

    Raises: Conflict if others are first until the deadline.
    """
    match message:
        case Handle():
            return _handle(ports, message)
        case GroupDue():
            return aggregating.time_out(ports, message)


def _handle(ports: Ports, message: Handle) -> Verdict:
    for _ in attempts(ports):
        entry = entries.read(ports.table, message.place, ports.clock.now())
        verdict = routing.judge_handle(message, entry, ports.clock.now())
        if entry is None or not isinstance(verdict, LiveDue):
            return verdict
        after = advance(ports, entry)
        if after is None:
            continue  # somebody was first: it is judged again
        if after.state is not State.WAITING or after.due > ports.clock.now():
            return verdict
        message = Handle(after.place, after.nonce, after.revision, message.first_sent)
    raise Conflict(f"message {message.place} was handled by others until the deadline")
