"""How long an ended instance is kept: all its items get one time to live.

The turn that ends an instance gives what it writes its time to live and owes the rest a command,
which comes here by its message. DynamoDB deletes what has expired some time after that.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.errors import Conflict
from chalicelib.ports import Ports
from chalicelib.store import instances, retention

RETIRE_TIME = timedelta(seconds=20)  # of the function's 30 s; what is left, the message brings


def time_to_live(ports: Ports, wanted: timedelta | None = None) -> timedelta | None:
    """Return how long the history of what starts now stays after its end; None for ever.

    Shapes: what is `wanted` counts instead of the setting; in both nothing means for ever.
    """
    if wanted is None:
        wanted = timedelta(seconds=ports.settings.history_time_to_live_s)
    return wanted or None


def retire(ports: Ports, instance_key: int) -> None:
    """Give all items of an ended instance their time to live, in both tables.

    Doing it again goes on where it stopped. One that is kept for ever is left alone.
    Raises: Conflict if there is more than fits the time: then the message comes again.
    """
    instance = instances.load(ports.table, instance_key)
    if instance is None:
        return
    end = ports.clock.now() + RETIRE_TIME
    for _ in retention.expire(ports.table, instance.root):
        if ports.clock.now() >= end:
            raise Conflict(f"instance {instance_key} has more items than can be retired at once")
