"""How a model is refused: the element, its id and line, then what was expected and found."""

from __future__ import annotations

from chalicelib.errors import Reason, Rejected
from chalicelib.xml_tree import Node

SHOWN_MAX = 100  # characters of the model's own text that a message repeats


def refusal(node: Node, problem: str) -> Rejected:
    """Say what is wrong with an element of the model."""
    return Rejected(Reason.INVALID_ARGUMENT, f"{described(node)}: {problem}")


def unsupported(node: Node, what: str) -> Rejected:
    """Say that an element of the model cannot be run, though it is no mistake."""
    return Rejected(
        Reason.INVALID_ARGUMENT, f"unsupported element type {what}, found at {described(node)}"
    )


def described(node: Node) -> str:
    """Return an element as messages name it: `serviceTask "charge" (line 12)`."""
    id_ = node.get("id")
    name = f"{node.name} {shown(id_)}" if id_ else f"{node.name} without an id"
    return f"{name} (line {node.line})"


def shown(text: str) -> str:
    """Return a text of the model in quotes, cut short, on one line."""
    text = " ".join(text.split())
    return f'"{text}"' if len(text) <= SHOWN_MAX else f'"{text[:SHOWN_MAX]}…"'
