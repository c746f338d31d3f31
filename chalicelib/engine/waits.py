"""What an element waits for, of whatever kind: armed all at once, or not at all.

Each wait is planned first, which may fail or ask for more, and then made, which may not.

Source: BPMN 2.0.2 section 13.5; contracts/zenbpm.md 4.3 (boundary events, event-based gateway).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chalicelib.engine import subscriptions, timers
from chalicelib.engine.commands import StartChild
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.state import ChildWait, ElementInstance, Stage
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.engine.turn import ChildCalled
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

    Planned = timers.Planned | subscriptions.Named


def plan_all(draft: Draft, events: Iterable[Node], seen: JsonObject) -> list[Planned]:
    """Say what events wait for; what never comes is left out. Raises: Stuck; Missing."""
    planned = [_plan(draft, event, seen) for event in events]
    named = [each for each in planned if isinstance(each, subscriptions.Named)]
    if len(named) > 1:
        subscriptions.check_distinct(draft, named)
    return [each for each in planned if each is not None]


def arm(draft: Draft, element: ElementInstance, planned: Iterable[Planned]) -> None:
    """Let a live element wait for all that was planned."""
    timers_of, names_of = list(element.timers), list(element.subscriptions)
    for each in planned:
        if isinstance(each, subscriptions.Named):
            names_of.append(subscriptions.subscribe(draft, element.key, each).key)
        else:
            timers_of.append(timers.set_timer(draft, element.key, *each).key)
    draft.live[element.key] = element._replace(
        timers=tuple(timers_of), subscriptions=tuple(names_of)
    )


def arm_boundary(draft: Draft, node: Node, element: ElementInstance, seen: JsonObject) -> None:
    """Arm all boundary events of a live activity that wait, or none: then an incident says why
    and the activity waits meanwhile (zenbpm.md 4.3)."""
    if not node.boundary_waits:
        return
    try:
        planned = plan_all(draft, node.boundary_waits, seen)
    except Stuck as stuck:
        stuck.stage = Stage.ARMING
        stop(draft, element, stuck)
        return
    arm(draft, element, planned)


def owe_child(draft: Draft, wait: ChildWait) -> None:
    """Wait for a child instance, note that it was called, and owe its start."""
    draft.put(wait)
    draft.history.append(ChildCalled(wait.key, wait.element_key))
    draft.emit(Send(wait.key, StartChild(draft.key), draft.version))


def _plan(draft: Draft, event: Node, seen: JsonObject) -> Planned | None:
    if event.timer is not None:
        return timers.plan(draft, event, seen)
    return subscriptions.plan(draft, event, seen)
