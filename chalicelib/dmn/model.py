"""A decision model as the reader makes it of DMN XML and the compiler takes it.

It is immutable and goes to JSON and back unchanged (`codec.py`), so that an evaluation never needs
the XML or the XML parser. Names are DMN 1.5's. Named tuples, not dataclasses: the room is loaded
by whoever evaluates, and making a dataclass costs a millisecond.

Shapes: a reference is `namespace#id`; a `type_ref` is as written, without the prefix of an XML
    namespace, None where there is none; every `id` is the element's, or that of the nearest
    element around it that has one; texts are FEEL.
Source: DMN 1.5 chapters 6 to 8 and 10.2.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from chalicelib.dmn.errors import Problem
from chalicelib.feel import Profile


class Variable(NamedTuple):
    """A name and its type: an information item, a parameter, a column."""

    name: str
    type_ref: str | None = None


class LiteralExpression(NamedTuple):
    """An expression that is written out."""

    id: str
    type_ref: str | None
    text: str


class ContextEntry(NamedTuple):
    """One entry of a context; without a variable it is the result."""

    variable: Variable | None
    expression: Expression | None


class Context(NamedTuple):
    """A boxed context."""

    id: str
    type_ref: str | None
    entries: tuple[ContextEntry, ...]


class Binding(NamedTuple):
    """What a parameter of an invoked function is given."""

    parameter: str
    expression: Expression | None


class Invocation(NamedTuple):
    """A boxed call."""

    id: str
    type_ref: str | None
    function: Expression | None
    bindings: tuple[Binding, ...]


class FunctionDefinition(NamedTuple):
    """A boxed function; `kind` is FEEL, or Java or PMML, which nothing here can call."""

    id: str
    type_ref: str | None
    kind: str
    parameters: tuple[Variable, ...]
    body: Expression | None


class Relation(NamedTuple):
    """A boxed list of contexts, as columns and rows."""

    id: str
    type_ref: str | None
    columns: tuple[Variable, ...]
    rows: tuple[tuple[Expression | None, ...], ...]


class ListExpression(NamedTuple):
    """A boxed list."""

    id: str
    type_ref: str | None
    items: tuple[Expression | None, ...]


class Conditional(NamedTuple):
    """A boxed `if`."""

    id: str
    type_ref: str | None
    condition: Expression | None
    then: Expression | None
    otherwise: Expression | None


class Filter(NamedTuple):
    """A boxed filter: the items of `source` for which `match` holds."""

    id: str
    type_ref: str | None
    source: Expression | None
    match: Expression | None


class Iteration(NamedTuple):
    """A boxed `for`, `some` or `every`, by its `kind`."""

    id: str
    type_ref: str | None
    kind: str
    variable: str
    source: Expression | None
    body: Expression | None


class InputClause(NamedTuple):
    """An input column of a decision table; `allowed` are the unary tests of its input values."""

    id: str
    label: str
    text: str
    type_ref: str | None
    allowed: str | None = None


class OutputClause(NamedTuple):
    """An output column; the values of `allowed` are in order of priority, the highest first."""

    id: str
    name: str
    type_ref: str | None
    allowed: str | None = None
    default: str | None = None


class Rule(NamedTuple):
    """A row: a text of unary tests for each input, and of an expression for each output."""

    id: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class DecisionTable(NamedTuple):
    """A decision table; `hit_policy` and `aggregation` are words of the standard's schema."""

    id: str
    type_ref: str | None
    hit_policy: str
    aggregation: str | None
    inputs: tuple[InputClause, ...]
    outputs: tuple[OutputClause, ...]
    rules: tuple[Rule, ...]


Expression = Union[  # noqa: UP007 - the classes above name it before it exists
    LiteralExpression,
    Context,
    Invocation,
    FunctionDefinition,
    Relation,
    ListExpression,
    Conditional,
    Filter,
    Iteration,
    DecisionTable,
]


class ItemDefinition(NamedTuple):
    """A type of the model, or a component of one.

    Shapes: `allowed` and `constraint` are unary tests, the first on each item of a collection,
        the second on the whole; `parameters` is None unless it is a function, whose result is
        of the type `type_ref`.
    """

    name: str
    type_ref: str | None
    is_collection: bool = False
    components: tuple[ItemDefinition, ...] = ()
    allowed: str | None = None
    constraint: str | None = None
    parameters: tuple[Variable, ...] | None = None


class InputData(NamedTuple):
    """What is given to a decision."""

    id: str
    name: str
    variable: Variable


class Decision(NamedTuple):
    """A decision; `requires` are inputs and decisions, `knows` functions, by reference.

    Shapes: `version_tag` is the extension of that name, which Camunda's modelers write.
    """

    id: str
    name: str
    variable: Variable
    requires: tuple[str, ...]
    knows: tuple[str, ...]
    expression: Expression | None
    version_tag: str | None = None


class KnowledgeModel(NamedTuple):
    """A business knowledge model: a function that decisions share."""

    id: str
    name: str
    variable: Variable
    knows: tuple[str, ...]
    logic: FunctionDefinition | None


class DecisionService(NamedTuple):
    """A set of decisions that is called as a function; all tuples hold references."""

    id: str
    name: str
    variable: Variable
    outputs: tuple[str, ...]
    encapsulated: tuple[str, ...]
    input_decisions: tuple[str, ...]
    input_data: tuple[str, ...]


Node = Union[InputData, Decision, KnowledgeModel, DecisionService]  # noqa: UP007


class Import(NamedTuple):
    """Another file's definitions, whose names are known here behind `name` and a dot."""

    name: str
    namespace: str


class Definitions(NamedTuple):
    """What one file defines."""

    namespace: str
    id: str
    name: str
    imports: tuple[Import, ...]
    types: tuple[ItemDefinition, ...]
    nodes: tuple[Node, ...]


class Model:
    """A file with all that it imports; immutable, and equal to itself only.

    Shapes: `definitions` are the file's own, then those it imports, and what these import, one
        per namespace; `problems` are of the file's own.
    """

    __slots__ = ("__weakref__", "definitions", "problems", "profile")

    definitions: tuple[Definitions, ...]
    problems: tuple[Problem, ...]
    profile: Profile

    def __init__(
        self,
        definitions: tuple[Definitions, ...],
        profile: Profile,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        put = object.__setattr__
        put(self, "definitions", definitions)
        put(self, "profile", profile)
        put(self, "problems", problems)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: what was compiled of a model is shared by all who evaluate it."""
        raise AttributeError(f"a model cannot be changed: {name}")

    def __repr__(self) -> str:
        return f"Model({self.definitions[0].name!r})"

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions of the file itself, in its order."""
        return tuple(node for node in self.definitions[0].nodes if isinstance(node, Decision))


def reference(definitions: Definitions, node: Node) -> str:
    """Give the reference by which a node is required."""
    return f"{definitions.namespace}#{node.id}"


_TAGS = {
    LiteralExpression: "literalExpression",
    Context: "context",
    Invocation: "invocation",
    FunctionDefinition: "functionDefinition",
    Relation: "relation",
    ListExpression: "list",
    Conditional: "conditional",
    Filter: "filter",
    DecisionTable: "decisionTable",
}


def tag(decision: Decision) -> str | None:
    """Give the tag of a decision's expression in DMN's XML; None if it has none."""
    expression = decision.expression
    if isinstance(expression, Iteration):
        return expression.kind
    return None if expression is None else _TAGS[type(expression)]
