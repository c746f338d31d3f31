"""What is queued between an instance and its children, as members of a command's body."""

from __future__ import annotations

from typing import assert_never

from chalicelib.delivery import bodies
from chalicelib.engine.commands import (
    CancelChild,
    HearEnd,
    HearEscalation,
    HearIteration,
    StartChild,
)
from chalicelib.json_text import JsonObject

START, CANCEL = "start", "cancel"
END, ESCALATION, ITERATION = "hear end", "hear escalation", "hear iteration"
WORDS = frozenset((START, CANCEL, END, ESCALATION, ITERATION))

Kin = StartChild | CancelChild | HearEnd | HearEscalation | HearIteration


def written(command: Kin) -> JsonObject:
    """Write a command, with the word for it."""
    match command:
        case StartChild(parent):
            return {"do": START, "parent": parent}
        case CancelChild(parent):
            return {"do": CANCEL, "parent": parent}
        case HearEnd(child):
            return {"do": END, "child": child}
        case HearEscalation(child, number, code):
            return {"do": ESCALATION, "child": child, "number": number, "code": code}
        case HearIteration(child, number, variables, is_withdrawn):
            told: JsonObject = {"do": ITERATION, "child": child, "number": number}
            return {**told, "variables": variables, **({"withdrawn": True} if is_withdrawn else {})}
        case _ as never:
            assert_never(never)


def read(word: str, body: JsonObject) -> Kin:
    """Read the command of a word. Raises: Rejected(INVALID_ARGUMENT)."""
    if word in (START, CANCEL):
        parent = bodies.integer(body, "parent")
        return StartChild(parent) if word == START else CancelChild(parent)
    child = bodies.integer(body, "child")
    if word == END:
        return HearEnd(child)
    if word == ITERATION:
        number = bodies.integer(body, "number")
        values = bodies.members(body, "variables")
        return HearIteration(child, number, values, body.get("withdrawn") is True)
    return HearEscalation(child, bodies.integer(body, "number"), bodies.text(body, "code"))
