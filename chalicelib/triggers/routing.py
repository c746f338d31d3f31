"""The `routing` queue: messages in channels are handled, groups of aggregators time out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from chalicelib.delivery import routing
from chalicelib.operations.routing import receive as serve
from chalicelib.ports import Ports
from chalicelib.triggers.batches import Messages, serve_each, serve_soon_again, settle

FAULT_AGAIN_S = 10  # else what faults comes again only when its function would be dead


def on_routing(
    ports: Ports, messages: Messages, receipts: Mapping[str, str] | None = None
) -> list[str]:
    """Serve messages of the queue; return the ids of those to be delivered again.

    Shapes: `receipts` are the messages' by their ids, so that what faults can come again soon.
    """
    failed = serve_each(messages, partial(receive, ports))
    serve_soon_again(ports, routing.QUEUE, failed, receipts or {}, FAULT_AGAIN_S)
    return failed


def receive(ports: Ports, body: str) -> None:
    """Do what a message asks for, if it is live.

    Raises: Rejected if it is none of ours; Conflict.
    """
    message = routing.from_text(body)
    settle(
        ports,
        routing.QUEUE,
        body,
        lambda: serve(ports, message),
        lambda at: routing.later(message, at),
        lambda: routing.put_back_after_s(message, ports.clock.now()),
    )
