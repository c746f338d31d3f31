"""Messages that callers publish."""

from __future__ import annotations

from chalicelib.errors import Reason, Rejected
from chalicelib.operations.correlation import Message, lost, publish
from chalicelib.operations.owed import run_all
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports
from chalicelib.store.marks import Once

__all__ = ["Message", "publish_message"]


def publish_message(ports: Ports, message: Message, once: Once | None = None) -> None:
    """Correlate a message with who waits for its name and key, else start an instance by its name.

    Raises: Rejected(NOT_FOUND) if nobody waits: the message is lost; TooLarge; Conflict.
    """
    if done_before(ports, once) is not None:
        return
    turns = publish(ports, message, once)
    if not turns:
        if done_before(ports, once) is not None:
            return
        lost(ports, message)
        key = message.correlation_key
        named = "" if key is None else f" with correlation key {key!r}"
        raise Rejected(
            Reason.NOT_FOUND,
            f"nobody waits for message {message.name!r}{named}, and it starts no process",
        )
    run_all(ports, turns)
