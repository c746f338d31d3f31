"""Boxed expressions to steps: one function per class of the model.

A step takes the evaluation under way and the variables in scope. A boxed context that gives names
makes a dictionary of its own, so that no step changes one that it was given.
Source: DMN 1.5 section 10.2.2 (boxed expressions) and 10.3.2.9.4 (coercion of their results).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.dmn import model, table
from chalicelib.dmn.functions import build_function
from chalicelib.dmn.place import Place, Step
from chalicelib.dmn.run import Run
from chalicelib.dmn.steps import null_step, text_step, typed
from chalicelib.feel import Value, WarningType, kind_of
from chalicelib.feel.compiler.access import PARTIAL
from chalicelib.feel.compiler.iteration import items_of
from chalicelib.feel.compiler.scope import ITEM
from chalicelib.feel.values import Function


def build(expression: model.Expression | None, place: Place) -> Step:
    """Compile an expression, with the check of its own type; a missing one is null."""
    if expression is None:
        return null_step(place.element, "there is no expression")
    place = place.at(expression.id)
    step = _BUILDERS[type(expression)](expression, place)
    if isinstance(expression, model.FunctionDefinition):
        return step  # the type is that of the results
    return typed(step, place.type(expression.type_ref), expression.id)


def _build_literal(node: model.LiteralExpression, place: Place) -> Step:
    """A text of FEEL."""
    return text_step(node.text, place)


def _build_context(node: model.Context, place: Place) -> Step:
    """Entries that see those before them; the one without a name is the result."""
    entries: list[tuple[str | None, Step]] = []
    for variable, expression in node.entries:
        if variable is None:
            entries.append((None, build(expression, place)))
            continue
        type_ = place.type(variable.type_ref)
        # A function sees itself, so that it can call itself.
        if isinstance(expression, model.FunctionDefinition):
            place.know(variable.name, type_)
        entries.append((variable.name, typed(build(expression, place), type_, place.element)))
        place.know(variable.name, type_)

    def run_context(run: Run, variables: dict[str, Value]) -> Value:
        run.spend(1 + len(entries) + len(variables) // 32)
        inner, context = dict(variables), {}
        for name, step in entries:
            value = step(run, inner)
            if name is None:
                return value
            context[name] = inner[name] = value
        return context

    return run_context


def _build_invocation(node: model.Invocation, place: Place) -> Step:
    """A call with its arguments by name."""
    function, element = build(node.function, place), place.element
    names = [binding.parameter for binding in node.bindings]
    arguments = [build(binding.expression, place) for binding in node.bindings]

    def run_invocation(run: Run, variables: dict[str, Value]) -> Value:
        called = function(run, variables)
        values = [argument(run, variables) for argument in arguments]
        if not isinstance(called, Function):
            message = f"expected a function to invoke, found {kind_of(called)}"
            run.tell(element, message, WarningType.NO_FUNCTION_FOUND)
            return None
        value = called.invoke(run, values, names or None)
        run.locate(element)
        return value

    return run_invocation


def _build_function(node: model.FunctionDefinition, place: Place) -> Step:
    """A function, which keeps the variables in scope where it is made."""
    return build_function(node, place, build)


def _build_relation(node: model.Relation, place: Place) -> Step:
    """A context for each row, with the columns' names as keys."""
    columns = [(column.name, place.type(column.type_ref)) for column in node.columns]
    rows = [
        [
            (name, typed(build(cell, place), type_, place.element))
            for (name, type_), cell in zip(columns, row, strict=False)
        ]
        for row in node.rows
    ]

    def run_relation(run: Run, variables: dict[str, Value]) -> Value:
        run.measure(len(rows) * (1 + len(columns)))
        return [{name: cell(run, variables) for name, cell in row} for row in rows]

    return run_relation


