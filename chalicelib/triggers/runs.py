"""The `runs` queue: firings of scheduled jobs, attempts of their runs, and insurances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from chalicelib.delivery import later, runs
from chalicelib.delivery.runs import Firing, Insurance, RunMessage, RunsMessage
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.operations.firings import again, fire
from chalicelib.operations.runs import run
from chalicelib.ports import Message, Ports
from chalicelib.triggers.batches import Messages, looks, serve_each, show_again

FAULT_AGAIN_S = 30  # else what faults comes again only when its function would be dead


def on_runs(
    ports: Ports, messages: Messages, receipts: Mapping[str, str] | None = None
) -> list[str]:
    """Serve messages of scheduled jobs; return the ids of those to be delivered again.

    Shapes: `receipts` are the messages' by their ids, so that what faults can come again soon.
    """
    failed = serve_each(messages, partial(receive, ports))
    for message_id in failed:
        if receipts is not None and message_id in receipts:
            show_again(ports, runs.QUEUE, receipts[message_id], FAULT_AGAIN_S)
    return failed


def receive(ports: Ports, body: str) -> None:
    """Do what a message asks for, if it is live.

    Raises: Rejected if it is none of ours; Conflict.
    """
    message = runs.from_text(body)
    for _ in looks(ports):
        match _serve(ports, message):
            case Spare() | LiveDue():
                return
            case LiveLater(at):
                if not isinstance(message, Insurance):
                    later.send_on(ports, runs.QUEUE, [runs.later(message, at)])
                return
            case Early():
                continue
            case _ as never:
                assert_never(never)
    after_s = runs.put_back_after_s(message, ports.clock.now())
    ports.queues.send(runs.QUEUE, [Message(body, after_s)])


def _serve(ports: Ports, message: RunsMessage) -> Verdict:
    match message:
        case Firing():
            return fire(ports, message)
        case RunMessage():
            return run(ports, message)
        case Insurance():
            return again(ports, message)
        case _ as never:
            assert_never(never)
