"""Would a request succeed now?"""

from __future__ import annotations

from chalicelib.ports import LIVE, ItemKey, Ports

PROBE = ItemKey(LIVE, "probe", "probe")  # names no item: the question is whether it is answered


def reasons_not_ready(ports: Ports) -> list[str]:
    """Return why not, in words for an operator without anything internal; empty when ready."""
    try:
        ports.table.get(PROBE)
    except Exception as error:  # whatever keeps the table from answering is the answer here
        return [f"the live table does not answer: {type(error).__name__}"]
    return []
