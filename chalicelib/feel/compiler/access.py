"""Names, paths and filters: how an expression reaches into its data.

Source: DMN 1.5 sections 10.3.2.5 (filters), 10.3.2.6 and table 56 (properties).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TypeGuard

from chalicelib.feel import builtins, properties
from chalicelib.feel.compiler.scope import Scope
from chalicelib.feel.errors import WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.profile import Profile
from chalicelib.feel.tree import Filter, Literal, Name, Path
from chalicelib.feel.values import ITEMS_PER_STEP, READY, Value, kind_of

PARTIAL = "partial"


def build_name(node: Name, scope: Scope) -> Closure:
    """A name is looked for in the items of filters, in what the text binds, in the variables."""
    items, slot = scope.find(node.name)
    if slot < 0:
        found = _build_free(node, scope)
    elif node.name == PARTIAL:
        found = _build_partial(slot)
    else:
        found = _build_slot(slot)
    for item in reversed(items):
        found = _build_entry_or(node.name, item, found)
    return found


def _build_slot(slot: int) -> Closure:
    return lambda run: run.slots[slot]


def _build_partial(slot: int) -> Closure:
    """The results so far are still growing, so whoever takes them gets a list of his own."""

    def load(run: Evaluation) -> Value:
        results = run.slots[slot]
        if type(results) is not list:
            return results
        run.spend(1 + len(results) // ITEMS_PER_STEP)
        return results.copy()

    return load


def _build_entry_or(name: str, slot: int, otherwise: Closure) -> Closure:
    def load(run: Evaluation) -> Value:
        item = run.slots[slot]
        if type(item) is dict and name in item:
            return item[name]
        return otherwise(run)

    return load


def _build_free(node: Name, scope: Scope) -> Closure:
    name, offset = node.name, node.offset
    scope.unit.free_names.add(name)
    builtin = builtins.find(name) if scope.unit.profile is Profile.DMN else None

    def load(run: Evaluation) -> Value:
        try:
            value = run.variables[name]
        except KeyError:
            if builtin is None:
                run.warn(WarningType.NO_VARIABLE_FOUND, f"no variable '{name}'", offset)
            return builtin
        return value if type(value) in READY else run.take(value)

    return load


def build_path(node: Path, scope: Scope) -> Closure:
    """A path gives a context's entry or a property; over a list, those of its items."""
    name, offset = node.name, node.offset
    if _is_free(node.base, scope):
        scope.unit.free_names.add(node.base.name)
        return _build_variable_path(node.base, name, offset)
    if isinstance(node.base, Name) and node.base.name != PARTIAL:
        items, slot = scope.find(node.base.name)
        if slot >= 0 and not items:
            return _build_slot_path(slot, name, offset)
    base = scope.build(node.base)

    def load(run: Evaluation) -> Value:
        value = base(run)
        if type(value) is dict and name in value:
            return value[name]
        return step(run, value, name, offset)

    return load


def _build_slot_path(slot: int, name: str, offset: int) -> Closure:
    """`item.name`, which loops are made of."""

    def load(run: Evaluation) -> Value:
        value = run.slots[slot]
        if type(value) is dict and name in value:
            return value[name]
        return step(run, value, name, offset)

    return load


def _is_free(node: object, scope: Scope) -> TypeGuard[Name]:
    if not isinstance(node, Name) or scope.find(node.name) != ([], -1):
        return False
    return scope.unit.profile is not Profile.DMN or builtins.find(node.name) is None


def _build_variable_path(base: Name, name: str, offset: int) -> Closure:
    """`variable.name`, by far the commonest path, without taking in the whole variable."""
    variable = base.name

    def load(run: Evaluation) -> Value:
        try:
            value = run.variables[variable]
        except KeyError:
            run.warn(WarningType.NO_VARIABLE_FOUND, f"no variable '{variable}'", base.offset)
            return None
        if type(value) is dict and name in value:
            entry = value[name]
            return entry if type(entry) in READY else run.take(entry)
        return step(run, run.take(value), name, offset)

    return load


def step(run: Evaluation, value: Value, name: str, offset: int) -> Value:
    """Go one step of a path from any value; null and a warning where there is nothing."""
    kind = type(value)
    if kind is dict:
        if name in value:
            return value[name]
        run.warn(WarningType.NO_CONTEXT_ENTRY_FOUND, f"no entry '{name}'", offset)
        return None
    if kind is list:
        run.measure(len(value))
        return [step(run, item, name, offset) for item in value]
    read = properties.PROPERTIES.get(kind, {}).get(name)
    if read is not None:
        return read(value)
    run.warn(WarningType.NO_PROPERTY_FOUND, f"a {kind_of(value)} has no '{name}'", offset)
    return None


def build_filter(node: Filter, scope: Scope) -> Closure:
    """A filter keeps the items for which its condition holds, or takes the one at an index."""
    base = _build_filtered(node, scope)
    if isinstance(node.condition, Literal) and type(node.condition.value) is Decimal:
        return _build_index(base, node.condition.value, node.offset)
    inner = scope.inner()
    slot = inner.declare_item()
    nodes = scope.unit.nodes
    condition = inner.build(node.condition)
    steps = scope.steps_since(nodes)
    offset = node.offset

    def keep(run: Evaluation) -> Value:
        value = base(run)
        if value is None:
            run.warn(WarningType.INVALID_TYPE, "null has no items to filter", offset)
            return None
        items = value if type(value) is list else [value]
        slots = run.slots
        kept = []
        for item in items or _NOTHING:
            run.spend(steps)
            slots[slot] = item
            verdict = condition(run)
            if verdict is True:
                kept.append(item)
            elif type(verdict) is Decimal:
                return item_at(run, items, verdict, offset)
        return kept if items else []

    return keep


# An index is told by its value only, so the condition of an empty list is asked once as well.
_NOTHING: list[Value] = [None]


def _build_filtered(node: Filter, scope: Scope) -> Closure:
    """The base of a filter; `partial` is only read there and need not be copied."""
    base = node.base
    if isinstance(base, Name) and base.name == PARTIAL:
        items, slot = scope.find(PARTIAL)
        if not items and slot >= 0:
            return _build_slot(slot)
    return scope.build(base)


def _build_index(base: Closure, index: Decimal, offset: int) -> Closure:
    def load(run: Evaluation) -> Value:
        value = base(run)
        return item_at(run, value if type(value) is list else [value], index, offset)

    return load


def item_at(run: Evaluation, items: list[Value], index: Decimal, offset: int) -> Value:
    """Give the item at an index: 1 is the first, -1 the last; null outside of the list."""
    place = int(index)
    if 1 <= place <= len(items):
        return items[place - 1]
    if -len(items) <= place <= -1:
        return items[place]
    run.warn(WarningType.INVALID_TYPE, f"no item {index} in a list of {len(items)}", offset)
    return None
