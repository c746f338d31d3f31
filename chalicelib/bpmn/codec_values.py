"""Values of the model in a compiled process: a string, with a leading `=` if it is FEEL; static
text that itself begins with `=` or `'` gets a leading `'`."""

from __future__ import annotations

from chalicelib.bpmn.model import Value


def optional_to(value: Value | None) -> str | None:
    """Write a value that may be missing."""
    return None if value is None else value_to(value)


def optional_from(text: str | None) -> Value | None:
    """Read a value that may be missing."""
    return None if text is None else value_from(text)


def value_to(value: Value) -> str:
    """Write a value."""
    if value.is_feel:
        return "=" + value.text
    return "'" + value.text if value.text.startswith(("=", "'")) else value.text


def value_from(text: str) -> Value:
    """Read a value."""
    if text.startswith("="):
        return Value(text[1:], is_feel=True)
    return Value(text.removeprefix("'"))
