"""Purges: what is inside a scope is ended, over as many turns as that needs, before anything else.

What waits for a child instance cannot be ended at once: the child is asked to end, and its element
waits for that alone, moved up to the purged scope. Until the last child has answered the purge
stands aside and the rest of the instance goes on; then what was to follow follows.

Source: BPMN 2.0.2 section 13.5; design section 7.
"""

from __future__ import annotations

from chalicelib.bpmn.model import Kind
from chalicelib.engine import (
    ad_hoc,
    ad_hoc_jobs,
    compensation,
    parts,
    task_listeners,
    tokens,
    variables,
)
from chalicelib.engine.commands import CancelChild
from chalicelib.engine.draft import BASE_ACTIONS, JOB_ACTIONS, SUBSCRIPTION_ACTIONS, Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.limits import ACTIONS_MAX
from chalicelib.engine.state import ElementInstance, InstanceState, Purge
from chalicelib.engine.stuck import Stuck, stop


def run(draft: Draft) -> bool:
    """End what is being purged as far as the turn has room; say whether that is all.

    Purges that wait for children are passed over; they stay where they are, since what follows on
    another one may end what they are in.
    """
    waiting: list[Purge] = []
    while (purge := _next(draft, waiting)) is not None:
        if not _end_inside(draft, purge):
            return False
        if any(_is_asked(draft, each) for each in _victims(draft, purge)):
            _quiet(draft, purge)
            waiting.append(purge)
            continue
        draft.purges.remove(purge)
        rest = _finish(draft, purge)
        if rest is not None:
            draft.purges.append(rest)
            return False
    return True


def _next(draft: Draft, waiting: list[Purge]) -> Purge | None:
    """Return the purge that was begun last and is not known to wait."""
    return next((each for each in reversed(draft.purges) if each not in waiting), None)


def can_go_on(draft: Draft, purge: Purge) -> bool:
    """Say whether there is something of a purge to do that waits for no child."""
    victims = _victims(draft, purge)
    return not victims or not all(_is_asked(draft, victim) for victim in victims)


def _is_asked(draft: Draft, element: ElementInstance) -> bool:
    """Say whether an element was asked to end and waits for that: for its child, or for the
    listeners of a user task, one of which an incident may have stopped."""
    if not element.is_ending or element.child or element.listener:
        return element.is_ending
    is_task = draft.plan.nodes[element.element_id].kind is Kind.USER_TASK
    return is_task and element.incident is not None


def _victims(draft: Draft, purge: Purge) -> list[ElementInstance]:
    """Return what is to end before the purged element itself, or with it if that has to wait."""
    own = draft.live.get(purge.scope)
    around = (
        [own] if own is not None and (_waits(draft, purge, own) or _is_asked(draft, own)) else []
    )
    return [each for each in inside(draft, purge.scope)[1] if each.key != purge.spared] + around


def _end_inside(draft: Draft, purge: Purge) -> bool:
    """Terminate live elements inside a scope, innermost first, while there is room."""
    victims = [each for each in _victims(draft, purge) if not _is_asked(draft, each)]
    fitting, actions = [], draft.actions
    for element in victims:
        weight = weight_of(draft, element)
        weight += JOB_ACTIONS * _waits(draft, purge, element)  # of a listener
        if actions + weight > ACTIONS_MAX and actions > BASE_ACTIONS:
            break
        actions += weight
        fitting.append(element)
    draft.need(key for element in fitting for key in tokens.records_of(draft, element))
    _keep_asked(draft, purge)
    for element in fitting:
        if _waits(draft, purge, element):
            _ask_to_end(draft, purge, element)
        else:
            tokens.terminate(draft, element)
    return len(fitting) == len(victims)


def _waits(draft: Draft, purge: Purge, element: ElementInstance) -> bool:
    """Say whether an element cannot end at once: its child has to, or the listeners of a user task
    come first, but for an operator who withdraws it."""
    if element.child:
        return True
    return not purge.is_withdrawn and task_listeners.is_heard_at_end(draft, element)


def _ask_to_end(draft: Draft, purge: Purge, element: ElementInstance) -> None:
    """Let an element begin to end that cannot at once; nothing else is waited for on it."""
    seen = {} if element.child else variables.visible(draft, element.scope)
    tokens.disarm(draft, element)
    draft.live[element.key] = element._replace(
        scope=element.scope if element.key == purge.scope else purge.scope,
        timers=(),
        subscriptions=(),
        incident=None,
        is_ending=True,
    )
    if element.child:
        draft.emit(Send(element.child, CancelChild(draft.key), draft.version))
    else:
        task_listeners.end(draft, draft.live[element.key], seen)


