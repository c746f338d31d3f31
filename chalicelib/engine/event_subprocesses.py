"""Event subprocesses: what triggers one, and what it ends when it interrupts.

One is triggered inside the scope it stands in, by what is thrown there or by what its listener
waited for (`listeners.py`). If it interrupts, all else in that scope is ended
first, so that at most one interrupts a scope; otherwise it runs beside the others.

Source: BPMN 2.0.2 section 13.5.4; contracts/zenbpm.md 4.3 ("Event sub-process").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import ad_hoc, tokens
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Move, Purge, Variables
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def trigger(draft: Draft, start: Node, scope: int, payload: JsonObject) -> None:
    """Start the event subprocess of a start event in a scope that is live.

    Shapes: `payload` is what came with the event; it becomes the subprocess's own variables.
    """
    key = draft.keys.next()
    if payload:
        draft.put(Variables(key, payload))
    move = Move(start.element.scope, scope, None, key=key)
    if start.element.cancel_activity:
        if ad_hoc.is_one(draft, scope):
            ad_hoc.end_asking(draft, scope)
        tokens.start_purge(draft, Purge(scope, move))
    else:
        draft.count(scope, 1)
        draft.agenda.append(move)


def hear(draft: Draft, start: Node, listener: ElementInstance, payload: JsonObject) -> None:
    """Trigger an event subprocess by what its listener waited for; a listener that has nothing to
    wait for any more is over."""
    trigger(draft, start, listener.scope, payload)
    waits_on = listener.timers or listener.subscriptions or start.conditions
    if not (start.element.cancel_activity or waits_on):
        draft.live.pop(listener.key)