def _build_list(node: model.ListExpression, place: Place) -> Step:
    """A list of what the expressions give."""
    items = [build(item, place) for item in node.items]

    def run_list(run: Run, variables: dict[str, Value]) -> Value:
        run.measure(len(items))
        return [item(run, variables) for item in items]

    return run_list


def _build_conditional(node: model.Conditional, place: Place) -> Step:
    """`if`: false and null take the other way; what is no boolean is null, unlike in FEEL's own."""
    element = place.element
    condition, then = build(node.condition, place), build(node.then, place)
    otherwise = build(node.otherwise, place)

    def run_conditional(run: Run, variables: dict[str, Value]) -> Value:
        verdict = condition(run, variables)
        if verdict is not None and type(verdict) is not bool:
            run.tell(element, f"expected true or false, found {kind_of(verdict)}")
            return None
        return then(run, variables) if verdict is True else otherwise(run, variables)

    return run_conditional


def _build_filter(node: model.Filter, place: Place) -> Step:
    """The items for which the match holds; `item` is each, and what it holds is in scope."""
    source, match = build(node.source, place), build(node.match, place)
    element = place.element

    def run_filter(run: Run, variables: dict[str, Value]) -> Value:
        value = source(run, variables)
        if value is None:
            run.tell(element, "null has no items to filter")
            return None
        kept = []
        for item in value if type(value) is list else [value]:
            run.spend(1 + len(variables) // 32)
            own = item if type(item) is dict else {}
            verdict = match(run, {**variables, ITEM: item, **own})
            if verdict is True:
                kept.append(item)
            elif verdict is not False and verdict is not None:
                run.tell(element, f"expected true or false, found {kind_of(verdict)}")
                return None
        return kept

    return run_filter


def _build_iteration(node: model.Iteration, place: Place) -> Step:
    """`for`, `some` and `every`."""
    source, element = build(node.source, place), place.element
    place.know(node.variable)
    body = build(node.body, place)
    over = _for if node.kind == "for" else _judging(element, decides=node.kind == "some")
    name = node.variable

    def run_iteration(run: Run, variables: dict[str, Value]) -> Value:
        items = items_of(run, source(run, variables), 0)
        if items is None:
            run.locate(element)
            return None
        return over(run, body, name, items, variables)

    return run_iteration


_Over = Callable[[Run, Step, str, Any, dict[str, Value]], Value]


def _for(run: Run, body: Step, name: str, items: Any, variables: dict[str, Value]) -> Value:
    found: list[Value] = []
    for item in items:
        run.measure(1)
        run.spend((len(found) + len(variables)) // 32)
        found.append(body(run, {**variables, name: item, PARTIAL: found.copy()}))
    return found


def _judging(element: str, *, decides: bool) -> _Over:
    """Make the loop of `some`, which true decides, or of `every`, which false does.

    Unlike FEEL's own, it is null as soon as one verdict is neither of both nor null.
    """

    def judge(
        run: Run, body: Step, name: str, items: Any, variables: dict[str, Value]
    ) -> bool | None:
        verdict: bool | None = not decides
        for item in items:
            run.spend(1 + len(variables) // 32)
            value = body(run, {**variables, name: item})
            if value is not None and type(value) is not bool:
                run.tell(element, f"expected true or false, found {kind_of(value)}")
                return None
            if value is decides:
                verdict = decides
            elif value is None and verdict is not decides:
                verdict = None
        return verdict

    return judge


def _build_table(node: model.DecisionTable, place: Place) -> Step:
    return table.build_table(node, place)


_BUILDERS: dict[type, Callable[[Any, Place], Step]] = {
    model.LiteralExpression: _build_literal,
    model.Context: _build_context,
    model.Invocation: _build_invocation,
    model.FunctionDefinition: _build_function,
    model.Relation: _build_relation,
    model.ListExpression: _build_list,
    model.Conditional: _build_conditional,
    model.Filter: _build_filter,
    model.Iteration: _build_iteration,
    model.DecisionTable: _build_table,
}
