"""Decisions: made for a caller or for a business rule task, read, listed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from chalicelib.bpmn.model import Binding
from chalicelib.engine.decided import Called, Decidable, DecisionMade
from chalicelib.engine.facts import DecisionEvaluated
from chalicelib.engine.keys import first_key
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.attempts import tell
from chalicelib.operations.moments import moment
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import blocks, dmn_decisions, dmn_definitions, dmn_lists, retention
from chalicelib.store.dmn_definitions import DmnDefinition
from chalicelib.store.dmn_lists import WantedDecisions
from chalicelib.store.lists import Cut, Listed


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Which decision to make of what; see `Binding`, of which callers have no `DEPLOYMENT`.

    Shapes: `resource_id` is the id of the file that has it, None for whichever has it.
    """

    decision_id: str
    profile: Profile
    variables: JsonObject
    binding: Binding = Binding.LATEST
    version_tag: str | None = None
    resource_id: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which decisions to list; times are both included, None leaves a question open."""

    definition_key: int | None = None
    resource_id: str | None = None
    instance_key: int | None = None
    decided_from: datetime | None = None
    decided_to: datetime | None = None


def evaluate_decision(ports: Ports, wanted: Evaluation) -> tuple[DecisionMade, DmnDefinition]:
    """Make a decision and keep how it was made; one that no rule decides is null.

    Raises: Rejected(INVALID_ARGUMENT) if it cannot be made or the binding is no caller's,
        Rejected(NOT_FOUND) if there is none; TooLarge.
    """
    from chalicelib.operations.dmn_evaluation import for_caller  # noqa: PLC0415 (it loads DMN)

    definition, when = _definition(ports, wanted), moment(ports)
    evaluated = for_caller(ports, definition, wanted.decision_id, wanted.variables, when)
    made = DecisionMade(
        key=first_key(blocks.take(ports.table)),
        decision_id=wanted.decision_id,
        definition_key=definition.key,
        resource_id=definition.resource_id,
        at=when.now,
        evaluated=evaluated,
    )
    if evaluated.problem is None:
        dmn_decisions.keep(ports.table, made, _expires_at(ports, when.now))
    tell(ports, [DecisionEvaluated(made)])
    if evaluated.problem is not None:
        message = f"decision {wanted.decision_id}: {evaluated.problem}"
        raise Rejected(Reason.INVALID_ARGUMENT, message)
    return made, definition


def get_decision_instance(ports: Ports, key: int) -> tuple[DecisionMade, DmnDefinition]:
    """Return a decision that was made, and of what. Raises: Rejected(NOT_FOUND)."""
    made = dmn_decisions.get(ports.table, key)
    definition = None if made is None else dmn_definitions.get(ports.table, made.definition_key)
    if made is None or definition is None:
        raise Rejected(Reason.NOT_FOUND, f"no decision instance with key {key} was found")
    return made, definition


def get_decision_instances(ports: Ports, asked: Asked, cut: Cut) -> Listed[DecisionMade]:
    """Return a page of the decisions that were made."""
    wanted = WantedDecisions(
        definition_keys=_definition_keys(ports, asked),
        scope=asked.instance_key,
        decided_from=asked.decided_from,
        decided_to=asked.decided_to,
    )
    return dmn_lists.find(ports.table, wanted, cut)


def _definition(ports: Ports, wanted: Evaluation) -> DmnDefinition:
    """Find what a caller wants decided. Raises: Rejected."""
    tag = wanted.version_tag
    if wanted.binding is Binding.DEPLOYMENT:
        message = "bindingType deployment is for processes: expected latest or versionTag"
        raise Rejected(Reason.INVALID_ARGUMENT, message)
    if wanted.binding is Binding.VERSION_TAG and not tag:
        message = "bindingType versionTag: expected a versionTag, found none"
        raise Rejected(Reason.INVALID_ARGUMENT, message)
    named = tag if wanted.binding is Binding.VERSION_TAG else None
    found = dmn_definitions.find(
        ports.table, wanted.decision_id, wanted.profile, named, wanted.resource_id
    )
    if found is None:
        of = f" of {wanted.resource_id}" if wanted.resource_id is not None else ""
        tagged = f" with versionTag {named}" if named is not None else ""
        message = f"no decision with id {wanted.decision_id}{of}{tagged} was found"
        raise Rejected(Reason.NOT_FOUND, message)
    return found


def _definition_keys(ports: Ports, asked: Asked) -> frozenset[int] | None:
    """Return the definitions that are asked for; None: whichever."""
    if asked.resource_id is None:
        return None if asked.definition_key is None else frozenset({asked.definition_key})
    keys = frozenset(
        info.key
        for info in dmn_definitions.list_all(ports.table, with_deleted=True)
        if info.resource_id == asked.resource_id
    )
    return keys if asked.definition_key is None else keys & {asked.definition_key}


def _expires_at(ports: Ports, now: datetime) -> int | None:
    """Return when a decision that no process called may go."""
    seconds = ports.settings.history_time_to_live_s
    return retention.counted_from(now, timedelta(seconds=seconds)) if seconds else None


def find(ports: Ports, called: Called) -> Decidable | None:
    """Return a decision that a process calls, to be made within a turn; None: there is none.

    One of which no rule matches is a problem there: the process cannot go on with nothing.
    """
    from chalicelib.operations.dmn_evaluation import for_process  # noqa: PLC0415 (it loads DMN)

    definition = dmn_definitions.called(ports.table, called)
    if definition is None:
        return None
    evaluate = partial(for_process, ports, definition, called.decision_id)
    return Decidable(definition.key, definition.resource_id, evaluate)