def _quiet(draft: Draft, purge: Purge) -> None:
    """Let nothing happen any more on an element that only waits for the end of what is inside."""
    own, catcher = draft.live.get(purge.scope), purge.catcher
    if own is None or _is_asked(draft, own):
        return
    if catcher is not None and catcher.scope == purge.scope:
        return
    if own.timers or own.subscriptions or own.incident is not None:
        draft.need(tokens.records_of(draft, own))
        tokens.disarm(draft, own)
        draft.live[own.key] = own._replace(timers=(), subscriptions=(), incident=None)
    ad_hoc_jobs.end(draft, own.key)


def _keep_asked(draft: Draft, purge: Purge) -> None:
    """Move up what waits for children of an earlier purge: what was around it ends now."""
    for element in inside(draft, purge.scope)[1]:
        if _is_asked(draft, element) and element.scope != purge.scope:
            draft.live[element.key] = element._replace(scope=purge.scope)


def _finish(draft: Draft, purge: Purge) -> Purge | None:
    """Do what follows when nothing is left inside; return what there was no room for."""
    if purge.is_withdrawn or (purge.spared and purge.spared not in draft.live):
        return _withdraw(draft, purge.scope)
    if not (purge.spared or purge.catcher or has_room(draft, purge.scope)):
        return purge
    catcher, draft.counts[purge.scope] = purge.catcher, 0
    if purge.spared:
        draft.counts[purge.scope] = 1
        _undo(draft, draft.live[purge.spared])
    elif catcher is None:
        tokens.complete_scope(draft, purge.scope)
    elif catcher.scope == purge.scope:
        draft.counts[purge.scope] = 1
        draft.agenda.append(catcher)
    else:
        tokens.terminate(draft, draft.live[purge.scope])
        draft.agenda.append(catcher)
    return None


def _undo(draft: Draft, element: ElementInstance) -> None:
    try:
        compensation.begin(draft, element)
    except Stuck as stuck:
        stop(draft, element, stuck)


def _withdraw(draft: Draft, key: int) -> Purge | None:
    """End an element instance with its token; return what there is no room for.

    A scope that is left without tokens ends likewise, and an instance without is terminated.
    """
    while (element := draft.live.get(key)) is not None:  # else it ended with what was around it
        weight = weight_of(draft, element) + JOB_ACTIONS  # an ad-hoc subprocess asks anew
        if draft.actions + weight > ACTIONS_MAX and draft.actions > BASE_ACTIONS:
            return Purge(key, is_withdrawn=True)
        if draft.is_part(key):
            parts.save(draft, draft.node_of(element), key)
        tokens.terminate(draft, element)
        if element.loop:
            parts.withdraw(draft, element)
        left = draft.count(element.scope, -1)
        if is_ending(draft, element.scope):
            break  # what is around it ends in its own way
        if ad_hoc.is_one(draft, element.scope):
            ad_hoc.left_alone(draft, element.scope)
            break
        if left:
            break
        key = element.scope
        tokens.close_listeners(draft, key)
    if key == draft.key and not draft.counts[key]:
        draft.state = InstanceState.TERMINATING
        tokens.end_instance(draft)
    return None


def has_room(draft: Draft, scope: int) -> bool:
    """Say whether the turn has room for the completion of a scope."""
    if scope == draft.key or draft.actions <= BASE_ACTIONS:
        return True
    return draft.actions + weight_of(draft, draft.live[scope]) + JOB_ACTIONS <= ACTIONS_MAX


def weight_of(draft: Draft, element: ElementInstance) -> int:
    """Return how many records the end of an element writes."""
    twice = len(element.subscriptions) * (SUBSCRIPTION_ACTIONS - 1)
    twice += (JOB_ACTIONS - 1) * len(element.jobs)
    return len(tokens.records_of(draft, element)) + twice


def is_ending(draft: Draft, key: int) -> bool:
    """Say whether something that is live is about to be ended, or a scope around it."""
    ending = {purge.scope for purge in draft.purges}
    while key not in ending:
        if key == draft.key:
            return False
        key = draft.live[key].scope
    return True


def inside(draft: Draft, scope: int) -> tuple[set[int], list[ElementInstance]]:
    """Return the scopes in and under a scope, and the live elements in them, innermost first."""
    by_scope: dict[int, list[ElementInstance]] = {}
    for element in draft.live.values():
        by_scope.setdefault(element.scope, []).append(element)
    scopes, found, todo = set(), [], [scope]
    while todo:
        inner = todo.pop()
        scopes.add(inner)
        for element in by_scope.get(inner, ()):
            found.append(element)
            todo.append(element.key)
    return scopes, found[::-1]
