"""From tree to closures: one function per class of the tree, by the kind of expression.

A closure takes the evaluation under way and gives a value. What can be known beforehand is
settled here: constants, the place of every name that the text itself binds, which built-in
function a call means.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import getcontext, setcontext
from typing import NamedTuple

from chalicelib.feel import tree
from chalicelib.feel.compiler import access, calls, forms, iteration, operators
from chalicelib.feel.compiler.scope import NODES_PER_STEP, Builder, Scope, Unit
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.numbers import CONTEXT
from chalicelib.feel.profile import Profile
from chalicelib.feel.types import FeelType
from chalicelib.feel.values import Value

_BUILDERS: dict[type, Builder] = {
    tree.Literal: forms.build_literal,
    tree.Name: access.build_name,
    tree.Path: access.build_path,
    tree.Filter: access.build_filter,
    tree.Call: calls.build_call,
    tree.Negation: operators.build_negation,
    tree.Arithmetic: operators.build_arithmetic,
    tree.Junction: operators.build_junction,
    tree.Comparison: operators.build_comparison,
    tree.Between: operators.build_between,
    tree.In: operators.build_in,
    tree.UnaryComparison: forms.build_unary_comparison,
    tree.RangeLiteral: forms.build_range,
    tree.ListLiteral: forms.build_list,
    tree.ContextLiteral: forms.build_context,
    tree.Conditional: forms.build_conditional,
    tree.For: iteration.build_for,
    tree.Quantified: iteration.build_quantified,
    tree.FunctionLiteral: calls.build_function,
    tree.InstanceOf: forms.build_instance_of,
    tree.UnaryTests: operators.build_unary_tests,
}


class Compiled(NamedTuple):
    """What an expression is compiled to: its closure, its slots and the free names it reads.

    Shapes: `steps` is what it takes as a part of a larger evaluation; nothing if it is small.
    """

    closure: Closure
    size: int
    names: frozenset[str]
    steps: int


def compile_tree(node: tree.Node, profile: Profile, types: Mapping[str, FeelType]) -> Compiled:
    """Compile a whole expression; `types` are those that a model defines."""
    unit = Unit(profile, _BUILDERS, types)
    closure = Scope(unit).build(node)
    if unit.computes:
        closure = _in_context(closure)
    names = frozenset(unit.free_names)
    return Compiled(closure, unit.size, names, unit.nodes // NODES_PER_STEP)


def _in_context(closure: Closure) -> Closure:
    """Set FEEL's decimal context once around an evaluation; what only compares needs none."""

    def run_in_context(run: Evaluation) -> Value:
        outside = getcontext()
        setcontext(CONTEXT)
        try:
            return closure(run)
        finally:
            setcontext(outside)

    return run_in_context
