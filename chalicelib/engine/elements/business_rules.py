"""Business rule tasks: a DMN decision that is made inline, or a job for a worker.

Source: contracts/zenbpm.md 4.3; contracts/bpmn.md 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import variables
from chalicelib.engine.decided import Called, Decidable, DecisionMade
from chalicelib.engine.draft import Draft
from chalicelib.engine.elements.activities import enter_task, hand_on_result
from chalicelib.engine.expressions import blamed, extract_text
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Missing
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.decision_plans import DecisionPlan
    from chalicelib.engine.plans import Node


def enter_business_rule(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Make the decision that is called and set its result variable; else it is a task.

    As with a script the result leaves in every profile. A result that cannot be mapped is decided
    anew when the incident is resolved, by the variables of then.
    Raises: Stuck if there is no such decision, or it cannot be made.
    """
    plan = node.decision
    if plan is None:
        enter_task(draft, node, scope, key)
        return
    seen = variables.visible(draft, scope)
    local = variables.inputs_of(draft, node, scope) if node.inputs else {}
    given = {**seen, **local} if local else seen
    called = _called(draft, node, plan, given)
    made = _made(draft, called, given, (node.id, scope, key))
    hand_on_result(draft, node, scope, key, local, {plan.result_variable: made})


def _called(draft: Draft, node: Node, plan: DecisionPlan, given: JsonObject) -> Called:
    """Say which decision is called. Raises: Stuck."""
    try:
        id_ = extract_text(plan.decision_id, given, draft.moment, f"decisionId of {node.id}")
    except Stuck as stuck:
        raise blamed(draft, plan.decision_id, given, stuck) from None
    root = draft.root
    return Called(id_, plan.binding, plan.version_tag, root.profile, root.definition_key)


def _made(
    draft: Draft, called: Called, given: JsonObject, place: tuple[str, int, int]
) -> JsonValue:
    """Make a decision, and note it. Raises: Stuck, Missing."""
    element_id, scope, key = place
    found = _found(draft, called, element_id)
    evaluated = found.evaluate(given, draft.moment)
    is_missing = draft.rules.demands_variables and evaluated.missing is not None
    if is_missing and evaluated.problem is None:
        evaluated = evaluated._replace(problem=f"it gives null ({evaluated.missing})")
    made = DecisionMade(
        key=draft.keys.next(),
        decision_id=called.decision_id,
        definition_key=found.definition_key,
        resource_id=found.resource_id,
        at=draft.now,
        evaluated=evaluated,
        instance_key=draft.key,
        scope=_shown_scope(draft, scope),
        element_id=element_id,
        element_key=key,
    )
    draft.decide(made)
    if evaluated.problem is not None:
        error_type = ErrorType.DECISION_EVALUATION_ERROR
        raise Stuck(
            ErrorType.VARIABLE_MISSING if is_missing else error_type,
            f"decision {called.decision_id} of {element_id}: {evaluated.problem}",
        )
    return evaluated.output


def _shown_scope(draft: Draft, scope: int) -> int:
    """Return the scope whose decision it is: of an iteration its body, as callers see it."""
    around = draft.live.get(scope)
    return scope if around is None or not around.loop else around.scope


def _found(draft: Draft, called: Called, element_id: str) -> Decidable:
    """Return the decision that is called. Raises: Missing if it was not looked for yet; Stuck."""
    if called not in draft.decisions:
        raise Missing(frozenset(), decisions=frozenset({called}))
    found = draft.decisions[called]
    if found is None:
        tag = f", versionTag {called.version_tag}" if called.version_tag else ""
        raise Stuck(
            ErrorType.CALLED_DECISION_ERROR,
            f"decisionId of {element_id}: expected a deployed decision, found none with id "
            f"{called.decision_id} (bindingType {called.binding}{tag})",
        )
    return found


BEHAVIOURS = {Kind.BUSINESS_RULE_TASK: enter_business_rule}
