"""How a message in a channel is made and changed: what all who handle one share."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from chalicelib.ports import Ports, Write
from chalicelib.routing.definition import Channel
from chalicelib.routing.messages import Entry, Message, State
from chalicelib.store import entries

WHY_MAX = 500  # characters that are kept of why a message failed

logger = logging.getLogger(__name__)


def entered(
    ports: Ports, channel: Channel, message: Message, now: datetime, hops: int = 0
) -> Entry:
    """Return a message that is about to be put into a channel."""
    return Entry(
        channel=channel.name,
        message=message,
        nonce=ports.chance.id(),
        entered_at=now,
        due=now,
        expires_at=now + channel.time_to_live,
        hops=hops,
    )


def settled(ports: Ports, before: Entry, after: Entry, more: Sequence[Write] = ()) -> Entry | None:
    """Write a change of a message, and what goes with it; None if anything was refused."""
    writes = [entries.settle(before, after), *more]
    if entries.commit(ports.table, writes, ports.chance.id()) is not None:
        return None
    if after.state is State.FAILED:
        told = {"channel": after.channel, "message_id": after.message.id, "by": after.by}
        logger.warning("a routed message failed", extra={**told, "reason": after.why})
    return after


def failed(entry: Entry, by: str, why: str, now: datetime) -> Entry:
    """Return a message that cannot go on."""
    return entry.changed(now, state=State.FAILED, by=by, why=why[:WHY_MAX])
