"""What goes wrong in FEEL: errors that stop an expression, and warnings that explain a null.

    FeelError               the evaluation failed: an assertion of the model, or one of our limits
      FeelSyntaxError       the text is no expression; raised by parsing only

Everything else that is wrong in an expression makes null, as DMN 1.5 section 10.3.2 wants it, and
leaves a `FeelWarning`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class FeelError(Exception):
    """The evaluation failed; the message says what was expected and found."""


class FeelSyntaxError(FeelError):
    """The text is no FEEL expression.

    Units: `line` and `column` count from 1, `offset` from 0, all in characters.
    """

    def __init__(self, problem: str, text: str, offset: int) -> None:
        before = text[:offset]
        self.line = before.count("\n") + 1
        self.column = offset - (before.rfind("\n") + 1) + 1
        self.offset = offset
        super().__init__(f"line {self.line}, column {self.column}: {problem}")


class WarningType(Enum):
    """Why a value became null; the words are Camunda's, which users of Zeebe look up."""

    NO_VARIABLE_FOUND = "NO_VARIABLE_FOUND"
    NO_CONTEXT_ENTRY_FOUND = "NO_CONTEXT_ENTRY_FOUND"
    NO_PROPERTY_FOUND = "NO_PROPERTY_FOUND"
    NOT_COMPARABLE = "NOT_COMPARABLE"
    INVALID_TYPE = "INVALID_TYPE"
    NO_FUNCTION_FOUND = "NO_FUNCTION_FOUND"
    FUNCTION_INVOCATION_FAILURE = "FUNCTION_INVOCATION_FAILURE"


class FeelWarning(NamedTuple):
    """One reason for a null; `offset` is where in the expression's text."""

    type: WarningType
    message: str
    offset: int
