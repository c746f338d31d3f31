"""The sweeper's part of message routing: what waits although its time has come is told again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.delivery import routing
from chalicelib.delivery.later import delay_s
from chalicelib.delivery.routing import Owed
from chalicelib.ports import Item, Message
from chalicelib.routing.messages import State
from chalicelib.store import entries, routing_keys

AGE = timedelta(minutes=5)  # overdue; SQS delivers within seconds, and an attempt takes some


def is_routed(item: Item) -> bool:
    """Say whether an item is a message in a channel, or a group that is open."""
    pk, sk = str(item["pk"]), str(item["sk"])
    return pk.startswith(routing_keys.ENTRY) or (
        pk.startswith(routing_keys.GROUP) and sk == routing_keys.OPEN_GROUP
    )


def messages_of(item: Item, now: datetime, *, everything: bool) -> Iterator[Message]:
    """Give the message of what waits although its time has come.

    Shapes: with `everything`, of all that waits, for its time.
    """
    owed = _owed(item, now)
    if owed is not None and (everything or owed.at < now - AGE):
        yield Message(routing.to_text(owed.message), delay_s(owed.at, now))


def _owed(item: Item, now: datetime) -> Owed | None:
    if str(item["pk"]).startswith(routing_keys.GROUP):
        return routing.timeout(entries.to_group(item), now)
    entry = entries.to_entry(item)
    if entry.state is not State.WAITING or entry.expires_at <= now:
        return None
    return routing.handling(entry, now)
