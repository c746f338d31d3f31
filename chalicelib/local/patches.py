"""What we change in ministack: where it waits, forgets too little, or two of its threads meet.

All names here are private to the pinned version. Each is looked for before it is replaced, so
that another version runs as it does by itself; `tests/local` has a test for each that matters.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

SCHEDULE_TICK_S = 0.2
SCHEDULE_TICK_MAX_S = 10.0  # ministack's own
SCHEDULE_REST = 20  # times the work of the last tick: 20,000 schedules take 0.1 s
LOG_WAIT_S = (0.002, 0.002, 0.25)  # ministack's own first wait: 50 ms for each call of a zip
LOOP_TIMEOUT_S = 30.0

Patch = Callable[..., Any]

pollers_may_work = threading.Event()  # of the event source mappings
_loop: asyncio.AbstractEventLoop | None = None
_is_applied = False


def run_queues_on(loop: asyncio.AbstractEventLoop) -> None:
    """Say which loop serves the API: from now on all that changes queues happens there."""
    global _loop  # noqa: PLW0603  ministack is one per process, as modules are
    _loop = loop


def apply() -> None:
    """Replace what is in the way, once."""
    global _is_applied  # noqa: PLW0603
    if _is_applied:
        return
    _is_applied = True
    from ministack.core import lambda_runtime  # noqa: PLC0415  reads the environment
    from ministack.services import eventbridge, lambda_svc, scheduler, sqs  # noqa: PLC0415

    drain = getattr(getattr(lambda_runtime, "Worker", None), "_drain_stderr_bounded", None)
    if drain is not None:
        drain.__defaults__ = LOG_WAIT_S
    if hasattr(scheduler, "_SCHEDULE_TICK_INTERVAL"):
        scheduler._SCHEDULE_TICK_INTERVAL = SCHEDULE_TICK_S
    _wrap(scheduler, "_tick_schedules", lambda tick: _paced(scheduler, tick))
    _wrap(lambda_svc, "_emit_lambda_logs", _only_what_was_logged)
    _wrap(lambda_svc, "_poll_sqs", _only_while_allowed)
    for module, name in (
        (sqs, "_receive_messages_for_esm"),
        (sqs, "_delete_messages_for_esm"),
        (eventbridge, "_dispatch_to_sqs"),
    ):
        _wrap(module, name, _on_the_loop)
    _wrap(sqs, "_collect_msgs", lambda collect: _stopping_early(sqs, collect))
    _wrap(sqs, "_expire_retained", _while_the_first_is_expired)


def end_functions() -> None:
    """End the processes of functions that were uploaded as zips, and remove what they unpacked."""
    from ministack.core import lambda_runtime  # noqa: PLC0415

    if hasattr(lambda_runtime, "reset"):
        lambda_runtime.reset()


def _wrap(module: Any, name: str, patch: Callable[[Patch], Patch]) -> None:
    original = getattr(module, name, None)
    if original is not None:
        setattr(module, name, patch(original))


def _paced(scheduler: Any, tick: Patch, worked_s: Callable[[], float] = time.thread_time) -> Patch:
    """Look at schedules often while they are few, and never most of the time.

    Units: `worked_s` is the thread's time on a processor, in seconds. By a clock, one look at which
        this machine was busy or stopped would put off the next ones by many times as long.
    """

    def tick_and_pace() -> None:
        began = worked_s()
        tick()
        rest = (worked_s() - began) * SCHEDULE_REST
        scheduler._SCHEDULE_TICK_INTERVAL = min(max(SCHEDULE_TICK_S, rest), SCHEDULE_TICK_MAX_S)

    return tick_and_pace


def _only_what_was_logged(emit: Patch) -> Patch:
    """Keep no log stream for a call that logged nothing: each is 2 kB, for ever."""

    def emit_some(func: Any, request_id: str, log_text: str, *rest: Any, **named: Any) -> None:
        if log_text:
            emit(func, request_id, log_text, *rest, **named)

    return emit_some


def _only_while_allowed(poll: Patch) -> Patch:
    """Hand out no message once the server is stopping: it would be half done."""
    return lambda: pollers_may_work.is_set() and poll()


def _on_the_loop(change: Patch) -> Patch:
    """Do it in the thread that serves the API.

    There a message is appended to the very list that other threads copy, filter and replace;
    one that comes in between would be gone.
    """

    def change_there(*args: Any) -> Any:
        if _loop is None or _loop.is_closed() or threading.get_ident() == _thread_of(_loop):
            return change(*args)

        async def do() -> Any:
            return change(*args)

        # It takes the caller's context along, which says whose account this is.
        return asyncio.run_coroutine_threadsafe(do(), _loop).result(LOOP_TIMEOUT_S)

    return change_there


def _thread_of(loop: asyncio.AbstractEventLoop) -> int | None:
    return getattr(loop, "_thread_id", None)


def _stopping_early(sqs: Any, collect: Patch) -> Patch:
    """Take the first visible messages without looking at all the others, of which are thousands.

    A message that lacks anything, from a snapshot of another version, is left to the original.
    """

    def collect_first(queue: dict[str, Any], limit: int, visibility_s: int) -> Any:
        if queue["is_fifo"] or any("md5_body" not in each for each in queue["messages"][:1]):
            return collect(queue, limit, visibility_s)
        now = time.time()
        taken: list[Any] = []
        for message in queue["messages"]:
            if message["visible_at"] <= now:
                taken.append(message)
                if len(taken) == limit:
                    break
        # Only these go through the original, as if there were no others.
        return collect({**queue, "messages": taken}, limit, visibility_s) if taken else []

    return collect_first


def _while_the_first_is_expired(expire: Patch) -> Patch:
    """Look through a queue for expired messages only if its oldest is: they are in order."""

    def expire_if_any(queue: dict[str, Any]) -> None:
        first = queue["messages"][0] if queue["messages"] else None
        if first is None:
            return
        retention_s = int(queue["attributes"].get("MessageRetentionPeriod", "345600"))
        if first.get("enqueued_at", first.get("sent_at", 0.0)) <= time.time() - retention_s:
            expire(queue)

    return expire_if_any
