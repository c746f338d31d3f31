"""A sweep in parts of some seconds, off the `commands` queue, each going on from a cursor.

Hourly what is open is looked at: open instances, scheduled jobs with their rows, timer starts.
Daily it is the whole live table, which tells what waits in channels too, and whatever no index
names; that costs by all that was ever stored (docs/adr/0036).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from chalicelib.delivery import commands, sweeps
from chalicelib.delivery.sweeps import Part
from chalicelib.engine.facts import Census
from chalicelib.operations.attempts import tell
from chalicelib.operations.sweep import Sweeper, Swept, report
from chalicelib.ports import Message, Ports
from chalicelib.store import census, sweeping
from chalicelib.store.census import Share
from chalicelib.store.sweeping import PARTS, Of

WHOLE_HOUR = 3  # of the day, in UTC, at which the whole table is looked at
PART_TIME = timedelta(seconds=10)  # of one part, of the 30 s for a batch of messages
SWEEP_AGE_MAX = timedelta(days=1)  # a sweep that takes longer is left to those begun since
COUNTING = frozenset({Of.ALL, Of.INSTANCES})  # each sees all that is open


def on_hour(ports: Ports) -> None:
    """Begin the sweep of this hour."""
    begin(ports, whole=ports.clock.now().hour == WHOLE_HOUR)


def begin(ports: Ports, *, whole: bool) -> None:
    """Send the first part of each segment, of everything or of what is open."""
    began = ports.clock.now()
    wanted = (Of.ALL,) if whole else (Of.INSTANCES, Of.SCHEDULED, Of.STARTS)
    parts = [
        Part(segment, PARTS[of], began, of=of) for of in wanted for segment in range(PARTS[of])
    ]
    ports.queues.send(commands.QUEUE, [Message(sweeps.to_text(part)) for part in parts])


def sweep_part(ports: Ports, part: Part) -> Swept:
    """Look at one part, and send what is left of its segment as the next."""
    end = ports.clock.now() + PART_TIME
    sweeper = Sweeper(ports, instances=part.instances, jobs=part.jobs)
    cursor = part.cursor
    while True:
        page = sweeping.page(ports.table, part.of, part.segment, part.segments, cursor)
        sweeper.look_at(page.items)
        cursor = page.cursor
        if cursor is None or ports.clock.now() >= end:
            break
    share = Share(sweeper.instances, sweeper.jobs)
    if cursor is None and part.of in COUNTING:
        _count(ports, part, share)
    elif cursor is not None and ports.clock.now() - part.began < SWEEP_AGE_MAX:
        rest = replace(part, cursor=cursor, instances=share.instances, jobs=share.jobs)
        ports.queues.send(commands.QUEUE, [Message(sweeps.to_text(rest))])
    report(sweeper)
    return sweeper.swept


def _count(ports: Ports, part: Part, share: Share) -> None:
    """Write down what a segment has open; the last one to end tells the sum."""
    total = census.add(ports.table, part.began, part.segment, part.segments, share)
    if total is not None:
        tell(ports, [Census(*total)])
