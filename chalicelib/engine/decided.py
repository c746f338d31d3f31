"""Decisions that business rule tasks call: what is asked for, what is found, what was decided.

The engine knows no DMN. A task names a decision; whoever runs the engine finds it, and gives it a
way to be made. A decision is made within the turn, so that it stands with the turn or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.bpmn.model import Binding
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.profile import Profile


class Called(NamedTuple):
    """Which decision is called.

    Shapes: `version_tag` where the binding is to one; `definition_key` is the process's, whose
        deployment a binding may be to.
    """

    decision_id: str
    binding: Binding
    version_tag: str | None
    profile: Profile
    definition_key: int


class Evaluated(NamedTuple):
    """What came of a decision.

    Shapes: `audit` has one object for each decision that was made on the way, as it is stored
        (store/dmn_decisions.py); `problem` says why there is no output, None if there is one;
        `missing` tells of a variable that was read and is not there, None if all are.
    """

    output: JsonValue = None
    audit: tuple[JsonObject, ...] = ()
    lasted: timedelta = timedelta(0)
    problem: str | None = None
    missing: str | None = None


class Decidable(NamedTuple):
    """A decision that was found: of which definition, and how to make it."""

    definition_key: int
    resource_id: str
    evaluate: Callable[[JsonObject, Moment], Evaluated]


class DecisionMade(NamedTuple):
    """One decision that was made, or could not be: its audit.

    Shapes: `definition_key` is that of the DMN definition, `resource_id` the id of its file;
        `instance_key`, `scope` (as a job has it), `element_id` and `element_key` of who called
        it, 0 and "" if a caller of the API did. One with a `problem` is told and not kept.
    """

    key: int
    decision_id: str
    definition_key: int
    resource_id: str
    at: datetime
    evaluated: Evaluated
    instance_key: int = 0
    scope: int = 0
    element_id: str = ""
    element_key: int = 0
