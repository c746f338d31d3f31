"""Would a request succeed now, and how much is open?"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.ports import LIVE, ItemKey, Ports
from chalicelib.store import census

PROBE = ItemKey(LIVE, "probe", "probe")  # names no item: the question is whether it is answered


def reasons_not_ready(ports: Ports) -> list[str]:
    """Return why not, in words for an operator without anything internal; empty when ready."""
    try:
        ports.table.get(PROBE)
    except Exception as error:  # whatever keeps the table from answering is the answer here
        return [f"the live table does not answer: {type(error).__name__}"]
    return []


def gauges(ports: Ports) -> Mapping[str, tuple[str, int]]:
    """Return what the newest sweep found open, under ZenBPM's names, each with what it is; nothing
    before a sweep came to its end.

    Source: contracts/zenbpm.md 5.2.
    """
    found = census.newest(ports.table)
    if found is None:
        return {}
    running = ("Process instances that have not ended, by the newest sweep.", found.instances)
    waiting = ("Jobs that a worker could have at once, by the newest sweep.", found.jobs)
    return {
        "processes_running": running,
        "process_instances_active": running,
        "jobs_waiting": waiting,
    }
