"""Ad-hoc subprocesses: what is activated in one, and what follows when something in it is over.

What is to be activated is kept, and one entry of the agenda begins one activation after the other,
so a turn may stop between them; of a sequential one the next begins when the one before is over.
Each activation is a *path*: a scope in the ad-hoc subprocess, in which the activated element runs
and whatever its flows lead to. An event subprocess is a path, too. When a path is over its result
is collected, and it is found out how the ad-hoc subprocess goes on: by its completion condition,
by its worker, who gets a new job, or by there being nothing active inside.

One that `is_ending` is complete as soon as nothing is active inside; nothing more is activated.

Source: BPMN 2.0.2 section 13.3.5; contracts/bpmn.md 3.1, 3.2 (adHoc); docs/adr/0033.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chalicelib.engine import ad_hoc_jobs, tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import (
    blamed,
    extract,
    extract_completing,
    extract_condition,
    show,
)
from chalicelib.engine.job_results import Activation
from chalicelib.engine.state import (
    ElementInstance,
    Incident,
    LoopItems,
    Move,
    Purge,
    Stage,
)
from chalicelib.engine.stuck import ErrorType, Stuck, close_incident, stop
from chalicelib.engine.turn import Entered
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import AdHocPlan
    from chalicelib.engine.plans import Node

ELEMENTS = "adHocSubProcessElements"  # the variable that tells what can be activated
ID, VARIABLES = "elementId", "variables"  # of what is kept of an activation to come


def plan_of(node: Node) -> AdHocPlan:
    """Return how an ad-hoc subprocess runs."""
    assert node.ad_hoc is not None, f"{node.id} is no ad-hoc subprocess"
    return node.ad_hoc


def is_one(draft: Draft, scope: int) -> bool:
    """Say whether a scope is that of an ad-hoc subprocess."""
    return (
        draft.plan.has_ad_hoc
        and scope != draft.key
        and draft.node_of(draft.live[scope]).ad_hoc is not None
    )


# --- entering ----------------------------------------------------------------------------------


def own_variables(plan: AdHocPlan, inputs: JsonObject) -> JsonObject:
    """Return what an ad-hoc subprocess begins with: a collection that is none yet is empty."""
    own = {ELEMENTS: list(plan.activatable), **inputs}
    if plan.results and not isinstance(own.get(plan.results), list):
        own[plan.results] = []
    return own


def listed(draft: Draft, node: Node, seen: JsonObject) -> list[Activation]:
    """Return what the model wants activated at once. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    plan = plan_of(node)
    if plan.active is None:
        return []
    where = f"active elements of {node.id}"
    found = extract(plan.active, seen, draft.moment, where)
    ids = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if not isinstance(found, list) or len(ids) < len(found):
        message = f"{where}: expected a list of element ids, found {show(found)}"
        raise blamed(draft, plan.active, seen, Stuck(ErrorType.EXTRACT_VALUE_ERROR, message))
    unknown = unknown_ids(plan, ids)
    if unknown is not None:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: {unknown}")
    return [Activation(id_) for id_ in ids]


def unknown_ids(plan: AdHocPlan, ids: Iterable[str]) -> str | None:
    """Say which ids are of nothing that can be activated; None if all are of something."""
    unknown = [id_ for id_ in dict.fromkeys(ids) if id_ not in plan.ids]
    if not unknown:
        return None
    return f"expected ids of elements that can be activated, found {show(list(unknown))}"


# --- activations -------------------------------------------------------------------------------


def order(draft: Draft, node: Node, key: int, wanted: Sequence[Activation]) -> None:
    """Let elements be activated, after those that still wait for it."""
    if not wanted:
        return
    waiting = _waiting(draft, node, key)
    new: list[JsonValue] = [
        {ID: each.element_id, VARIABLES: each.variables}
        if each.variables
        else {ID: each.element_id}
        for each in wanted
    ]
    draft.put(LoopItems(key, draft.key, [*waiting, *new]))
    if not _is_at_work(draft, node, key):
        _begin(draft, node, key)


def _begin(draft: Draft, node: Node, key: int) -> None:
    draft.count(key, 1)
    draft.agenda.append(Move(node.id, key, None, 1))


def _is_at_work(draft: Draft, node: Node, key: int) -> bool:
    """Say whether activations are being begun, or, one at a time, one is under way."""
    if any(move.scope == key and move.position for move in draft.agenda):
        return True
    plan = plan_of(node)
    return plan.is_sequential and any(
        each.scope == key and each.element_id == plan.activation for each in draft.live.values()
    )


def _waiting(draft: Draft, node: Node, key: int) -> Sequence[JsonValue]:
    """Return the activations that are still to begin; there are none unless one is at work."""
    if not _is_at_work(draft, node, key):
        return ()
    record = draft.find(LoopItems, key)
    return () if record is None else record.items


def next_element(draft: Draft, key: int) -> str:
    """Return the id of the element that is activated next."""
    record = draft.find(LoopItems, key)
    assert record is not None, f"nothing is to be activated in {key}"
    return _id_of(record.items[0])


def next_activation(draft: Draft, node: Node, move: Move) -> Move:
    """Open the scope of the next activation, and return the move that begins it in there.

    Shapes: `move` was taken off the agenda; its scope is the ad-hoc subprocess.
    """
    plan, around = plan_of(node), move.scope
    record = draft.find(LoopItems, around)
    assert record is not None, f"nothing is to be activated in {around}"
    item, *rest = record.items
    if rest:
        draft.put(LoopItems(around, draft.key, rest))
    else:
        draft.drop(LoopItems, around)
    if rest and not plan.is_sequential:
        draft.agenda.append(move)
        draft.count(around, 1)
    key = draft.keys.next()
    draft.live[key] = ElementInstance(key, plan.activation, around, draft.now, tokens=1)
    draft.counts[key] = 1
    draft.history.append(Entered(key, plan.activation, around))
    given = item.get(VARIABLES) if isinstance(item, dict) else None
    draft.open_scope(key, {**first_variables(plan), **(given if isinstance(given, dict) else {})})
    return Move(_id_of(item), key, None)


