"""Aggregators: a group gets a message, is released or discarded, each in one transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib import feel
from chalicelib.delivery import routing
from chalicelib.delivery.routing import GroupDue
from chalicelib.delivery.verdicts import LiveDue, Verdict
from chalicelib.errors import Conflict
from chalicelib.operations import settling
from chalicelib.operations.attempts import attempts
from chalicelib.operations.moments import moment
from chalicelib.ports import Ports, Write
from chalicelib.routing import groups
from chalicelib.routing.decisions import Hold
from chalicelib.routing.definition import Aggregator
from chalicelib.routing.groups import INCOMPLETE, TIMEOUT, Full
from chalicelib.routing.messages import Entry, Group, Message, State
from chalicelib.store import entries, routes

READABLE = timedelta(days=1)  # after its end, what a group held can still be read


def hold(ports: Ports, entry: Entry, decision: Hold) -> Entry | None:
    """Give a message to the group of its key, which it may complete.

    Returns the message as it is then, None if somebody was first.
    """
    now, name, key = ports.clock.now(), decision.aggregator, decision.correlation_key
    aggregator = routes.aggregator(ports.table, name)
    if aggregator is None:
        unknown = f"aggregator {name} is not declared"
        return settling.settled(ports, entry, settling.failed(entry, decision.by, unknown, now))
    before = entries.open_group(ports.table, name, key)
    after = groups.joined(aggregator, before, entry, decision.message, (now, ports.chance.id()))
    if isinstance(after, Full):
        return settling.settled(ports, entry, settling.failed(entry, decision.by, after.why, now))
    held = entry.changed(
        now,
        state=State.HELD,
        by=decision.by,
        aggregator=name,
        held=decision.message,
        group_id=after.id,
        expires_at=max(entry.expires_at, after.due + READABLE),
    )
    others = _members(ports, before, now) if groups.asks_members(aggregator, after) else []
    members = [*others, (entry.channel, decision.message)]
    try:
        when = moment(ports)._replace(now=now)
        why = groups.completed_by(aggregator, after, members, when)
        if why is not None:
            made = groups.released(aggregator, after, members, why, when)
            more = _released(ports, aggregator, before, groups.closed(after, why, now), made)
            return settling.settled(ports, entry, held, more)
    except feel.FeelError as error:
        by = f"aggregator {name}"
        return settling.settled(ports, entry, settling.failed(entry, by, str(error), now))
    if before is None:
        routing.promise(ports, [routing.timeout(after, now)])
    return settling.settled(ports, entry, held, [entries.change_group(before, after)])


def time_out(ports: Ports, message: GroupDue) -> Verdict:
    """Release or discard a group whose time is up; return what the message was. Raises: Conflict.

    A group whose message cannot be made is discarded, and says why.
    """
    name, key = message.aggregator, message.correlation_key
    for _ in attempts(ports):
        group = entries.open_group(ports.table, name, key)
        is_closed = entries.closed_group(ports.table, name, key, message.group_id) is not None
        now = ports.clock.now()
        verdict = routing.judge_group(message, group, is_closed, now)
        if group is None or not isinstance(verdict, LiveDue):
            return verdict
        writes = _ended(ports, group, now)
        if entries.commit(ports.table, writes, ports.chance.id()) is None:
            return verdict
    raise Conflict(f"a group of aggregator {name} was changed by others until the deadline")


def closed_group_of(ports: Ports, entry: Entry) -> Group | None:
    """Return the group that a held message was in, None while it is open."""
    if entry.aggregator is None or entry.group_id is None or entry.held is None:
        return None
    key = entry.held.correlation_key
    assert key is not None
    return entries.closed_group(ports.table, entry.aggregator, key, entry.group_id)


def _ended(ports: Ports, group: Group, now: datetime) -> list[Write]:
    aggregator = routes.aggregator(ports.table, group.aggregator)
    if aggregator is None:
        why = f"aggregator {group.aggregator} is not declared"
    elif aggregator.timeout is None:
        why = INCOMPLETE
    else:
        try:
            members = _members(ports, group, now)
            when = moment(ports)._replace(now=now)
            made = groups.released(aggregator, group, members, TIMEOUT, when)
            closed = groups.closed(group, TIMEOUT, now)
            return _released(ports, aggregator, group, closed, made)
        except feel.FeelError as error:
            why = str(error)[: settling.WHY_MAX]
    return entries.close_group(group, groups.closed(group, why, now))


def _released(
    ports: Ports, aggregator: Aggregator, before: Group | None, closed: Group, made: Message
) -> list[Write]:
    """Promise what a group becomes; return the writes that close it and put that into its channel.

    Raises: FeelError if the channel is not there.
    """
    assert closed.closed_at is not None
    channel = routes.channel(ports.table, aggregator.to)
    if channel is None:
        raise feel.FeelError(f"channel {aggregator.to} is not declared")
    now = closed.closed_at
    entry = settling.entered(ports, channel, made, now, closed.hops + 1)
    routing.promise(ports, [routing.handling(entry, now)])
    after = replace(closed, to=entry.place)
    return [*entries.close_group(before, after), entries.enter(entry, now)]


def _members(ports: Ports, group: Group | None, now: datetime) -> list[tuple[str, Message]]:
    """Return the messages that a group holds, in the order they came."""
    if group is None:
        return []
    found = entries.read_many(ports.table, group.members, now)
    held = ((found[place], place.channel) for place in group.members if place in found)
    return [(channel, entry.held or entry.message) for entry, channel in held]
