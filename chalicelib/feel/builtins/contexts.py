"""Built-in functions on contexts.

Source: DMN 1.5 section 10.3.4.11; Camunda's documentation for paths of keys and `put`.
"""

from __future__ import annotations

from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.values import ITEMS_PER_STEP, Value


def get_value(context: dict[str, Value], key: str) -> Value:
    """Give the value of a key; null if there is none."""
    return context.get(key)


def get_value_at(context: dict[str, Value], keys: list[Value]) -> Value:
    """Give the value that a path of keys leads to; null if it leads nowhere."""
    value: Value = context
    for key in keys:
        if type(value) is not dict or type(key) is not str or key not in value:
            return None
        value = value[key]
    return value


def get_entries(context: dict[str, Value]) -> list[Value]:
    """List the entries as contexts of `key` and `value`."""
    return [{"key": key, "value": value} for key, value in context.items()]


def put(context: dict[str, Value], key: str, value: Value) -> dict[str, Value]:
    """Give the context with one entry more, or another."""
    return {**context, key: value}


def put_at(run: Evaluation, context: dict[str, Value], keys: list[Value], value: Value) -> Value:
    """Give the context with a value at the end of a path of keys, which is made if need be."""
    if not keys or not all(type(key) is str for key in keys):
        return None
    branches = [context]
    for key in keys[:-1]:
        branch = branches[-1].get(key)
        branches.append(branch if type(branch) is dict else {})
    for branch, key in zip(reversed(branches), reversed(keys), strict=True):
        run.spend(1 + len(branch))
        value = {**branch, key: value}
    return value


def merge(run: Evaluation, contexts: list[Value]) -> Value:
    """Give one context of the entries of all; a later one wins."""
    merged: dict[str, Value] = {}
    for context in contexts:
        if type(context) is not dict:
            return None
        run.spend(1 + len(context) // ITEMS_PER_STEP)
        merged.update(context)
    return merged


def of_entries(entries: list[Value]) -> Value:
    """Make a context of `key` and `value` contexts; null if a key is missing or comes twice."""
    context: dict[str, Value] = {}
    for entry in entries:
        if type(entry) is not dict or "value" not in entry:
            return None
        key = entry.get("key")
        if type(key) is not str or key in context:
            return None
        context[key] = entry["value"]
    return context


FUNCTIONS = (
    Builtin("get value(m: context, key: string)", get_value),
    Builtin("get value(context: context, key: string)", get_value, only_zeebe=True),
    Builtin("get value(context: context, keys: list)", get_value_at, only_zeebe=True),
    Builtin("get entries(m: context)", get_entries),
    Builtin("get entries(context: context)", get_entries, only_zeebe=True),
    Builtin("context put(context: context, key: string, value: any)", put),
    Builtin("context put(context: context, keys: list, value: any)", put_at, needs_run=True),
    Builtin("put(context: context, key: string, value: any)", put),
    Builtin("context merge(contexts: list)", merge, needs_run=True),
    Builtin("put all(contexts: list)", merge, needs_run=True),
    Builtin("context(entries: list)", of_entries),
)
