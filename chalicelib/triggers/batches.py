"""Messages that a queue hands to a function: each is served alone, and only faults come again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import assert_never

from chalicelib.delivery import later
from chalicelib.delivery.horizon import EARLY_DELAY_S, LOOKS_AGAIN_S
from chalicelib.delivery.later import Later
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
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


def serve_soon_again(
    ports: Ports, queue: str, failed: Iterable[str], receipts: Mapping[str, str], after_s: int
) -> None:
    """Let messages that faulted come again soon, not when the visibility of their queue is over.

    Shapes: `failed` are ids of messages, `receipts` theirs as far as they are known.
    """
    for message_id in failed:
        if message_id in receipts:
            show_again(ports, queue, receipts[message_id], after_s)


def settle(
    ports: Ports,
    queue: str,
    body: str,
    serve: Callable[[], Verdict],
    later_for: Callable[[datetime], Later | None] = lambda _: None,
    put_back_after_s: Callable[[], int] = lambda: EARLY_DELAY_S,
) -> None:
    """Serve a received message, looking again while it is early, and then put it back.

    Shapes: `serve` judges it, does what it asks for if it is due, and says what it was;
        `later_for` gives what is sent on for a later time, None if nothing is.
    """
    for _ in looks(ports):
        match serve():
            case Spare() | LiveDue():
                return
            case LiveLater(at):
                if (sent_on := later_for(at)) is not None:
                    later.send_on(ports, queue, [sent_on])
                return
            case Early():
                continue
            case _ as never:
                assert_never(never)
    put_back(ports, queue, body, put_back_after_s())


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


def put_back(ports: Ports, queue: str, body: str, after_s: int = EARLY_DELAY_S) -> None:
    """Let an early message be received once more after some seconds; its age goes with it."""
    ports.queues.send(queue, [Message(body, after_s)])
