"""Decision tables: which rules match, and what of them the hit policy takes.

Source: DMN 1.5 sections 8.2.8 (hit policies) and 8.3 (the table's parts).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.dmn import hit_policies, model
from chalicelib.dmn.hit_policies import Hit, Policy
from chalicelib.dmn.place import Place, Step
from chalicelib.dmn.run import EvaluatedInput, EvaluatedOutput, MatchedRule, Run
from chalicelib.dmn.steps import text_step, typed
from chalicelib.dmn.table_index import Index, build_index
from chalicelib.feel import Expression, Profile, Value, kind_of
from chalicelib.feel.types import FeelType

INPUT = "?"
_ANY = "-"


class _Column(NamedTuple):
    """An input column: what it is given, and the tests of the values that are allowed."""

    clause: model.InputClause
    value: Step
    allowed: Expression | None


class _Row(NamedTuple):
    """A rule: the tests of its cells, None for one that matches all, and its outputs."""

    rule: model.Rule
    tests: tuple[tuple[int, Expression], ...]
    outputs: tuple[Step, ...]


class _Table(NamedTuple):
    """A compiled table; `defaults` is empty if no output has one."""

    element: str
    columns: tuple[_Column, ...]
    rows: tuple[_Row, ...]
    clauses: tuple[model.OutputClause, ...]
    allowed: tuple[Expression | None, ...]
    defaults: tuple[Step, ...]
    policy: Policy
    lookup: Index | None


def build_table(node: model.DecisionTable, place: Place) -> Step:
    """Compile a table."""
    columns = tuple(_column(clause, place.at(clause.id)) for clause in node.inputs)
    types = [place.at(clause.id).type(clause.type_ref) for clause in node.outputs]
    rows = tuple(_row(rule, node, place.at(rule.id), types) for rule in node.rules)
    table = _Table(
        node.id,
        columns,
        rows,
        node.outputs,
        tuple(_allowed(clause, place.at(clause.id)) for clause in node.outputs),
        _defaults(node, place),
        hit_policies.build_policy(node, place),
        build_index([row.tests for row in rows], len(columns)),
    )
    return lambda run, variables: _evaluate(table, run, variables)


def _column(clause: model.InputClause, place: Place) -> _Column:
    value = typed(text_step(clause.text, place), place.type(clause.type_ref), clause.id)
    allowed = None if clause.allowed is None else place.unary_tests(clause.allowed)
    return _Column(clause, value, allowed)


def _row(
    rule: model.Rule, node: model.DecisionTable, place: Place, types: Sequence[FeelType | None]
) -> _Row:
    tests = []
    for index, text in enumerate(rule.inputs[: len(node.inputs)]):
        test = None if text == _ANY else place.unary_tests(text)
        if test is not None:
            tests.append((index, test))
    outputs = tuple(
        typed(text_step(text, place), wanted, rule.id)
        for wanted, text in zip(types, rule.outputs, strict=False)
    )
    return _Row(rule, tuple(tests), outputs)


def _allowed(clause: model.OutputClause, place: Place) -> Expression | None:
    """Compile the tests of an output's values, which Camunda reads as their order only."""
    if clause.allowed is None or place.unit.profile is Profile.ZEEBE:
        return None
    return place.unary_tests(clause.allowed)


def _defaults(node: model.DecisionTable, place: Place) -> tuple[Step, ...]:
    if all(clause.default is None for clause in node.outputs):
        return ()
    return tuple(
        typed(text_step(clause.default or "null", place), place.type(clause.type_ref), clause.id)
        for clause in node.outputs
    )


def _evaluate(table: _Table, run: Run, variables: dict[str, Value]) -> Value:
    run.spend(1 + len(table.rows) // 8 + len(table.columns) * len(variables) // 32)
    inputs = []
    scopes = []
    for clause, step, allowed in table.columns:
        value = step(run, variables)
        scope = {**variables, INPUT: value}
        inputs.append(EvaluatedInput(clause.id, clause.label, clause.text, value))
        scopes.append(scope)
        if allowed is not None and value is not None and allowed.within(run, scope) is not True:
            run.tell(clause.id, f"expected an input that is one of {clause.allowed}")
            run.note(tuple(inputs), ())
            return None
    hits = _hits(table, run, variables, scopes)
    if not all(_are_allowed(table, run, hit) for hit in hits):
        run.note(tuple(inputs), tuple(_matched(table, hit) for hit in hits))
        return None
    value, taken = table.policy.take(run, hits) if hits else (_default(table, run, variables), [])
    run.note(tuple(inputs), tuple(_matched(table, hit) for hit in taken))
    return value


def _hits(
    table: _Table, run: Run, variables: dict[str, Value], scopes: list[dict[str, Value]]
) -> list[Hit]:
    hits: list[Hit] = []
    rows: Sequence[int] = range(len(table.rows))
    if table.lookup is not None:
        rows = table.lookup.candidates([scope[INPUT] for scope in scopes], rows)
    for row in rows:
        run.spend()
        rule, tests, outputs = table.rows[row]
        for column, test in tests:
            if test.within(run, scopes[column]) is not True:
                break
        else:
            hits.append(Hit(row, tuple([output(run, variables) for output in outputs])))
            if table.policy.takes_first:
                break
        if run.warnings:
            run.locate(rule.id)
    return hits


def _are_allowed(table: _Table, run: Run, hit: Hit) -> bool:
    """Tell whether the outputs of a rule are among those that the table allows."""
    for value, tests, clause in zip(hit.outputs, table.allowed, table.clauses, strict=False):
        if value is None or tests is None or tests.within(run, {INPUT: value}) is True:
            continue
        message = f"expected an output that is one of {clause.allowed}, found {kind_of(value)}"
        run.tell(table.rows[hit.row].rule.id, message)
        return False
    return True


def _default(table: _Table, run: Run, variables: dict[str, Value]) -> Value:
    """Give what the table says where no rule matches."""
    if not table.defaults:
        if not table.policy.without_hits:
            run.tell(table.element, "no rule matches, and no output has a default")
            return None
        return table.policy.without_hits[0]
    return hit_policies.value_of(table.clauses, [step(run, variables) for step in table.defaults])


def _matched(table: _Table, hit: Hit) -> MatchedRule:
    outputs = zip(table.clauses, hit.outputs, strict=False)
    return MatchedRule(
        table.rows[hit.row].rule.id,
        hit.row + 1,
        tuple(EvaluatedOutput(clause.id, clause.name, value) for clause, value in outputs),
    )
