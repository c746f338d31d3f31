"""Compensation: what completed activities left to be undone, and how it is undone.

A scope remembers which of its activities that have a handler completed, and how often. When a
subprocess completes, what is remembered inside becomes its outer scope's, unless the subprocess
has a handler itself, which then undoes it as a whole, or a compensation event subprocess, which
undoes it from inside; then it is kept for that.

What was done in scopes that have ended is undone in scopes that are opened for it, with the
variables that those left (`ended_scopes.py`).

Whoever throws compensation is a *body*: a scope that the handlers run in, all together, and that
is looked through for variables. When they are done it goes on; one that does not wait has sent its
token on before, and ends then. The cancel end event of a
transaction does the same once all else in the transaction was ended, and leaves by the
transaction's cancel boundary event.

Source: BPMN 2.0.2 sections 13.5.5 and 10.7 (compensation), 10.3.5 (transaction);
contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import EventType, Kind
from chalicelib.engine import ended_scopes, flows, purges, tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Completed, ElementInstance, Move, Purge, Stage
from chalicelib.engine.stuck import Stuck
from chalicelib.engine.turn import Left
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import Flow
    from chalicelib.engine.plans import Node


class Undo(NamedTuple):
    """What is to be undone, and how often it was done."""

    done: Completed
    times: int


# --- what is remembered ------------------------------------------------------------------------


def note(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Remember that an activity completed which can be undone."""
    _add(draft, Completed(scope, node.id, 0 if node.handler else key), 1)


