"""Timers: when they are due, and what follows when they fire.

A timer is a record that waits for a whole second. Firing ends it: a catch event goes on, a
boundary event interrupts its activity or sends a token beside it. The next firing of a cycle is a
new timer under a new key, on the grid after now, so missed ones fire once.

Source: BPMN 2.0.2 section 13.5.3; contracts/zenbpm.md 4.3 (timers); design section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.timers import Firing, first_firing, next_firing
from chalicelib.engine import catching
from chalicelib.engine.commands import FireTimer
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import SetTimer
from chalicelib.engine.expressions import blamed, extract_text
from chalicelib.engine.state import ElementInstance, Timer
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Armed, Disarmed
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

Planned = tuple["Node", str, Firing]


def plan(draft: Draft, node: Node, seen: JsonObject) -> Planned | None:
    """Say when a timer event fires first; None if never. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    assert node.timer is not None
    kind, compute = node.timer.kind, node.timer.compute
    try:
        text = extract_text(compute, seen, draft.moment, f"timer of {node.id}")
    except Stuck as stuck:
        raise blamed(draft, compute, seen, stuck) from None
    try:
        firing = first_firing(kind, text, draft.now)
    except InvalidTime as error:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"timer of {node.id}: {error}") from error
    return None if firing is None else (node, text, firing)


def set_timer(draft: Draft, element_key: int, node: Node, text: str, firing: Firing) -> Timer:
    """Make the record of a firing to come, and owe the outside its message."""
    assert node.timer is not None
    repeats = node.timer.kind == "cycle" and not node.element.cancel_activity
    timer = Timer(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=node.id,
        element_key=element_key,
        due=firing.due,
        created_at=draft.now,
        remaining=firing.remaining if repeats else 0,
        interval=text if repeats else None,
        anchor=firing.anchor if repeats else None,
        part=node.part or None,
    )
    draft.put(timer)
    draft.history.append(Armed(timer.key, node.id, element_key, timer.due))
    draft.emit(SetTimer(draft.key, timer.key, timer.due, draft.version))
    return timer


def fire(draft: Draft, command: FireTimer) -> None:
    """Let a timer fire. One that is gone, or is for another second, has fired already.

    Raises: Rejected(INVALID_STATE) before its time: the sender looks again later.
    """
    timer = draft.find(Timer, command.timer_key)
    if timer is None or timer.due != command.due:
        return
    if draft.now < timer.due:
        raise Rejected(Reason.INVALID_STATE, f"timer {timer.key} is due at {timer.due.isoformat()}")
    element = draft.live[timer.element_key]
    node = draft.plan.nodes[timer.element_id]
    draft.history.append(Disarmed(timer.key, fired=True))
    _end(draft, _cyclic(node, timer), element, timer)
    catching.happen(draft, node, draft.live[element.key], {}, timer.part)


def _cyclic(node: Node, timer: Timer) -> Node:
    """Return, of an event of several definitions, itself with the cycle that a timer is for."""
    cycles = [part for part in node.parts if part.timer is not None and part.timer.kind == "cycle"]
    own = (part for part in cycles if part.part == timer.part)
    return next(own, cycles[0] if cycles else node)


def _end(draft: Draft, node: Node, element: ElementInstance, timer: Timer) -> None:
    """End a timer that fired, and set the next one of its cycle."""
    draft.drop(Timer, timer.key)
    rest = tuple(key for key in element.timers if key != timer.key)
    if timer.interval is not None and timer.anchor is not None:
        fired = Firing(timer.due, timer.remaining, timer.anchor)
        following = next_firing(timer.interval, fired, draft.now)
        if following is not None:
            rest = (*rest, set_timer(draft, element.key, node, timer.interval, following).key)
    draft.live[element.key] = element._replace(timers=rest)
