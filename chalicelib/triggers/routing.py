"""The `routing` queue: messages in channels are handled, groups of aggregators time out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from chalicelib.delivery import later, routing
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare
from chalicelib.operations.routing import receive as serve
from chalicelib.ports import Message, Ports
from chalicelib.triggers.batches import Messages, looks, serve_each, show_again

FAULT_AGAIN_S = 10  # else what faults comes again only when its function would be dead


def on_routing(
    ports: Ports, messages: Messages, receipts: Mapping[str, str] | None = None
) -> list[str]:
    """Serve messages of the queue; return the ids of those to be delivered again.

    Shapes: `receipts` are the messages' by their ids, so that what faults can come again soon.
    """
    failed = serve_each(messages, partial(receive, ports))
    for message_id in failed:
        if receipts is not None and message_id in receipts:
            show_again(ports, routing.QUEUE, receipts[message_id], FAULT_AGAIN_S)
    return failed


def receive(ports: Ports, body: str) -> None:
    """Do what a message asks for, if it is live.

    Raises: Rejected if it is none of ours; Conflict.
    """
    message = routing.from_text(body)
    for _ in looks(ports):
        match serve(ports, message):
            case Spare() | LiveDue():
                return
            case LiveLater(at):
                later.send_on(ports, routing.QUEUE, [routing.later(message, at)])
                return
            case Early():
                continue
            case _ as never:
                assert_never(never)
    after_s = routing.put_back_after_s(message, ports.clock.now())
    ports.queues.send(routing.QUEUE, [Message(body, after_s)])
