"""The variables that an iteration of a multi-instance activity begins with.

They follow from the model, the iteration's number and the items of its body, so while nobody has
set one they need no record: the iteration is *untouched*. That holds in a body whose items are
quickly read, as each turn about an iteration reads them.

Source: BPMN 2.0.2 section 13.3.7; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib import json_text
from chalicelib.engine.limits import TOLD_ITEMS_BYTES
from chalicelib.engine.state import ElementInstance, LoopItems
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft
    from chalicelib.engine.plans import Node

COUNTER = "loopCounter"


def are_told(items: Sequence[JsonValue] | None) -> bool:
    """Say whether the iterations of a body can tell their variables from its items."""
    return items is None or len(json_text.dumps([*items])) <= TOLD_ITEMS_BYTES


def first_values(draft: Draft, iteration: ElementInstance) -> JsonObject:
    """Return the variables that an iteration begins with. Raises: Missing.

    What its result is computed from is among them, as far as it is a name, so that what sets it
    does not set one further out (contracts/bpmn.md 3.1).
    """
    loop = draft.plan.nodes[iteration.element_id].many
    assert loop is not None
    local: JsonObject = {}
    if loop.result_name and not draft.rules.sees_snapshot:
        local[loop.result_name] = None
    local[COUNTER] = _counter(draft, iteration)
    if loop.item:
        record = draft.find(LoopItems, iteration.scope)
        local[loop.item] = None if record is None else record.items[iteration.loop - 1]
    return local


def keep_local(
    draft: Draft, node: Node, scope: int, inside: JsonObject, outputs: JsonObject | None
) -> None:
    """Keep, of what an element had for itself that is done in an iteration, what is asked for when
    that is over: it sees what the element saw. Elsewhere nothing is kept.

    Shapes: `outputs` are what leaves the element; without mappings that is not its own.
    Source: contracts/bpmn.md 3.2 (loopCharacteristics); zenbpm.md 4.3 has the mapped outputs alone.
    """
    iteration = draft.live.get(scope)
    if iteration is None or not iteration.loop or draft.rules.sees_snapshot:
        return
    loop = draft.plan.nodes[iteration.element_id].many
    assert loop is not None
    leaves = () if node.outputs or not outputs else outputs
    kept = {name: inside[name] for name in loop.asks & inside.keys() if name not in leaves}
    if kept:
        draft.own_values(scope).update(kept)


def _counter(draft: Draft, iteration: ElementInstance) -> Decimal:
    """Return the loop counter of an iteration, which counts over all parts of its body."""
    body = draft.live.get(iteration.scope) or draft.root.live[iteration.scope]
    is_in_part = draft.parent is not None and body.scope == draft.key
    before = draft.parent.first - 1 if draft.parent and draft.parent.first and is_in_part else 0
    return Decimal(before + iteration.loop)
