"""Requests that their callers want done once, however often they are sent.

A key that the caller chose stands for the request: what was done is marked in its own transaction,
and a repeat finds the mark. Design section 3, "Start mark".
"""

from __future__ import annotations

from chalicelib.errors import Reason, Rejected
from chalicelib.ports import Ports
from chalicelib.store import marks
from chalicelib.store.marks import Once


def mark_done(ports: Ports, once: Once, subject: int = 0) -> None:
    """Mark a request as done, with the key of what it made or changed, of which there may be none.

    For what is many transactions, or none, and happens once by itself; a mark that is there stays.
    """
    ports.table.write(marks.write(once, subject, now=ports.clock.now()))


def done_before(ports: Ports, once: Once | None) -> int | None:
    """Return the key of what a request made or changed when it came before, None if it did not.

    Raises: Rejected(INVALID_STATE) if the caller's key came before with another body.
    """
    if once is None:
        return None
    mark = marks.read(ports.table, once, now=ports.clock.now())
    if mark is None:
        return None
    if mark.fingerprint != once.fingerprint:
        raise Rejected(
            Reason.INVALID_STATE,
            f"the Idempotency-Key {once.key!r} was used for another request body before; "
            "expected the same body, or another key",
        )
    return mark.subject
