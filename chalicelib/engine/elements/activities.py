"""Tasks: work for a worker, a script that runs inline, or nothing but a step.

Source: BPMN 2.0.2 section 13.3; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import calls, jobs, throwing, tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def enter_task(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Create the job of a task or a none event; without one there is nothing to do but go on."""
    if node.job is not None:
        jobs.create(draft, node, scope, key)
    elif node.event_name is not None or node.parts:
        throwing.throw(draft, node, scope, key)
    else:
        go_on(draft, node, scope, key)


def go_on(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Leave what there is nothing to do for but its mappings. Raises: Stuck."""
    if node.inputs or node.outputs:
        local = variables.inputs_of(draft, node, scope)
        tokens.complete(draft, node, scope, key, local, {})
    else:
        tokens.leave(draft, node, scope, key)


def enter_script(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Evaluate the script and set its result variable; one without a script is a task.

    The result leaves in every profile: there is no worker whose surplus would have to be held
    back, and a script whose result went nowhere would do nothing.
    """
    script = node.script
    if script is None:
        enter_task(draft, node, scope, key)
        return
    seen = variables.visible(draft, scope)
    local = variables.inputs_of(draft, node, scope) if node.inputs else {}
    given = {**seen, **local} if local else seen
    value = extract(script.compute, given, draft.moment, script.where)
    hand_on_result(draft, node, scope, key, local, {script.result_variable: value})


def hand_on_result(
    draft: Draft, node: Node, scope: int, key: int, local: JsonObject, produced: JsonObject
) -> None:
    """Map out what an element computed by itself, or let it leave as it is. Raises: Stuck."""
    if node.outputs:
        tokens.complete(draft, node, scope, key, local, produced)
    else:
        tokens.hand_on(draft, node, scope, key, produced, {**local, **produced})


BEHAVIOURS = {
    Kind.TASK: enter_task,
    Kind.MANUAL_TASK: enter_task,
    Kind.SERVICE_TASK: enter_task,
    Kind.SEND_TASK: enter_task,
    Kind.USER_TASK: enter_task,
    Kind.SCRIPT_TASK: enter_script,
    Kind.CALL_ACTIVITY: calls.enter,
}
