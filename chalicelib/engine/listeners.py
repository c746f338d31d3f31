"""Listeners: event subprocesses of a live scope that wait for a timer, a message or a signal, or
for several things.

A listener is an element instance of the start event, in the scope around the event subprocess. It
holds no token and is not in the history: it only has the timer or the subscription, what came
already, or the incident that says why it could not be armed. It ends with its scope,
and when another event subprocess interrupts the scope.

Source: BPMN 2.0.2 section 13.5.4; contracts/zenbpm.md 4.3 ("Event sub-process").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import variables, waits
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Stage
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.engine.turn import Iterated
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def listen(draft: Draft, scope: int, scope_id: str, more: JsonObject | None = None) -> None:
    """Arm the event subprocesses of a scope that was opened; of each that cannot be, an incident
    says why.

    Shapes: `more` are variables that the scope is about to get.
    """
    if scope_id not in draft.plan.listened:
        return
    for start in draft.plan.triggers[scope_id]:
        if start.is_waited:
            key = draft.keys.next()
            element = ElementInstance(key, start.id, scope, draft.now, is_listening=True)
            if scope != draft.key:
                draft.history.append(Iterated(key, scope))
            arm(draft, start, element, more or {})


def arm(draft: Draft, start: Node, element: ElementInstance, more: JsonObject) -> None:
    """Let a listener wait, or stop it; one for which nothing will ever come is none."""
    try:
        seen = {**variables.visible(draft, element.scope), **more}
        planned = waits.plan_all(draft, start.waits, seen)
    except Stuck as stuck:
        stuck.stage = Stage.ARMING
        stop(draft, element, stuck)
        return
    if planned or start.conditions:
        waits.arm(draft, element, planned)
    else:
        draft.live.pop(element.key, None)
