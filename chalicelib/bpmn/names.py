"""Messages and signals: what stands once in a file, and the events that name it.

Source: BPMN 2.0.2 sections 8.4.11 (messages) and 10.5.5 (signals); contracts/bpmn.md 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chalicelib.bpmn.expressions import value_of
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.model import EventName, Value
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node, shown

MESSAGE_NAME_MAX = 1_000  # characters; with its key it is hashed wherever it would be a key


class Definitions(NamedTuple):
    """What a file defines once for all its processes, by id; `errors` has escalations too."""

    errors: Mapping[str, Node]
    messages: Mapping[str, Node] = {}
    signals: Mapping[str, Node] = {}


def definitions_of(root: Node) -> Definitions:
    """Return what a file defines beside its processes."""
    codes = [*root.all("error"), *root.all("escalation")]
    return Definitions(_by_id(codes), _by_id(root.all("message")), _by_id(root.all("signal")))


def message_of(owner: Node, reference: str, known: Definitions) -> EventName:
    """Return the message that an event or task of the model names. Raises: Rejected.

    Whether it needs a correlation key is known when the whole process is (`starters.py`).
    """
    message = _named(owner, "messageRef", reference, known.messages)
    subscription = extensions_of(message).get("subscription")
    text = None if subscription is None else subscription.get("correlationKey")
    if subscription is None or text is None:
        return EventName(_name(owner, message))
    key = value_of(text, owner, f"attribute correlationKey of message {shown(reference)}")
    return EventName(_name(owner, message), key)


def signal_of(owner: Node, reference: str, known: Definitions) -> EventName:
    """Return the signal that an event of the model names. Raises: Rejected."""
    return EventName(_name(owner, _named(owner, "signalRef", reference, known.signals)))


def check_static(owner: Node, name: EventName) -> None:
    """Refuse a name that would have to be computed before there is an instance."""
    if name.name.is_feel:
        raise refusal(
            owner, f"expected a name that starts an instance as text, found {shown(name.name.text)}"
        )


def _by_id(nodes: Iterable[Node]) -> Mapping[str, Node]:
    return {id_: node for node in nodes if (id_ := node.get("id"))}


def _named(owner: Node, attribute: str, reference: str, known: Mapping[str, Node]) -> Node:
    node = known.get(reference) or known.get(reference.rpartition(":")[2])
    if node is None:
        what = attribute.removesuffix("Ref")
        raise refusal(owner, f"{attribute} {shown(reference)} names no {what} of the file")
    return node


def _name(owner: Node, node: Node) -> Value:
    text = node.get("name")
    if text is None or not text.strip():
        raise refusal(
            owner, f"expected a name at {node.name} {shown(node.get('id') or '')}, found none"
        )
    if len(text) > MESSAGE_NAME_MAX:
        raise refusal(
            owner,
            f"expected a {node.name} name of at most {MESSAGE_NAME_MAX} characters, "
            f"found {len(text)}",
        )
    return value_of(text, owner, f"name of {node.name} {shown(node.get('id') or '')}")