def leave_scope(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Hand over what is remembered inside of a scope that completes."""
    if not draft.completed and not node.recovery:
        return
    if node.handler or node.element.event_type in (EventType.COMPENSATION, EventType.CANCEL):
        forget(draft, element.key)
    elif node.recovery:
        ended_scopes.remember(draft, element.key, ended_scopes.keep(draft, element))
    else:
        _hand_out(draft, element)


def _hand_out(draft: Draft, element: ElementInstance) -> None:
    """Let the scope around remember what is remembered inside of a scope that is over."""
    inside = [done for done in draft.completed if done.scope == element.key]
    kept = ended_scopes.keep(draft, element) if inside else ()
    for done in inside:
        handed = done._replace(scope=element.scope, seen=(*done.seen, *kept))
        _add(draft, handed, draft.completed.pop(done))


def forget(draft: Draft, scope: int) -> None:
    """Forget what is remembered in a scope, and for what was kept inside of it."""
    if not draft.completed:
        return
    todo = [scope]
    while todo:
        over = todo.pop()
        for done in [done for done in draft.completed if done.scope == over]:
            del draft.completed[done]
            if done.inside:
                todo.append(done.inside)


def _add(draft: Draft, done: Completed, times: int) -> None:
    done = done._replace(scope=_home(draft, done.scope))
    draft.completed[done] = draft.completed.get(done, 0) + times


def _home(draft: Draft, scope: int) -> int:
    """Return the scope that remembers what completed in one: for an activation in an ad-hoc
    subprocess, which the model does not know, that one."""
    element = draft.live.get(scope)
    if element is None or draft.plan.nodes[element.element_id].kind is not Kind.AD_HOC_ACTIVATION:
        return scope
    return element.scope


# --- undoing -----------------------------------------------------------------------------------


def enter_throw(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Undo what the event is about, and go on when that is done, or at once. Raises: Stuck."""
    outputs, ahead = _ahead(draft, node, scope) if node.element.goes_ahead else (None, ())
    element = _open(draft, node, scope, key)
    if outputs:
        variables.merge(draft, scope, outputs)
    if ahead:
        draft.count(scope, 1)  # for the token that goes on; the event keeps its own meanwhile
        tokens.spread(draft, scope, ahead)
    begin(draft, element, node.element.activity_ref)


def _ahead(draft: Draft, node: Node, scope: int) -> tuple[JsonObject | None, Sequence[Flow]]:
    """Return what an event hands on that does not wait, and the flows it leaves by. Raises: Stuck,
    before anything was changed."""
    try:
        outputs = variables.outputs_of(draft, node, scope, {}, {})
        ahead = flows.choose(draft, node, scope) if node.has_conditions else node.outgoing
    except Stuck as stuck:
        stuck.stage = Stage.ENTERING
        raise
    return outputs, ahead


def enter_cancel(draft: Draft, node: Node, scope: int, key: int) -> None:
    """End all else in the transaction; then it is undone, with what subprocesses did that are
    active in it. One that repeats is cancelled in all its rounds: what they did is undone together,
    and the boundary event comes once."""
    whole = _whole(draft, scope)
    if draft.completed:
        for inner in purges.inside(draft, whole)[1]:
            _hand_out(draft, inner)
    _open(draft, node, whole, key)
    tokens.start_purge(draft, Purge(whole, spared=key))


def _whole(draft: Draft, scope: int) -> int:
    """Return the outermost body of an activity that repeats, of which a scope is one round; the
    scope itself if it does not."""
    element = draft.live[scope]
    while (around := draft.live.get(element.scope)) is not None:
        if around.element_id != element.element_id:
            break
        element = around
    return element.key


def begin(draft: Draft, element: ElementInstance, activity: str | None = None) -> None:
    """Start the handlers of what is remembered in the scope of an element that asks for it."""
    undone = _take(draft, element.scope, activity)
    if not undone:
        finish(draft, draft.node_of(element), element)
        return
    _spread(draft, element.key, undone)


def enter_again(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open a scope again that has ended, and start the handlers of what is to be undone in it."""
    ended_scopes.open_again(draft, node, scope, key)
    mine = [done for done in draft.completed if done.scope == key]
    _spread(draft, key, [Undo(done, draft.completed.pop(done)) for done in mine])


def _spread(draft: Draft, scope: int, undone: Sequence[Undo]) -> None:
    """Start handlers in a scope, those of what was done in scopes that ended inside of these."""
    moves: list[Move] = []
    within: dict[int, list[Undo]] = {}
    for done, times in undone:
        own = ended_scopes.kept_of(draft, done.inside) if done.inside else ()
        whole = done._replace(seen=(*own, *done.seen))
        if whole.seen and ended_scopes.opened_for(draft, whole) is not None:
            within.setdefault(whole.seen[-1], []).append(Undo(whole, times))
        else:
            moves += _handlers(draft, scope, whole, times)
    for kept, group in within.items():
        key, node = draft.keys.next(), ended_scopes.opened_for(draft, group[0].done)
        assert node is not None
        ended_scopes.remember(draft, key, (kept,))
        for done, times in group:
            draft.completed[done._replace(scope=key, seen=done.seen[:-1])] = times
        moves.append(Move(node.id, scope, None, key=key))
    draft.count(scope, len(moves))
    draft.agenda.extend(reversed(moves))


def _handlers(draft: Draft, scope: int, done: Completed, times: int) -> Iterator[Move]:
    """Yield what undoes an activity, as often as it was done."""
    node = draft.plan.nodes[done.activity]
    recovery = (node.inner or node).recovery  # of one that repeats each round has its own
    for _ in range(times):
        key = 0
        if not node.handler:
            key = draft.keys.next()
            _hand_over(draft, done.inside, key)
        yield Move(node.handler or recovery, scope, None, key=key)


def finish(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Go on when all is undone: a transaction is left by its cancel boundary event.

    Raises: Stuck.
    """
    if node.element.goes_ahead:
        tokens.close(draft, element.key)
        draft.history.append(Left(element.key, None))
        tokens.consume(draft, element.scope)
        return
    if node.element.event_type is not EventType.CANCEL:
        outputs = variables.outputs_of(draft, node, element.scope, {}, {})
        tokens.hand_on(draft, node, element.scope, element.key, outputs)
        return
    tokens.close(draft, element.key)
    tokens.leave(draft, node, element.scope, element.key)


def leave_transaction(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Leave a transaction by its cancel boundary event."""
    draft.history.append(Left(key, None))
    transaction = draft.live[scope]
    event = draft.plan.nodes[transaction.element_id].cancel_event
    tokens.interrupt(draft, transaction, Move(event, transaction.scope, None))


def _open(draft: Draft, node: Node, scope: int, key: int) -> ElementInstance:
    element = draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    draft.open_scope(key, {})
    return element


def _take(draft: Draft, scope: int, activity: str | None) -> list[Undo]:
    """Take what is remembered in a scope, of an activity and what is inside it if one is named;
    from inside an event subprocess also what is remembered around it."""
    scope = _home(draft, scope)
    scopes = {scope}
    while scope != draft.key and _is_triggered(draft, scope):
        scope = draft.live[scope].scope
        scopes.add(scope)
    wanted = [
        done
        for done in draft.completed
        if done.scope in scopes and (activity is None or _is_in(draft, done.activity, activity))
    ]
    return [Undo(done, draft.completed.pop(done)) for done in wanted]


def _is_triggered(draft: Draft, scope: int) -> bool:
    return draft.plan.nodes[draft.live[scope].element_id].element.triggered_by_event


def _is_in(draft: Draft, element_id: str, activity: str) -> bool:
    """Say whether an element is an activity, or inside of it."""
    elements = draft.plan.process.elements
    while element_id in elements:
        if element_id == activity:
            return True
        element_id = elements[element_id].scope
    return False


def _hand_over(draft: Draft, scope: int, key: int) -> None:
    """Let what was kept of a completed subprocess be what its event subprocess can undo."""
    for done in [done for done in draft.completed if done.scope == scope]:
        _add(draft, done._replace(scope=key), draft.completed.pop(done))
