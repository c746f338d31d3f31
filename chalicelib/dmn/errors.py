"""What goes wrong with a decision model: what stops it, what is wrong in it, what made a null.

DmnError              the file is no model, the decision is not there, or a limit is passed
Problem               one thing wrong in a model that was read: whoever deploys it refuses it
  DmnNotXml           … since it is no XML at all
DecisionWarning       one reason why an evaluation has a null in it
"""

from __future__ import annotations

from typing import NamedTuple


class DmnError(Exception):
    """A model cannot be read or a decision not evaluated; the message says why."""


class DmnNotXml(DmnError):
    """The file is no XML at all."""


class Problem(NamedTuple):
    """One thing wrong in a model; `element` is the id of the nearest element that has one."""

    element: str
    message: str


class DecisionWarning(NamedTuple):
    """One reason for a null.

    Shapes: `element` is the id of the nearest element that has one, `type` a word of
        `feel.WarningType`, `offset` where in the expression's text.
    """

    element: str
    type: str
    message: str
    offset: int = 0
