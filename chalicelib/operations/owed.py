"""What turns owe at once: done right after the commit, breadth first and not recursive.

What is left, loses or fails is left to its message, which comes some seconds later; so does what
is not done here at all. Design section 4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import assert_never

from chalicelib.engine.commands import (
    BroadcastSignal,
    CancelChild,
    Continue,
    HearEnd,
    HearEscalation,
    HearIteration,
    OfferMessage,
    PublishMessage,
    Retire,
    SeekMessage,
    SeekStart,
    StartChild,
)
from chalicelib.engine.effects import Send
from chalicelib.engine.turn import Turn
from chalicelib.operations import broadcasts, buffering, children, correlation, retention
from chalicelib.operations.attempts import unfailing
from chalicelib.operations.turns import take_turns
from chalicelib.ports import Ports

INLINE_MAX = 32  # commands that a request runs after its commit (design section 4)
INLINE_TIME = timedelta(seconds=3)


def run_inline(ports: Ports, turn: Turn) -> Turn:
    """Do at once what a turn owes; return the last turn of its instance. It never raises."""
    run_all(ports, [turn], turns := [turn])
    mine = (each for each in reversed(turns) if each.after.key == turn.after.key)
    return next(mine)


def run_all(ports: Ports, owing: Iterable[Turn], made: list[Turn] | None = None) -> None:
    """Do at once what turns owe, and what those owe that are made by it. It never raises.

    Shapes: `made` is given the turns that follow.
    """
    owed = deque(send for turn in owing for send in _at_once(turn))
    end = ports.clock.now() + INLINE_TIME
    for _ in range(INLINE_MAX):
        if not owed or ports.clock.now() >= end:
            break
        send = owed.popleft()
        with unfailing(f"{type(send.command).__name__} of instance {send.instance_key}"):
            for turn in do(ports, send, end):
                owed.extend(_at_once(turn))
                if made is not None:
                    made.append(turn)


def do(ports: Ports, send: Send, until: datetime) -> list[Turn]:
    """Do one command that was owed; return the turns it made of instances.

    Raises: Rejected, also TooLarge; Conflict.
    """
    command = send.command
    match command:
        case Continue():
            return [take_turns(ports, send.instance_key, command, until)]
        case PublishMessage():
            return correlation.publish_thrown(ports, command)
        case OfferMessage() | SeekMessage() | SeekStart():
            return buffering.look(ports, command)
        case BroadcastSignal():
            return broadcasts.broadcast(ports, command)
        case Retire():
            retention.retire(ports, send.instance_key)
            return []
        case StartChild() | CancelChild() | HearEnd() | HearEscalation() | HearIteration():
            return children.do(ports, send.instance_key, command, until)
        case _ as never:
            assert_never(never)


def _at_once(turn: Turn) -> list[Send]:
    """Return what a turn owes that is done at once; the rest can wait for its message."""
    sends = (effect for effect in turn.effects if isinstance(effect, Send))
    return [send for send in sends if not isinstance(send.command, Retire)]
