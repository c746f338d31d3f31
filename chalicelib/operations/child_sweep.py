"""The sweeper's part of child instances: what is told again of a child wait that is old.

Most old waits are right: their children are at work. A child that is not there was never told to
start, one that has ended was not heard of, and one that goes on although its element waits for its
end alone was not told to end.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.engine.commands import CancelChild, HearEnd, StartChild
from chalicelib.engine.state import ChildWait, InstanceState, Root
from chalicelib.ports import Item, Message, Ports
from chalicelib.store import instances, items

CHILD_AGE = timedelta(minutes=5)  # untouched; its command comes after five seconds


def messages_of(
    ports: Ports, item: Item, now: datetime, *, everything: bool
) -> Iterator[tuple[Message, bool]]:
    """Yield what is to be told again of a child wait, and whether it must have been lost."""
    wait = items.to_record(item, {})
    assert isinstance(wait, ChildWait)
    is_old = wait.created_at < now - CHILD_AGE
    if not (is_old or everything):
        return
    found = instances.load(ports.table, wait.key)
    parent = wait.instance_key
    if found is None:
        yield _message(wait.key, StartChild(parent), now), is_old
        return
    root = found.root
    if root.ended_at is not None:
        yield _message(parent, HearEnd(wait.key), now), root.ended_at < now - CHILD_AGE
    elif root.state is InstanceState.ACTIVE and (above := _parent(ports, parent)) is not None:
        element = above.live.get(wait.element_key)
        if element is not None and element.is_ending:
            yield _message(wait.key, CancelChild(parent), now), False


def _parent(ports: Ports, key: int) -> Root | None:
    found = instances.load(ports.table, key)
    return None if found is None else found.root


def _message(key: int, command: StartChild | HearEnd | CancelChild, now: datetime) -> Message:
    return Message(commands.to_text(QueuedCommand(key, command, now)))
