"""Decision models as JSON text and back, so that what evaluates never reads XML.

Shapes: one object with the `format` it is written in, the profile, the definitions and the
    problems. A named tuple of `model` is an object with its class under `is` and its fields, a
    plain tuple a list; what is None is left out.
"""

from __future__ import annotations

from typing import Any

from chalicelib import json_text
from chalicelib.dmn import model as classes
from chalicelib.dmn.errors import Problem
from chalicelib.dmn.model import Model
from chalicelib.feel import Profile

FORMAT = 1  # rises with every change that an older reader would misread

_CLASS = "is"
_CLASSES: dict[str, Any] = {
    name: class_
    for name, class_ in vars(classes).items()
    if isinstance(class_, type) and issubclass(class_, tuple)
}


class UnknownFormat(ValueError):
    """The text was written by another version: compile the XML again."""


def to_json(model: Model) -> str:
    """Write a model as JSON text."""
    return json_text.dumps(
        {
            "format": FORMAT,
            "profile": model.profile.value,
            "definitions": _to(model.definitions),
            "problems": [list(problem) for problem in model.problems],
        }
    )


def from_json(text: str) -> Model:
    """Read a model that `to_json` wrote.

    Raises: UnknownFormat for the text of another version.
    """
    data = json_text.loads(text)
    found = data.get("format") if isinstance(data, dict) else None
    if not isinstance(data, dict) or found != FORMAT:
        raise UnknownFormat(f"expected a decision model in format {FORMAT}, found {found}")
    return Model(
        _from(data["definitions"]),
        Profile(data["profile"]),
        tuple(Problem(*problem) for problem in data["problems"]),
    )


def _to(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    fields = getattr(value, "_fields", None)
    if fields is None:
        return [_to(item) for item in value]
    row = {_CLASS: type(value).__name__}
    for name, part in zip(fields, value, strict=True):
        if part is not None:
            row[name] = _to(part)
    return row


def _from(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_from(item) for item in value])
    if not isinstance(value, dict):
        return value
    class_ = _CLASSES[value[_CLASS]]
    return class_(*[_from(value.get(name)) for name in class_._fields])
