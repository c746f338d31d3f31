"""One change of a message in a channel: what its route decides is done and written down."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from chalicelib.delivery import routing
from chalicelib.operations import aggregating, endpoints
from chalicelib.operations.moments import moment
from chalicelib.operations.settling import entered, failed, settled
from chalicelib.ports import Ports
from chalicelib.routing.decisions import (
    Call,
    Claim,
    Correlate,
    Drop,
    Fail,
    Hold,
    Rest,
    Send,
    Start,
    decide,
)
from chalicelib.routing.messages import Entry, State
from chalicelib.store import entries, routes


def advance(ports: Ports, entry: Entry) -> Entry | None:
    """Change a message that is due; return it as it is then, None if somebody was first.

    Raises: Conflict; a fault, after which its message comes again.
    """
    route = routes.route_from(ports.table, entry.channel)
    when = moment(ports)  # its deadline is of what is evaluated, not of what was read for it
    decision, now = decide(route, entry, when), when.now
    match decision:
        case Rest() | Drop() | Fail():
            return settled(ports, entry, _stopped(entry, decision, now))
        case Claim():
            return _claimed(ports, entry, decision, now)
        case Send():
            return _sent(ports, entry, decision, now)
        case Hold():
            return aggregating.hold(ports, entry, decision)
        case Start() | Correlate() | Call():
            return endpoints.deliver(ports, entry, decision)
        case _ as never:
            assert_never(never)


def _stopped(entry: Entry, decision: Rest | Drop | Fail, now: datetime) -> Entry:
    match decision:
        case Rest():
            return entry.changed(now, state=State.RESTING)
        case Drop(by, why):
            return entry.changed(now, state=State.DROPPED, by=by, why=why)
        case Fail(by, why):
            return failed(entry, by, why, now)


def _claimed(ports: Ports, entry: Entry, decision: Claim, now: datetime) -> Entry | None:
    """Let a message pass a repeat filter, or drop it; the mark goes with the change."""
    once = entries.repeat(entry, decision.name, decision.text, now)
    if not entries.is_repeat(ports.table, once, now):
        after = entry.changed(now, claimed=(*entry.claimed, decision.name))
        routing.promise(ports, [routing.handling(after, now)])
        mark = entries.claim(entry, decision.name, decision.text, now)
        return settled(ports, entry, after, [mark])
    why = f"a repeat: {decision.text[:100]!r} came before"
    return settled(ports, entry, entry.changed(now, state=State.DROPPED, by=decision.by, why=why))


def _sent(ports: Ports, entry: Entry, decision: Send, now: datetime) -> Entry | None:
    """Put what a message becomes into a channel; what is there already is a repeat."""
    channel = routes.channel(ports.table, decision.to)
    if channel is None:
        why = f"channel {decision.to} is not declared"
        return settled(ports, entry, failed(entry, decision.by, why, now))
    made = [entered(ports, channel, message, now, entry.hops + 1) for message in decision.messages]
    known = entries.read_many(ports.table, [each.place for each in made], now)
    new = [each for each in made if each.place not in known]
    if not new:
        by, why = f"channel {decision.to}", "a repeat: a message of its id was there before"
        return settled(ports, entry, entry.changed(now, state=State.DROPPED, by=by, why=why))
    repeats = len(made) - len(new)
    after = entry.changed(
        now,
        state=State.FORWARDED,
        by=decision.by,
        why=f"{repeats} of {len(made)} were repeats" if repeats else None,
        to=tuple(each.place for each in new),
    )
    routing.promise(ports, [routing.handling(each, now) for each in new])
    return settled(ports, entry, after, [entries.enter(each, now) for each in new])
