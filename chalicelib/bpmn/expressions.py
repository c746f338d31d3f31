"""Values of the model, checked when it is deployed: FEEL that does not parse is refused."""

from __future__ import annotations

from chalicelib import feel
from chalicelib.bpmn.model import Value
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node, shown


def value_of(text: str, owner: Node, what: str) -> Value:
    """Read a value: FEEL after a leading `=`, else the text as it is.

    Shapes: `owner` and `what` are for the message: the element of the model that has it, and
        where it stands there.
    Raises: Rejected.
    """
    stripped = text.strip()
    if stripped.startswith("="):
        return expression(stripped, owner, what)
    return Value(text)


def optional_value(owner: Node, definition: Node | None, attribute: str) -> Value | None:
    """Read an attribute that may be missing; one that is blank is missing. Raises: Rejected."""
    text = None if definition is None else definition.get(attribute)
    if definition is None or text is None:
        return None
    return value_of(text, owner, f"attribute {attribute} of {definition.name}")


def expression(text: str, owner: Node, what: str) -> Value:
    """Read what can only be FEEL, with its leading `=` or without. Raises: Rejected."""
    text = text.strip().removeprefix("=").strip()
    if not text:
        raise refusal(owner, f"{what}: expected a FEEL expression, found nothing")
    try:
        feel.parse(text, profile=feel.Profile.ZEEBE)
    except feel.FeelSyntaxError as error:
        raise refusal(owner, f"{what}: {shown(text)} is no FEEL expression, {error}") from error
    return Value(text, is_feel=True)
