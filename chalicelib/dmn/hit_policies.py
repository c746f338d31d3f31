"""Hit policies: what a decision table gives of the rules that match.

Source: DMN 1.5 section 8.2.8, tables 35 and 36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from chalicelib.dmn import model
from chalicelib.dmn.place import Place
from chalicelib.dmn.run import Run
from chalicelib.feel import Expression, Value, builtins
from chalicelib.feel.comparison import same


class Hit(NamedTuple):
    """A rule that matches, by its place in the table, and what its outputs are."""

    row: int
    outputs: tuple[Value, ...]


# Gives the table's value, and the rules that decided.
Take = Callable[[Run, list[Hit]], tuple[Value, list[Hit]]]


class Policy(NamedTuple):
    """What a hit policy does.

    Shapes: with `takes_first` the rules behind the first that matches are not asked;
        `without_hits` holds what there is if none matches, or nothing if that is null.
    """

    take: Take
    takes_first: bool = False
    without_hits: tuple[Value, ...] = ()


def build_policy(node: model.DecisionTable, place: Place) -> Policy:
    """Give the policy that a table names; a problem if there is no such."""
    table = _Outputs(node, place)
    policies: dict[str, Callable[[], Policy]] = {
        "UNIQUE": lambda: Policy(table.unique),
        "ANY": lambda: Policy(table.any),
        "FIRST": lambda: Policy(table.first, takes_first=True),
        "PRIORITY": lambda: Policy(_Ranked(node, place).highest),
        "OUTPUT ORDER": lambda: Policy(_Ranked(node, place).all),
        "RULE ORDER": lambda: Policy(table.all),
        "COLLECT": lambda: _collecting(node, table, place),
    }
    policy = policies.get(node.hit_policy)
    if policy is None:
        place.problem(f"expected a hit policy of {list(policies)}, found {node.hit_policy}")
        return Policy(table.unique)
    return policy()


def value_of(clauses: Sequence[model.OutputClause], outputs: Sequence[Value]) -> Value:
    """Give a rule's outputs as a value: the only one, or a context by their names."""
    if len(clauses) == 1:
        return outputs[0] if outputs else None
    return {clause.name: value for clause, value in zip(clauses, outputs, strict=False)}


class _Outputs:
    """The outputs of one table."""

    def __init__(self, node: model.DecisionTable, place: Place) -> None:
        self.clauses = node.outputs
        self.element = node.id

    def unique(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take the only hit; null if there are more."""
        if len(hits) > 1:
            numbers = [hit.row + 1 for hit in hits]
            run.tell(self.element, f"expected one rule to match, found rules {numbers}")
            return None, hits
        return value_of(self.clauses, hits[0].outputs), hits

    def any(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take any hit; null if they do not say the same."""
        value = value_of(self.clauses, hits[0].outputs)
        for hit in hits[1:]:
            if not same(value, value_of(self.clauses, hit.outputs), run.spend):
                numbers = [hit.row + 1 for hit in hits]
                run.tell(self.element, f"expected rules {numbers} to say the same")
                return None, hits
        return value, hits

    def first(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take the first hit."""
        return value_of(self.clauses, hits[0].outputs), hits[:1]

    def all(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take all hits as a list, in the order of the rules."""
        run.measure(len(hits))
        return [value_of(self.clauses, hit.outputs) for hit in hits], hits


class _Ranked(_Outputs):
    """The outputs of a table whose allowed values are in order of priority."""

    def __init__(self, node: model.DecisionTable, place: Place) -> None:
        super().__init__(node, place)
        self.orders: list[Expression | None] = [
            self._order(clause, place.at(clause.id)) for clause in node.outputs
        ]

    def _order(self, clause: model.OutputClause, place: Place) -> Expression | None:
        """Read a list of values, the highest first: the clause's own, or its type's."""
        text = clause.allowed or place.unit.types.allowed(clause.type_ref)
        return None if text is None else place.expression(f"[{text}]")

    def highest(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take the hit of the highest priority, the first of equal ones."""
        hits = self._sorted(run, hits)[:1]
        return value_of(self.clauses, hits[0].outputs), hits

    def all(self, run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        """Take all hits as a list, the highest priority first."""
        return super().all(run, self._sorted(run, hits))

    def _sorted(self, run: Run, hits: list[Hit]) -> list[Hit]:
        orders = [None if order is None else order.within(run, {}) for order in self.orders]
        run.spend(len(hits) * sum(len(order) for order in orders if order))
        ranks = partial(_rank, run)
        return sorted(hits, key=lambda hit: [*map(ranks, orders, hit.outputs)])


def _rank(run: Run, order: list[Value] | None, value: Value) -> int:
    """Give the place of a value in an order of priority; behind all, if it has none."""
    places = (place for place, other in enumerate(order or ()) if same(value, other, run.spend))
    return next(places, len(order or ()))


def _collecting(node: model.DecisionTable, table: _Outputs, place: Place) -> Policy:
    if node.aggregation is None:
        return Policy(table.all)
    if node.aggregation == "COUNT":
        return Policy(lambda run, hits: (Decimal(len(hits)), hits), without_hits=(Decimal(0),))
    function = builtins.find(node.aggregation.lower())
    if node.aggregation not in ("SUM", "MIN", "MAX") or function is None:
        place.problem(f"expected SUM, MIN, MAX or COUNT to aggregate, found {node.aggregation}")
        return Policy(table.all)
    if len(node.outputs) != 1:
        place.problem(f"expected one output to aggregate, found {len(node.outputs)}")

    def aggregate(run: Run, hits: list[Hit]) -> tuple[Value, list[Hit]]:
        values = [value_of(node.outputs, hit.outputs) for hit in hits]
        value = function.invoke(run, [values])
        run.locate(node.id)
        return value, hits

    return Policy(aggregate)
