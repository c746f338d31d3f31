"""Values of the model, static or FEEL, compiled to functions of variables and the moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib import feel
from chalicelib.bpmn.model import ConditionDefinition, Value
from chalicelib.engine.state import Stage
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonValue, dumps

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft

Compute = Callable[[Mapping[str, JsonValue], Moment], JsonValue]

# Values that are JSON as they are.
PLAIN = frozenset((Decimal, str, bool, type(None)))
REASONS_MAX = 3  # of a null, that a message tells
REASONS_LENGTH = 300  # characters of them
NANOS = 1_000_000_000  # of a second


def compile_value(value: Value) -> Compute:
    """Return what computes a value; static text is itself."""
    if value.is_feel:
        return compile_feel(value.text)
    text = value.text
    return lambda variables, moment: text


def compile_policy(value: Value) -> Compute:
    """Return what computes a retry policy: of FEEL durations the whole seconds count (R115)."""
    return compile_feel(value.text, _in_seconds) if value.is_feel else compile_value(value)


def compile_feel(text: str, to_json: Callable[[feel.Value], JsonValue] = feel.to_json) -> Compute:
    """Return what evaluates FEEL to JSON; it raises FeelError.

    One that does not parse was refused at deployment, or is from before: it fails when used.
    """
    try:
        expression = feel.parse(text, profile=feel.Profile.ZEEBE)
    except feel.FeelSyntaxError as error:
        return _failing(error)
    evaluate = expression.evaluate
    reads_clock = "now" in text or "today" in text  # few do, and a moment is not free

    def compute(variables: Mapping[str, JsonValue], moment: Moment) -> JsonValue:
        now, random_bits, deadline = moment
        value: JsonValue = evaluate(
            variables,
            now=now if reads_clock else None,
            random_bits=random_bits,
            deadline=deadline,
        )
        if type(value) in PLAIN:
            return value
        taken = to_json(value)
        deadline.check()
        return taken

    def explain(variables: Mapping[str, JsonValue], moment: Moment) -> str:
        warnings: list[feel.FeelWarning] = []
        now, random_bits, deadline = moment
        with suppress(feel.FeelError):  # nobody waits for reasons longer than for the value
            evaluate(
                variables,
                now=now,
                warnings=warnings,
                random_bits=random_bits,
                deadline=deadline,
            )
        return "; ".join(warning.message for warning in warnings[:REASONS_MAX])

    compute.names = expression.names  # type: ignore[attr-defined]  # for `blamed`
    compute.explain = explain  # type: ignore[attr-defined]  # for `because`
    return compute


@dataclass(frozen=True, slots=True)
class ConditionPlan:
    """What a conditional event waits for, and the changes of variables that let it look."""

    compute: Compute
    names: frozenset[str]
    creates: bool
    updates: bool


def compile_condition(definition: ConditionDefinition) -> ConditionPlan:
    """Return what evaluates the condition of an event; it looks when what it reads changes."""
    text, names = definition.value.text, definition.names
    try:
        read = feel.parse(text, profile=feel.Profile.ZEEBE).names
    except feel.FeelSyntaxError:
        read = frozenset()
    return ConditionPlan(
        compile_feel(text),
        read if names is None else frozenset(names),
        definition.creates,
        definition.updates,
    )


def _in_seconds(value: feel.Value) -> JsonValue:
    """Take durations out of FEEL without parts of seconds, alone or in a list."""
    entries = value if isinstance(value, list) else [value]
    cut = [
        feel.DayTimeDuration(entry.nanos - entry.nanos % NANOS)
        if isinstance(entry, feel.DayTimeDuration)
        else entry
        for entry in entries
    ]
    taken: JsonValue = feel.to_json(cut if isinstance(value, list) else cut[0])
    return taken


def _failing(error: feel.FeelError) -> Compute:
    message = str(error)

    def compute(variables: Mapping[str, JsonValue], moment: Moment) -> JsonValue:
        raise feel.FeelError(message)

    return compute


def extract(
    compute: Compute, variables: Mapping[str, JsonValue], moment: Moment, where: str
) -> JsonValue:
    """Compute a value for a place in the model. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    try:
        return compute(variables, moment)
    except feel.FeelError as error:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: {error}") from error


def extract_text(
    compute: Compute, variables: Mapping[str, JsonValue], moment: Moment, where: str
) -> str:
    """Compute a text that is not empty. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    value = extract(compute, variables, moment, where)
    if isinstance(value, str) and value:
        return value
    raise Stuck(
        ErrorType.EXTRACT_VALUE_ERROR,
        f"{where}: expected a text that is not empty, found {show(value)}"
        f"{because(compute, variables, moment)}",
    )


def extract_completing(
    draft: Draft, compute: Compute, variables: Mapping[str, JsonValue], where: str
) -> JsonValue:
    """Compute a value for an element that completes.

    Raises: Stuck(EXTRACT_VALUE_ERROR), when completing.
    """
    try:
        return extract(compute, variables, draft.moment, where)
    except Stuck as stuck:
        stuck.stage = Stage.COMPLETING
        raise


def extract_condition(
    draft: Draft,
    compute: Compute,
    variables: Mapping[str, JsonValue],
    where: str,
    stage: Stage = Stage.ENTERING,
) -> bool:
    """Compute a condition; what is no boolean is put down to a missing variable.

    Raises: Stuck(EXTRACT_VALUE_ERROR, VARIABLE_MISSING), at that stage.
    """
    try:
        value = extract(compute, variables, draft.moment, where)
        if value is True or value is False:
            return value
        message = f"{where}: expected a boolean, found {show(value)}"
        unfit = Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)
        raise blamed(draft, compute, variables, unfit)
    except Stuck as stuck:
        stuck.stage = stage
        raise


def blamed(
    draft: Draft, compute: Compute, variables: Mapping[str, JsonValue], stuck: Stuck
) -> Stuck:
    """Return what stops an element; where the profile demands variables, a missing one is named.

    Shapes: only a value that its place cannot take is put down to one; whoever asks whether a
        variable is there may do without it. What FEEL warns of is said, too.
    """
    reason = because(compute, variables, draft.moment)
    if not stuck.message.endswith(reason):
        stuck.message += reason
    names: frozenset[str] = getattr(compute, "names", frozenset())
    missing = sorted(names - variables.keys())
    if draft.rules.demands_variables and missing:
        stuck.error_type = ErrorType.VARIABLE_MISSING
        stuck.message = f"{stuck.message}; there is no variable {missing[0]}"
    return stuck


def because(compute: Compute, variables: Mapping[str, JsonValue], moment: Moment) -> str:
    """Return why an expression gave no value its place can take, in brackets, if FEEL knows."""
    explain: Callable[[Mapping[str, JsonValue], Moment], str] | None
    explain = getattr(compute, "explain", None)
    told = "" if explain is None else explain(variables, moment)
    return f" ({cut(told)})" if told else ""


def cut(reasons: str) -> str:
    """Return reasons as a message tells them, cut short."""
    return reasons if len(reasons) <= REASONS_LENGTH else f"{reasons[: REASONS_LENGTH - 3]}..."


def show(value: JsonValue) -> str:
    """Return a value as a message shows it: JSON, cut short."""
    text = dumps(value)
    return text if len(text) <= 100 else text[:97] + "..."


def compile_optional(value: Value | None) -> Compute | None:
    """Compile a value that the model may leave out."""
    return None if value is None else compile_value(value)
