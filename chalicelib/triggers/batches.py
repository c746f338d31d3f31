"""Messages that a queue hands to a function: each is served alone, and only faults come again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from chalicelib.delivery.horizon import EARLY_DELAY_S, LOOKS_AGAIN_S
from chalicelib.errors import Rejected
from chalicelib.ports import Message, Ports

Messages = Iterable[tuple[str, str]]  # message id and body

logger = logging.getLogger(__name__)


def serve_each(messages: Messages, serve: Callable[[str], None]) -> list[str]:
    """Serve each message; return the ids of those to be delivered again.

    A message that is rejected would be rejected again, so it is dropped with a line in the log.
    This is the outermost door of a trigger, where any other exception is a fault to be repeated.
    """
    failed = []
    for message_id, body in messages:
        try:
            serve(body)
        except Rejected as rejected:
            logger.warning("dropped message %s: %s; it said %s", message_id, rejected, body[:200])
        except Exception:
            logger.exception("message %s faulted: %s", message_id, body[:200])
            failed.append(message_id)
    return failed


def looks(ports: Ports) -> Iterator[None]:
    """Yield once, and again after each of the waits that an early message is given."""
    yield
    for pause_s in LOOKS_AGAIN_S:
        ports.clock.sleep(pause_s)
        yield


def show_again(ports: Ports, queue: str, receipt: str, after_s: int) -> None:
    """Let a message that faulted come again before the visibility of its queue is over.

    What goes wrong here is only logged: then it comes when that is over.
    """
    try:
        ports.queues.show_again(queue, receipt, after_s)
    except Exception:
        logger.exception("a message of queue %s that faulted comes again late", queue)


def put_back(ports: Ports, queue: str, body: str) -> None:
    """Let an early message be received once more in a second; its age goes with it."""
    ports.queues.send(queue, [Message(body, EARLY_DELAY_S)])
