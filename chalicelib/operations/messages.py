"""Messages that callers publish."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.errors import Reason, Rejected
from chalicelib.operations.buffering import let_wait
from chalicelib.operations.correlation import Message, lost, publish
from chalicelib.operations.owed import run_all
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports
from chalicelib.store.marks import Once

__all__ = ["Message", "let_message_wait", "publish_message"]


def let_message_wait(
    ports: Ports,
    message: Message,
    time_to_live: timedelta,
    message_id: str = "",
    once: Once | None = None,
) -> None:
    """Correlate a message with all who wait for it, and who will within its time to live.

    Raises: Rejected(INVALID_STATE) for a message id that waits already; TooLarge; Conflict.
    """
    if done_before(ports, once) is None:
        run_all(ports, let_wait(ports, message, time_to_live, message_id, once))


def publish_message(ports: Ports, message: Message, once: Once | None = None) -> int:
    """Correlate a message with who waits for its name and key, else start an instance by its name.

    Returns the key of the instance that got it, the first one of several.
    Raises: Rejected(NOT_FOUND) if nobody waits: the message is lost; TooLarge; Conflict.
    """
    key = done_before(ports, once)
    if key is not None:
        return key
    turns = publish(ports, message, once)
    if not turns:
        key = done_before(ports, once)
        if key is not None:
            return key
        lost(ports, message)
        correlation_key = message.correlation_key
        named = "" if correlation_key is None else f" with correlation key {correlation_key!r}"
        raise Rejected(
            Reason.NOT_FOUND,
            f"nobody waits for message {message.name!r}{named}, and it starts no process",
        )
    run_all(ports, turns)
    return turns[0].after.key
