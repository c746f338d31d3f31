"""In which scope an operator's token is put: that of the live element around it, else of a new one.

An activity that repeats is two scopes or three, one in the other: its body, of many an iteration,
and the activity itself, which is what a token is put in. A standard loop that is not live begins
its first round for the token. Of many it cannot be told for which of them the token would be, so
one has to be live; where several are, the operator names one.

Source: Camunda 8 documentation, "Process instance modification" (ancestor selection, limitations).
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import ad_hoc_jobs, loops, purges
from chalicelib.engine.draft import Draft
from chalicelib.engine.elements import subprocesses
from chalicelib.engine.stuck import Stuck
from chalicelib.engine.turn import Entered
from chalicelib.errors import Reason, Rejected

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def scope_for(draft: Draft, node: Node, home: int, doomed: frozenset[int]) -> int:
    """Return the scope to start an element in; subprocesses that are not live are entered.

    Shapes: `home` is the instance, or a scope in it that chooses where there is a choice; nothing
        is started in what is `doomed`.
    Raises: Rejected if there is no such scope, or if it cannot be told which.
    """
    way = _way_to(draft, node)
    _check_part(draft, node, way)
    chosen = _outwards(draft, home)
    scope = draft.key
    for around, inside in zip_longest(way, way[1:]):
        found = _open_in(draft, around, scope, doomed)
        live = [key for key in found if key in chosen] or found
        if around.kind is Kind.AD_HOC_ACTIVATION and live is found:
            # Each element that is started is an activation, but what is inside of one it may join.
            live = [key for key in found if inside and _open_in(draft, inside, key, doomed)]
        if len(live) > 1:
            raise refusal(
                f"element {node.id}: expected one live {around.id} to start it in, found "
                f"{len(live)}: {', '.join(map(str, live))}"
            )
        scope = live[0] if live else _begin(draft, node, around, scope)
    return scope


def _way_to(draft: Draft, node: Node) -> list[Node]:
    """Return the subprocesses around an element, the outermost first."""
    process, way = draft.plan.process, []
    around = node.element.scope
    while around != process.id:
        way.append(draft.plan.nodes[around])
        around = process.elements[around].scope
    return way[::-1]


def _check_part(draft: Draft, node: Node, way: list[Node]) -> None:
    """Let what is inside of an activity pass where the instance does a part of it and no more."""
    if not draft.root.is_part:
        return
    activity = next(draft.live[key].element_id for key in draft.bodies if draft.is_part(key))
    if not way or way[0].id != activity:
        raise refusal(
            f"element {node.id}: expected an element inside of {activity}, iterations of which "
            f"are all that process instance {draft.key} does"
        )


def _outwards(draft: Draft, home: int) -> set[int]:
    """Return a live scope and those around it."""
    found = set()
    while home in draft.live:
        found.add(home)
        home = draft.live[home].scope
    return found


def _open_in(draft: Draft, node: Node, scope: int, doomed: frozenset[int]) -> list[int]:
    """Return the scopes of an element, somewhere in a scope, that are open and not about to end."""
    depth = 1 if node.inner is None else 2 if node.each is None else 3
    found = [scope]
    for _ in range(depth):
        found = [
            each.key
            for each in draft.live.values()
            if each.element_id == node.id and each.scope in found and each.key not in doomed
            if not (each.is_ending or each.child or ad_hoc_jobs.is_listened_to(draft, each))
        ]
    return [key for key in found if not purges.is_ending(draft, key)]


def _begin(draft: Draft, node: Node, around: Node, scope: int) -> int:
    """Enter a subprocess, or begin the first round of one, for the sake of what is to start in it;
    return its key. Raises: Rejected."""
    if around.many is not None:
        raise refusal(
            f"element {node.id}: expected a live iteration of {around.id} in this instance to "
            f"start it in, found none; {around.id} itself can be started"
        )
    if around.loop is not None:
        scope = _enter(draft, around, scope, is_body=True)
    return _enter(draft, draft.node(around.id, scope), scope, is_body=False)


def _enter(draft: Draft, node: Node, scope: int, *, is_body: bool) -> int:
    key = draft.keys.next()
    draft.history.append(Entered(key, node.id, scope))
    try:
        if is_body:
            loops.open_body(draft, node, scope, key)
        else:
            local = subprocesses.local_of(draft, node, scope)
            subprocesses.open_inside(draft, node, scope, key, local)
    except Stuck as stuck:
        draft.history.pop()
        raise refusal(f"subprocess {node.id} cannot be entered: {stuck.message}") from stuck
    draft.element_count += 1
    draft.count(scope, 1)
    return key


def refusal(message: str) -> Rejected:
    """Return the refusal of what an operator asks for."""
    return Rejected(Reason.INVALID_ARGUMENT, message)
