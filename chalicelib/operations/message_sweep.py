"""The sweeper's part of messages and signals: what waits and could have met is told to look again.

Whoever is told looks at the tables and meets nobody twice, so a needless look does no harm. A
message that waits stands for its offer, for what subscriptions seek and for what starts seek. A
broadcast stands for itself until nobody is left that it was for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.engine.commands import BroadcastSignal, OfferMessage
from chalicelib.operations import broadcasts, buffering
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Item, Message, Ports
from chalicelib.store import broadcasts as kept
from chalicelib.store import names, publications, subscriptions

MEET_AGE = timedelta(minutes=5)  # of what waits; its command comes after five seconds
LOOKS_MAX = 100  # subscriptions of one shard that are looked at for one that was left out


def messages_of(ports: Ports, item: Item, now: datetime, *, everything: bool) -> Iterator[Message]:
    """Yield the commands to send again on account of a message that waits, or of a broadcast."""
    sk = str(item["sk"])
    if sk.startswith(names.BUFFERED) and publications.NAME in item:
        yield from _offer(ports, item, now, everything=everything)
    elif sk == kept.SK and str(item["pk"]).startswith(kept.PK):
        yield from _broadcast(ports, item, now, everything=everything)


def _offer(ports: Ports, item: Item, now: datetime, *, everything: bool) -> Iterator[Message]:
    found = publications.of_item(item)
    is_young = found.published_at >= now - MEET_AGE
    if found.expires_at <= now or (is_young and not everything):
        return
    if buffering.is_owed(ports, found):
        name, key = found.name, found.correlation_key
        yield _message(OfferMessage(found.id, name, key, found.profile, found.published_at), now)


def _broadcast(ports: Ports, item: Item, now: datetime, *, everything: bool) -> Iterator[Message]:
    """Go on with a broadcast, or forget one that is done."""
    command = kept.of_item(item)
    if command.at >= now - MEET_AGE and not everything:
        return
    if done_before(ports, broadcasts.once_of(command)) is None:
        yield _message(command, now)
        return
    left = [shard for shard in range(names.SIGNAL_SHARDS) if _is_left(ports, command, shard)]
    if not left:
        kept.drop(ports.table, command.id)
    for shard in left:
        yield _message(replace(command, shard=shard), now)


def _is_left(ports: Ports, command: BroadcastSignal, shard: int) -> bool:
    """Say whether somebody waits still in a shard who waited when a signal was broadcast."""
    found = subscriptions.signalled(ports.table, command.name, shard, 0, LOOKS_MAX)
    return any(entry.created_at <= command.at + broadcasts.SKEW for entry in found)


def _message(command: BroadcastSignal | OfferMessage, now: datetime) -> Message:
    return Message(commands.to_text(QueuedCommand(0, command, now)))
