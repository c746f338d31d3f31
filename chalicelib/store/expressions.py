"""Conditions and updates as DynamoDB's expressions; every name and value goes by placeholder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from chalicelib.ports import (
    Above,
    Absent,
    AnyOf,
    AtMost,
    Attribute,
    Condition,
    Equals,
    Test,
    Update,
)
from chalicelib.store.attributes import to_wire


class Placeholders:
    """The names and values that the expressions of one request stand for."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, Attribute] = {}

    def name(self, attribute: str) -> str:
        """Return the placeholder of an attribute's name."""
        return self._names.setdefault(attribute, f"#{len(self._names)}")

    def value(self, value: Attribute) -> str:
        """Return a placeholder for a value."""
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def parameters(self) -> dict[str, Any]:
        """Return the request's parameters that say what the placeholders stand for."""
        found: dict[str, Any] = {}
        if self._names:
            names = {placeholder: name for name, placeholder in self._names.items()}
            found["ExpressionAttributeNames"] = names
        if self._values:
            found["ExpressionAttributeValues"] = to_wire(self._values)
        return found


def condition(tests: Condition, placeholders: Placeholders) -> dict[str, str]:
    """Return the parameter that demands a condition, none if nothing is demanded."""
    if not tests:
        return {}
    return {"ConditionExpression": _joined(tests, " AND ", placeholders)}


def update(write: Update, placeholders: Placeholders) -> dict[str, str]:
    """Return the parameter that says what an update changes, none if it changes nothing."""
    name, value = placeholders.name, placeholders.value
    clauses = (
        ("SET", [f"{name(key)} = {value(new)}" for key, new in write.set.items()]),
        ("REMOVE", [name(key) for key in write.remove]),
        ("ADD", [f"{name(key)} {value(number)}" for key, number in write.add.items()]),
    )
    text = " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses if parts)
    return {"UpdateExpression": text} if text else {}


def _joined(tests: Iterable[Test], word: str, placeholders: Placeholders) -> str:
    return word.join(_test(test, placeholders) for test in tests)


def _test(test: Test, placeholders: Placeholders) -> str:
    name, value = placeholders.name, placeholders.value
    match test:
        case Equals(attribute, wanted):
            return f"{name(attribute)} = {value(wanted)}"
        case Absent(attribute):
            return f"attribute_not_exists({name(attribute)})"
        case AtMost(attribute, bound):
            return f"{name(attribute)} <= {value(bound)}"
        case Above(attribute, bound):
            return f"{name(attribute)} > {value(bound)}"
        case AnyOf(tests):
            return f"({_joined(tests, ' OR ', placeholders)})"
        case _:
            assert_never(test)
