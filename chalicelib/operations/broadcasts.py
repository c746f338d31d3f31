"""Signals: broadcast to all who wait for a name, page by page, and to the processes they start.

A broadcast is a command. Where many wait, it becomes one command for each shard of those who do,
and each of these does a page and hands the rest on as a command of its own: so 10,000 instances
are reached by as many functions as the queue allows, and progress is what the messages say. A page
that is done twice finds its subscriptions ended. A subscription that was made in answer to a
broadcast, or after it, is none of its business.

Source: contracts/bpmn.md 3.1 (signals); design section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from chalicelib.bpmn.model import EventType
from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.commands import BroadcastSignal, Correlate
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Rejected
from chalicelib.operations.correlation import start_command, started_by
from chalicelib.operations.repeats import done_before, mark_done
from chalicelib.operations.turns import take_start, take_turns
from chalicelib.ports import Message, Ports
from chalicelib.store import broadcasts as kept
from chalicelib.store import marks, names, subscriptions
from chalicelib.store.marks import Once
from chalicelib.store.subscriptions import Waiting

PAGE_MAX = 20  # subscriptions that one command reaches
PAGE_TIME = timedelta(seconds=5)  # of the 30 s that a function has for ten commands
SKEW = timedelta(seconds=2)  # by which clocks may differ
BROADCAST = "broadcast"


def broadcast(ports: Ports, command: BroadcastSignal) -> list[Turn]:
    """Reach those who wait for a signal: all of them at once if they are few, else a page.

    Returns the turns that were made of their instances.
    Raises: Conflict.
    """
    if command.shard is not None:
        return _page(ports, command, command.shard)
    once = once_of(command)
    if done_before(ports, once) is not None:
        return []
    kept.put(ports.table, command)
    turns = _start(ports, command)
    pages = [
        subscriptions.signalled(ports.table, command.name, shard, 0, PAGE_MAX)
        for shard in range(names.SIGNAL_SHARDS)
    ]
    found = [entry for page in pages for entry in page]
    if len(found) <= PAGE_MAX and not any(len(page) == PAGE_MAX for page in pages):
        turns += _reach(ports, command, found)
    else:
        _hand_on(ports, [replace(command, shard=n) for n, page in enumerate(pages) if page])
    mark_done(ports, once)
    return turns


def once_of(command: BroadcastSignal) -> Once:
    """Return what makes a broadcast happen once: begun, and handed on to all shards."""
    return _once(command.id)


def _once(id_: str) -> Once:
    """Return a mark that is kept for longer than the broadcast is, which may begin anew."""
    return Once(BROADCAST, id_, "", kept.KEPT + marks.KEPT)


def _start(ports: Ports, command: BroadcastSignal) -> list[Turn]:
    """Start an instance at each start event that waits for the signal, once."""
    turns = []
    begun: set[str] = set()
    for definition, element_id in started_by(ports, EventType.SIGNAL, command.name):
        mine = f"{command.id}#{definition.profile.value}#{definition.bpmn_process_id}"
        mine += f"#{element_id}" if mine in begun else ""
        begun.add(mine)
        once = _once(mine)
        if done_before(ports, once) is None:
            start = start_command(ports, definition, element_id, command.variables)
            start = start._replace(broadcast=command.id)
            turn = take_start(ports, definition, start, once)
            turns += [] if turn is None else [turn]
    return turns


def _page(ports: Ports, command: BroadcastSignal, shard: int) -> list[Turn]:
    """Reach a page of a shard, then hand on what is left."""
    found = subscriptions.signalled(ports.table, command.name, shard, command.after, PAGE_MAX)
    is_last = len(found) < PAGE_MAX
    if command.until:
        within = [entry for entry in found if entry.subscription <= command.until]
        is_last, found = is_last or len(within) < len(found), within
    turns = _reach(ports, replace(command, shard=shard), found)
    if found and not is_last:
        _hand_on(ports, [replace(command, after=found[-1].subscription)])
    return turns


def _reach(ports: Ports, command: BroadcastSignal, found: Sequence[Waiting]) -> list[Turn]:
    """Let a signal come to subscriptions. An instance that stays busy is left to a command of its
    own, and so is what there is no time for; what waits no more, or refuses, is passed over."""
    turns: list[Turn] = []
    left: list[Waiting] = []
    end = ports.clock.now() + PAGE_TIME
    for entry in found:
        if entry.created_at > command.at + SKEW:
            continue
        if ports.clock.now() >= end:
            left.append(entry)
            continue
        one = Correlate(entry.subscription, command.name, command.variables, command.id)
        until = ports.clock.now() + DEADLINE
        try:
            turns.append(take_turns(ports, entry.subscription, one, until))
        except Rejected:
            continue
        except Conflict:
            left.append(entry)
    _hand_on(
        ports,
        [
            replace(command, shard=e.shard, after=e.subscription - 1, until=e.subscription)
            for e in left
        ],
    )
    return turns


def _hand_on(ports: Ports, pages: Sequence[BroadcastSignal]) -> None:
    """Send commands that go on with a broadcast; no instance owes them, so they are real."""
    now = ports.clock.now()
    messages = [Message(commands.to_text(QueuedCommand(0, page, now))) for page in pages]
    if messages:
        ports.queues.send(commands.QUEUE, messages)