def first_variables(plan: AdHocPlan) -> JsonObject:
    """Return what an activation begins with: the name that its result is computed from is its own,
    so that those which run beside each other do not set each other's."""
    return {plan.result_name: None} if plan.result_name else {}


def _id_of(item: JsonValue) -> str:
    return str(item[ID]) if isinstance(item, dict) else ""


def withdraw_all(draft: Draft, key: int) -> None:
    """End what is active in an ad-hoc subprocess, and what waits to be; it stays itself."""
    draft.drop(LoopItems, key)
    begun = [move for move in draft.agenda if move.scope == key]
    draft.agenda = [move for move in draft.agenda if move.scope != key]
    draft.count(key, -len(begun))
    paths = [e for e in draft.live.values() if e.scope == key and not e.is_listening]
    for path in reversed(paths):
        tokens.start_purge(draft, Purge(path.key, is_withdrawn=True))


# --- when a path is over -----------------------------------------------------------------------


def collect(draft: Draft, plan: AdHocPlan, path: ElementInstance) -> None:
    """Take the result of a path. Raises: Stuck, before anything was changed."""
    if plan.results is None or plan.result is None:
        return
    seen, where = variables.visible(draft, path.key), f"output element of {plan.id}"
    result = extract_completing(draft, plan.result, seen, where)
    found = draft.values(path.scope).get(plan.results)
    if not isinstance(found, list):
        message = f"output collection of {plan.id}: expected a list, found {show(found)}"
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, message, Stage.COMPLETING)
    draft.assign(path.scope, {plan.results: [*found, result]})


def path_over(draft: Draft, key: int) -> None:
    """Go on after a path has ended; what cannot be is an incident of the ad-hoc subprocess."""
    element = draft.live[key]
    try:
        go_on(draft, draft.node_of(element), element)
    except Stuck as stuck:
        stop(draft, element, stuck)


def go_on(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Find out what follows in an ad-hoc subprocess. Raises: Stuck, at the stage of completing."""
    plan, key = plan_of(node), element.key
    if element.is_ending:
        if not draft.count(key, 0):
            tokens.complete_scope(draft, key)
        return
    if plan.completion is not None and node.job is None and _is_enough(draft, plan, element):
        fulfil(draft, node, element, cancels=plan.cancels_remaining)
        return
    _begin_next(draft, node, key)
    if node.job is not None:
        ad_hoc_jobs.ask(draft, node, element)
    elif plan.completion is None and not draft.count(key, 0):
        fulfil(draft, node, element, cancels=False)


def _begin_next(draft: Draft, node: Node, key: int) -> None:
    """Begin the activation that waited for another one to be over, if there is one."""
    if not plan_of(node).is_sequential or _is_at_work(draft, node, key):
        return
    if draft.find(LoopItems, key) is not None:
        _begin(draft, node, key)


def _is_enough(draft: Draft, plan: AdHocPlan, element: ElementInstance) -> bool:
    """Evaluate the completion condition, and end what an earlier one had stopped. Raises: Stuck."""
    assert plan.completion is not None
    where, seen = f"completion condition of {plan.id}", variables.visible(draft, element.key)
    found = extract_condition(draft, plan.completion, seen, where, Stage.COMPLETING)
    incident = None if element.incident is None else draft.find(Incident, element.incident)
    if incident is not None and incident.stage is Stage.COMPLETING:
        close_incident(draft, incident.key)
        draft.live[element.key] = draft.live[element.key]._replace(incident=None)
    return found


def fulfil(draft: Draft, node: Node, element: ElementInstance, *, cancels: bool) -> None:
    """Let an ad-hoc subprocess complete when nothing is active inside; `cancels` sees to that."""
    key = element.key
    end_asking(draft, key)
    waiting = [move for move in draft.agenda if move.scope == key and move.position]
    draft.agenda = [move for move in draft.agenda if move not in waiting]
    draft.drop(LoopItems, key)
    if not draft.count(key, -len(waiting)):
        tokens.complete_scope(draft, key)
    elif cancels:
        tokens.start_purge(draft, Purge(key))


def end_asking(draft: Draft, key: int) -> None:
    """Let an ad-hoc subprocess end by what is active in it; its worker is not asked any more."""
    ad_hoc_jobs.end(draft, key)
    draft.live[key] = draft.live[key]._replace(is_ending=True)


def left_alone(draft: Draft, key: int) -> None:
    """Go on after a path was withdrawn: an ad-hoc subprocess may be empty, but who steers one is
    asked what is next."""
    element = draft.live[key]
    node = draft.node_of(element)
    if not element.is_ending:
        _begin_next(draft, node, key)
    is_asked = element.job is not None or draft.count(key, 0)
    if element.is_ending or (node.job is not None and not is_asked):
        path_over(draft, key)


def handed_on(plan: AdHocPlan, inside: JsonObject, outputs: JsonObject | None) -> JsonObject | None:
    """Return what an ad-hoc subprocess hands on: what was collected, and what is mapped."""
    if plan.results is None:
        return outputs
    return {plan.results: inside.get(plan.results), **(outputs or {})}
