"""The `timers` queue: what is due fires, what is early or for later is sent again."""

from __future__ import annotations

from functools import partial

from chalicelib.delivery import start_timers, timers
from chalicelib.delivery.start_timers import StartMessage
from chalicelib.delivery.verdicts import LiveDue, Verdict
from chalicelib.engine.commands import FireTimer
from chalicelib.engine.state import RecordKey, Timer
from chalicelib.operations.advance import advance
from chalicelib.operations.start_timers import fire_start
from chalicelib.ports import Ports
from chalicelib.store import instances
from chalicelib.store.start_timers import read
from chalicelib.triggers.batches import Messages, serve_each, settle


def on_timers(ports: Ports, messages: Messages) -> list[str]:
    """Serve timer messages; return the ids of those to be delivered again."""
    return serve_each(messages, partial(receive, ports))


def receive(ports: Ports, body: str) -> None:
    """Judge a timer message by the root, then the timer, and do what it asks for.

    Raises: Rejected if it is none, or its timer is refused for good; Conflict.
    """
    if start_timers.is_start(body):
        _receive_start(ports, body)
        return
    message = timers.from_text(body)
    settle(
        ports,
        timers.QUEUE,
        body,
        lambda: _serve(ports, message),
        lambda _: timers.later(message),
    )


def _serve(ports: Ports, message: timers.TimerMessage) -> Verdict:
    root_version, timer = _read(ports, message)
    verdict = timers.judge(message, timer, root_version, ports.clock.now())
    if isinstance(verdict, LiveDue):
        advance(ports, message.instance_key, FireTimer(message.timer_key, message.due))
    return verdict


def _receive_start(ports: Ports, body: str) -> None:
    """Judge the message of a timer start event by the latest version of its process."""
    message = start_timers.from_text(body)
    settle(
        ports,
        timers.QUEUE,
        body,
        lambda: _serve_start(ports, message),
        lambda _: start_timers.later(message),
    )


def _serve_start(ports: Ports, message: StartMessage) -> Verdict:
    starts = read(ports.table, message.profile, message.bpmn_process_id)
    verdict = start_timers.judge(message, starts, ports.clock.now())
    if isinstance(verdict, LiveDue):
        fire_start(ports, message)
    return verdict


def _read(ports: Ports, message: timers.TimerMessage) -> tuple[int | None, Timer | None]:
    """Read the root before the timer: what its version made is then there, or was ended."""
    key = RecordKey(Timer, message.timer_key)
    instance = instances.load(ports.table, message.instance_key, [key])
    if instance is None:
        return None, None
    timer = instance.records.get(key)
    return instance.root.version, timer if isinstance(timer, Timer) else None
