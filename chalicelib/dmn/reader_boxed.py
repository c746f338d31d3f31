"""The boxed expressions of DMN XML.

Source: DMN 1.5 chapter 8 (decision tables) and section 10.2 (boxed expressions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chalicelib.dmn.errors import Problem
from chalicelib.dmn.model import (
    Binding,
    Conditional,
    Context,
    ContextEntry,
    DecisionTable,
    Expression,
    Filter,
    FunctionDefinition,
    InputClause,
    Invocation,
    Iteration,
    ListExpression,
    LiteralExpression,
    OutputClause,
    Relation,
    Rule,
)
from chalicelib.dmn.xml_parts import Element, text_of, type_ref_of, variable_of
from chalicelib.feel.names import normalized
from chalicelib.xml_tree import shown

_FEEL = "FEEL"


class BoxedReader:
    """Reads expressions, and notes what is wrong with their form."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.readers: dict[str, Callable[[Element, str], Expression]] = {
            "literalExpression": self._literal,
            "decisionTable": self._table,
            "context": self._context,
            "invocation": self._invocation,
            "functionDefinition": self.function,
            "relation": self._relation,
            "list": self._list,
            "conditional": self._conditional,
            "filter": self._filter,
            "for": self._iteration,
            "some": self._iteration,
            "every": self._iteration,
        }

    def within(self, parent: Element | None, id_: str) -> Expression | None:
        """Read the one expression in an element; None if there is none."""
        found = list(self._all(parent, id_)) if parent else []
        if len(found) > 1:
            self._note(id_, f"expected one expression, found {len(found)}")
        return found[0] if found else None

    def function(self, node: Element, id_: str) -> FunctionDefinition:
        """Read a function, which is also what a business knowledge model has."""
        id_ = node.get("id") or id_
        return FunctionDefinition(
            id_,
            type_ref_of(node),
            node.get("kind") or _FEEL,
            tuple(variable_of(item) for item in node.all("formalParameter")),
            self.within(node, id_),
        )

    def _all(self, parent: Element, id_: str) -> Iterator[Expression]:
        for node in parent.children:
            if node.namespace == parent.namespace and node.name in self.readers:
                yield self.readers[node.name](node, node.get("id") or id_)

    def _note(self, id_: str, message: str) -> None:
        self.problems.append(Problem(id_, message))

    def _check_language(self, node: Element | None, id_: str) -> None:
        language = None if node is None else node.get("expressionLanguage")
        if language is not None and not _is_feel(language):
            self._note(id_, f"expected the expression language FEEL, found {shown(language)}")

    def _literal(self, node: Element, id_: str) -> Expression:
        self._check_language(node, id_)
        return LiteralExpression(id_, type_ref_of(node), text_of(node) or "")

    def _context(self, node: Element, id_: str) -> Expression:
        entries = []
        for entry in node.all("contextEntry"):
            variable = entry.first("variable")
            expression = self.within(entry, entry.get("id") or id_)
            entries.append(ContextEntry(variable_of(variable) if variable else None, expression))
        return Context(id_, type_ref_of(node), tuple(entries))

    def _invocation(self, node: Element, id_: str) -> Expression:
        bindings = []
        for binding in node.all("binding"):
            parameter = binding.first("parameter")
            name = variable_of(parameter).name if parameter else ""
            bindings.append(Binding(name, self.within(binding, id_)))
        return Invocation(id_, type_ref_of(node), self.within(node, id_), tuple(bindings))

    def _relation(self, node: Element, id_: str) -> Expression:
        columns = tuple(variable_of(column) for column in node.all("column"))
        rows = []
        for row in node.all("row"):
            cells = tuple(self._all(row, row.get("id") or id_))
            if len(cells) != len(columns):
                self._note(id_, f"expected {len(columns)} cells in a row, found {len(cells)}")
            rows.append(cells)
        return Relation(id_, type_ref_of(node), columns, tuple(rows))

    def _list(self, node: Element, id_: str) -> Expression:
        return ListExpression(id_, type_ref_of(node), tuple(self._all(node, id_)))

    def _conditional(self, node: Element, id_: str) -> Expression:
        parts = (self.within(node.first(name), id_) for name in ("if", "then", "else"))
        return Conditional(id_, type_ref_of(node), *parts)

    def _filter(self, node: Element, id_: str) -> Expression:
        parts = (self.within(node.first(name), id_) for name in ("in", "match"))
        return Filter(id_, type_ref_of(node), *parts)

    def _iteration(self, node: Element, id_: str) -> Expression:
        body = "return" if node.name == "for" else "satisfies"
        variable = normalized(node.get("iteratorVariable") or "")
        if not variable:
            self._note(id_, f"expected an iteratorVariable at {node.name}")
        parts = (self.within(node.first(name), id_) for name in ("in", body))
        return Iteration(id_, type_ref_of(node), node.name, variable, *parts)

    def _table(self, node: Element, id_: str) -> Expression:
        inputs = tuple(_input(clause, id_) for clause in node.all("input"))
        outputs = tuple(_output(clause, id_) for clause in node.all("output"))
        for clause in node.all("input"):
            self._check_language(clause.first("inputExpression"), clause.get("id") or id_)
        rules = []
        for row in node.all("rule"):
            rule = Rule(
                row.get("id") or id_,
                tuple(text_of(entry) or "-" for entry in row.all("inputEntry")),
                tuple(text_of(entry) or "null" for entry in row.all("outputEntry")),
            )
            for entry in (*row.all("inputEntry"), *row.all("outputEntry")):
                self._check_language(entry, rule.id)
            found = len(rule.inputs), len(rule.outputs)
            if found != (len(inputs), len(outputs)):
                wanted = f"{len(inputs)} input and {len(outputs)} output entries"
                self._note(rule.id, f"expected {wanted} in a rule, found {found[0]} and {found[1]}")
            rules.append(rule)
        if not outputs:
            self._note(id_, "expected an output at a decision table")
        names = [clause.name for clause in outputs]
        if len(outputs) > 1 and ("" in names or len(set(names)) < len(names)):
            self._note(id_, "expected a name of its own at each of several outputs")
        return DecisionTable(
            id_,
            type_ref_of(node),
            node.get("hitPolicy") or "UNIQUE",
            node.get("aggregation"),
            inputs,
            outputs,
            tuple(rules),
        )


def _input(clause: Element, id_: str) -> InputClause:
    expression = clause.first("inputExpression")
    text = text_of(expression) or ""
    return InputClause(
        clause.get("id") or id_,
        clause.get("label") or text,
        text,
        type_ref_of(expression) if expression else None,
        text_of(clause.first("inputValues")),
    )


def _output(clause: Element, id_: str) -> OutputClause:
    return OutputClause(
        clause.get("id") or id_,
        normalized(clause.get("name") or ""),
        type_ref_of(clause),
        text_of(clause.first("outputValues")),
        text_of(clause.first("defaultOutputEntry")),
    )


def _is_feel(language: str) -> bool:
    """Tell FEEL, by its name or the namespace of any version."""
    return language.rstrip("/").rpartition("/")[2].lower() == "feel"
