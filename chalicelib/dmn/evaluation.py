"""A file and what it imports to a model, and a model with what it is given to a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import localcontext
from typing import Any, NamedTuple

from chalicelib.dmn import model
from chalicelib.dmn.errors import DecisionWarning, DmnError, Problem
from chalicelib.dmn.functions import result_type
from chalicelib.dmn.model import Definitions, Model
from chalicelib.dmn.program import Frame, Program, program_of
from chalicelib.dmn.run import EvaluatedDecision, Run
from chalicelib.dmn.steps import fitted
from chalicelib.feel import (
    NEVER,
    DateAndTime,
    Deadline,
    FeelError,
    Function,
    Profile,
    Value,
    from_python,
    parse_temporal,
)
from chalicelib.feel.numbers import CONTEXT
from chalicelib.feel.types import FeelType
from chalicelib.feel.values import Kind

_TEMPORAL = frozenset(
    (
        Kind.DATE,
        Kind.TIME,
        Kind.DATE_AND_TIME,
        Kind.DAY_TIME_DURATION,
        Kind.YEAR_MONTH_DURATION,
    )
)
_ABSENT: Any = object()


class Result(NamedTuple):
    """What came of an evaluation.

    Shapes: `value` is FEEL's (`feel.to_json` makes it JSON); `warnings` say why there are nulls;
        `audit` holds the decisions that were made, each behind those it requires.
    """

    value: Value
    warnings: tuple[DecisionWarning, ...]
    audit: tuple[EvaluatedDecision, ...]


def compile_model(
    own: Definitions,
    imports: Iterable[Model],
    profile: Profile,
    problems: Iterable[Problem],
) -> Model:
    """Join a file's definitions with those it imports, and look for what is wrong in it."""
    known = {each.namespace: each for model_ in imports for each in model_.definitions}
    missing = [
        Problem(own.id, f"expected a model with the namespace {each.namespace}, found none")
        for each in own.imports
        if each.namespace not in known
    ]
    joined = tuple(reversed([*_imports_first(own, known)]))
    try:
        found = Program(Model(joined, profile)).check()
    except RecursionError:
        raise DmnError("expected a model with less deep nesting") from None
    return Model(joined, profile, (*problems, *missing, *found))


def evaluate(
    source: Model,
    decision: str,
    inputs: Mapping[str, Any],
    *,
    now: datetime | None = None,
    random_bits: Callable[[int], int] | None = None,
    deadline: Deadline = NEVER,
) -> Result:
    """Make a decision, or call a decision service or a knowledge model.

    Shapes: `decision` is an id or a name; `inputs` are JSON or FEEL values by the names of input
        data, for a service of its input decisions too, for a knowledge model of its parameters,
        for an import's in a context with its name; text is read as a date, time or duration
        where the model wants one. What is given beyond that, in Camunda's profile all that is
        given, is a variable of every decision.
    Raises: DmnError if there is no such decision, it requires itself, or a limit or the deadline
        is passed.
    """
    run = Run(None if now is None else DateAndTime.of_datetime(now), random_bits)
    run.deadline = deadline
    try:
        program = program_of(source)
        with localcontext(CONTEXT):
            value = _evaluate(program, run, program.find(decision), inputs)
    except FeelError as error:
        raise DmnError(f"{decision}: {error}") from error
    except RecursionError:
        raise DmnError(f"{decision}: the evaluation is nested too deeply") from None
    return Result(value, tuple(run.located), tuple(run.audit))


def _evaluate(program: Program, run: Run, key: str, inputs: Mapping[str, Any]) -> Value:
    node = program.homes[key].node
    frame: Frame = {}
    used: set[str] = set()
    overridden = node.input_decisions if isinstance(node, model.DecisionService) else ()
    for each, home in program.homes.items():
        if not isinstance(home.node, model.InputData) and each not in overridden:
            continue
        name, value = _given(program, each, inputs)
        if value is not _ABSENT:
            used.add(name)
            frame[each] = _taken(run, value, program.type_of(each), home.node.id)
        elif each in overridden:
            run.tell(home.node.id, "no value is given")
            frame[each] = None
    free = _free(program, used, inputs)
    if isinstance(node, model.KnowledgeModel):
        return _called(program.function(run, key), run, inputs, node.id)
    if isinstance(node, model.DecisionService):
        value = program.outputs(run, node, frame, free)
        return fitted(run, value, result_type(program.type_of(key)), node.id)
    return program.value(run, key, frame, free)


def _free(program: Program, used: set[str], inputs: Mapping[str, Any]) -> dict[str, Value]:
    """Give what every decision sees: what no node is named after, and for Camunda all variables."""
    named: set[str] = set()
    if program.model.profile is Profile.DMN:
        named = used | {each.variable.name for each in program.own.nodes}
    return {name: from_python(value) for name, value in inputs.items() if name not in named}


def _called(function: Value, run: Run, inputs: Mapping[str, Any], element: str) -> Value:
    """Call a knowledge model with arguments by the names of its parameters."""
    if not isinstance(function, Function):
        return None
    given = {name: from_python(inputs[name]) for name in function.parameters if name in inputs}
    value = function.invoke(run, list(given.values()), list(given))
    run.locate(element)
    return value


def _given(program: Program, key: str, inputs: Mapping[str, Any]) -> tuple[str, Any]:
    """Find what is given for a node: by its reference, in an import's context, by its names."""
    definitions, node = program.homes[key]
    references = (key, f"{definitions.namespace}#{node.name}")
    names = (node.variable.name, node.name, node.id)
    for name in references:
        if name in inputs:
            return name, inputs[name]
    for each in program.own.imports:
        context = inputs.get(each.name)
        if each.namespace == definitions.namespace and isinstance(context, Mapping):
            for name in names:
                if name in context:
                    return each.name, context[name]
    for name in names:
        if name in inputs:
            return name, inputs[name]
    return "", _ABSENT


def _taken(run: Run, value: Any, wanted: FeelType | None, element: str) -> Value:
    """Take in a value, fitted to the type that the model wants."""
    taken = from_python(value)
    if wanted is not None:
        taken = fitted(run, _read(taken, wanted), wanted, element)
    return taken


def _read(value: Value, wanted: FeelType) -> Value:
    """Read text as a date, time or duration where one is wanted, for JSON has no such."""
    if type(value) is str and wanted.name in _TEMPORAL:
        read = parse_temporal(value)
        return value if read is None else read
    if type(value) is list and wanted.name == Kind.LIST and wanted.of:
        return [_read(item, wanted.of[0]) for item in value]
    if type(value) is dict and wanted.entries:
        types = dict(wanted.entries)
        return {
            key: _read(entry, types[key]) if key in types else entry for key, entry in value.items()
        }
    return value


def _imports_first(own: Definitions, known: Mapping[str, Definitions]) -> Iterator[Definitions]:
    """Yield a file behind all that it imports, where that is no circle."""
    seen: set[str] = set()
    waiting = [(own, False)]
    while waiting:
        definitions, is_done = waiting.pop()
        if is_done:
            yield definitions
        elif definitions.namespace not in seen:
            seen.add(definitions.namespace)
            waiting.append((definitions, True))
            waiting.extend(
                (known[each.namespace], False)
                for each in definitions.imports
                if each.namespace in known
            )
