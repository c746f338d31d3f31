"""How long an ended instance is kept: all its items get one time to live.

The turn that ends an instance gives what it writes its time to live and owes the rest a command,
which comes here by its message. DynamoDB deletes what has expired some time after that.

Parts of multi-instance bodies are told when the instance they are parts of is retired. Its history
names them, and an item of that is given its time to live after those it names were told, so whoever
goes on tells the rest. One whose message was lost is found by the daily sweep.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.engine.commands import Retire
from chalicelib.errors import Conflict
from chalicelib.ports import Item, Message, Ports
from chalicelib.store import history, instances, retention

RETIRE_TIME = timedelta(seconds=10)  # of the 30 s for a batch; what is left, the message brings


def time_to_live(ports: Ports, wanted: timedelta | None = None) -> timedelta | None:
    """Return how long the history of what starts now stays after its end; None for ever.

    Shapes: what is `wanted` counts instead of the setting; in both nothing means for ever.
    """
    if wanted is None:
        wanted = timedelta(seconds=ports.settings.history_time_to_live_s)
    return wanted or None


def retire(ports: Ports, instance_key: int) -> None:
    """Give all items of an ended instance their time to live, in both tables, and tell its parts.

    Doing it again goes on where it stopped. One that is kept for ever is left alone.
    Raises: Conflict if there is more than fits the time: then the message comes again.
    """
    instance = instances.load(ports.table, instance_key)
    at = None if instance is None else retention.expires_at_with_whole(ports.table, instance.root)
    if instance is None or at is None:
        return
    end = ports.clock.now() + RETIRE_TIME
    for place, item in retention.left(ports.table, instance.root, at):
        _tell_parts(ports, item)
        retention.give(ports.table, place, at)
        if ports.clock.now() >= end:
            raise Conflict(f"instance {instance_key} has more items than can be retired at once")


def _tell_parts(ports: Ports, item: Item) -> None:
    """Have the parts retired that an item of history names."""
    called = history.called(item)
    if not called:
        return
    now, roots = ports.clock.now(), instances.roots(ports.table, called)
    parts = [QueuedCommand(key, Retire(), now) for key, root in roots.items() if root.is_part]
    ports.queues.send(commands.QUEUE, [Message(commands.to_text(each)) for each in parts])
