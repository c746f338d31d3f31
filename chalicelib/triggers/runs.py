"""The `runs` queue: firings of scheduled jobs, attempts of their runs, and insurances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing, Insurance, RunMessage, RunsMessage
from chalicelib.delivery.verdicts import Verdict
from chalicelib.operations.firings import again, fire
from chalicelib.operations.runs import run
from chalicelib.ports import Ports
from chalicelib.triggers.batches import Messages, serve_each, serve_soon_again, settle

FAULT_AGAIN_S = 30  # else what faults comes again only when its function would be dead


def on_runs(
    ports: Ports, messages: Messages, receipts: Mapping[str, str] | None = None
) -> list[str]:
    """Serve messages of scheduled jobs; return the ids of those to be delivered again.

    Shapes: `receipts` are the messages' by their ids, so that what faults can come again soon.
    """
    failed = serve_each(messages, partial(receive, ports))
    serve_soon_again(ports, runs.QUEUE, failed, receipts or {}, FAULT_AGAIN_S)
    return failed


def receive(ports: Ports, body: str) -> None:
    """Do what a message asks for, if it is live.

    Raises: Rejected if it is none of ours; Conflict.
    """
    message = runs.from_text(body)
    settle(
        ports,
        runs.QUEUE,
        body,
        lambda: _serve(ports, message),
        lambda at: None if isinstance(message, Insurance) else runs.later(message, at),
        lambda: runs.put_back_after_s(message, ports.clock.now()),
    )


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
