"""Messages and signals that an instance throws itself, with no worker in between.

They are owed to whoever waits for them: the turn that throws promises a command, which publishes.
What input mappings make goes along, and nothing else.

Source: BPMN 2.0.2 section 13.5.4; contracts/bpmn.md 3.4 (a message throw without a job).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import EventType
from chalicelib.engine import bpmn_errors, subscriptions, tokens, variables
from chalicelib.engine.commands import BroadcastSignal, PublishMessage
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.state import Stage
from chalicelib.engine.stuck import Stuck
from chalicelib.engine.turn import Left
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def throw(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw the message or signal of an element, and leave it. Raises: Stuck, before anything
    was thrown, or when leaving."""
    local = variables.inputs_of(draft, node, scope)
    seen = {**variables.visible(draft, scope), **local}
    named = [
        subscriptions.name_of(draft, event, seen)
        for event in node.parts or (node,)
        if event.event_name is not None
    ]
    codes = [
        bpmn_errors.code_thrown(draft, part, seen)
        for part in node.parts
        if part.element.event_type is EventType.ESCALATION
    ]
    try:
        outputs = variables.outputs_of(draft, node, scope, local, {})
    except Stuck as stuck:
        stuck.stage = Stage.ENTERING  # trying again throws it for the first time
        raise
    for number, name in enumerate(named):
        _owe(draft, name, key if not number else draft.keys.next(), local)
    if all(bpmn_errors.escalate(draft, scope, code) for code in codes):
        tokens.hand_on(draft, node, scope, key, outputs)
    else:
        draft.history.append(Left(key, None))


def _owe(draft: Draft, name: subscriptions.Named, key: int, local: JsonObject) -> None:
    """Promise what is thrown to whoever waits for it."""
    command: PublishMessage | BroadcastSignal
    if name.node.element.event_type is EventType.SIGNAL:
        command = BroadcastSignal(str(key), name.name, draft.now, local)
        draft.signals.append((len(draft.agenda), command.id))
    else:
        command = PublishMessage(str(key), name.name, name.key, draft.root.profile, local)
    draft.emit(Send(draft.key, command, draft.version))
