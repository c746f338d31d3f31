"""Open jobs rung for anew, many at a time: each bell is promised before its job is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from chalicelib.delivery import bells
from chalicelib.delivery.promise import is_fresh, promise_in_time
from chalicelib.engine.state import Job
from chalicelib.ports import Ports, Table
from chalicelib.store.jobs import Lost

CHUNK_MAX = 50  # jobs rung for at once: they are all written before the promise is 20 s old


def ring_anew(
    ports: Ports,
    waiting: Sequence[Job],
    out_at: Callable[[Job, datetime], datetime],
    write: Callable[[Table, Job, datetime], Job | Lost],
) -> int:
    """Ring the next number for each job; return for how many.

    One that was changed since it was read needs the ring no more, and is left as it is.
    Shapes: `out_at` says when a job may be handed out, given the time; `write` makes that ring
        the live one.
    """
    written = 0
    for first in range(0, len(waiting), CHUNK_MAX):
        chunk = waiting[first : first + CHUNK_MAX]
        now = ports.clock.now()
        at = [out_at(job, now) for job in chunk]
        owed = [bells.next_ring(job, when) for job, when in zip(chunk, at, strict=True)]
        promised_at = promise_in_time(ports, owed)
        for number, job in enumerate(chunk):
            if not is_fresh(ports, promised_at):
                promised_at = promise_in_time(ports, owed[number:])
            written += isinstance(write(ports.table, job, at[number]), Job)
    return written
