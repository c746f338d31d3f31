"""Embedded subprocesses: a scope of its own inside the instance.

Source: BPMN 2.0.2 section 13.3.4; contracts/zenbpm.md 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import SCOPES, Kind
from chalicelib.engine import (
    ad_hoc,
    ad_hoc_jobs,
    catching,
    compensation,
    jobs,
    listeners,
    variables,
    waits,
)
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Move, Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def enter_subprocess(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open the scope and start a token at its none start event. Raises: Stuck."""
    start = node.element.start
    if start is None:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"subprocess {node.id} has no none start event")
    local = variables.inputs_of(draft, node, scope)
    caught = _caught(draft, key) if node.element.triggered_by_event else {}
    is_own = draft.rules.sees_snapshot
    open_inside(draft, node, scope, key, {**local, **caught} if is_own else local)
    draft.count(key, 1)
    kept = 0 if is_own else catching.keep(draft, caught)
    draft.agenda.append(Move(start, key, None, key=kept))


def _caught(draft: Draft, key: int) -> JsonObject:
    """Return what came with the event that triggered an event subprocess. Where scopes are looked
    through its start event hands that on, as any event that catches does; where they are not, it is
    the event subprocess's own."""
    caught = draft.find(Variables, key)
    return {} if caught is None else caught.values


def enter_ad_hoc(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open the scope, and activate what the model lists, or ask the worker. Raises: Stuck, before
    anything was made."""
    local = local_of(draft, node, scope)
    seen = {**variables.visible(draft, scope), **local}
    if node.job is None:
        wanted = ad_hoc.listed(draft, node, seen)
        open_inside(draft, node, scope, key, local)
        ad_hoc.order(draft, node, key, wanted)
        return
    job = jobs.made(draft, node, scope, key, seen)
    open_inside(draft, node, scope, key, local)
    ad_hoc_jobs.give(draft, job)


def local_of(draft: Draft, node: Node, scope: int) -> JsonObject:
    """Return the variables that a subprocess begins with. Raises: Stuck(IO_MAPPING_ERROR)."""
    values = variables.inputs_of(draft, node, scope)
    if node.kind is Kind.AD_HOC_ACTIVATION:
        assert node.path_of is not None
        return ad_hoc.first_variables(node.path_of)
    return values if node.ad_hoc is None else ad_hoc.own_variables(node.ad_hoc, values)


def open_inside(draft: Draft, node: Node, scope: int, key: int, values: JsonObject) -> None:
    """Open the scope of a subprocess, without a token in it yet."""
    seen = variables.visible(draft, scope)
    draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    own = {**dict.fromkeys(node.element.data), **values} if node.element.data else values
    is_copy = draft.rules.sees_snapshot and node.kind is not Kind.AD_HOC_ACTIVATION
    draft.open_scope(key, {**seen, **own} if is_copy else own)
    listeners.listen(draft, key, node.id)
    waits.arm_boundary(draft, node, draft.live[key], {**seen, **values})


BEHAVIOURS = {
    **dict.fromkeys(SCOPES, enter_subprocess),
    Kind.AD_HOC_SUB_PROCESS: enter_ad_hoc,
    Kind.REOPENED: compensation.enter_again,
}
