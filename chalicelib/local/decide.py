"""`headrace feel` and `headrace dmn`: one expression or one decision, on standard output.

What made a null, and what is wrong in a model, goes to standard error.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chalicelib import dmn, feel, json_text
from chalicelib.json_text import JsonObject
from chalicelib.local.run import BadInput


def show_value(expression: str, context: JsonObject, profile: str) -> int:
    """Print the value of an expression as JSON. Raises: BadInput if there is none."""
    warnings: list[feel.FeelWarning] = []
    try:
        parsed = feel.parse(expression, profile=feel.Profile(profile), names=tuple(context))
        value = parsed.evaluate(
            context,
            now=datetime.now(UTC),
            warnings=warnings,
            random_bits=secrets.randbits,
            deadline=feel.Deadline(time.monotonic),
        )
        print(json_text.dumps(feel.to_json(value)))  # noqa: T201
    except feel.FeelError as error:
        raise BadInput(str(error)) from error
    for warning in warnings:
        _tell(f"{warning.type.value} at character {warning.offset + 1}: {warning.message}")
    return 0


def read_model(file: Path, imports: Sequence[Path]) -> dmn.Model:
    """Read a model and those it imports. Raises: BadInput if one is none, or cannot be read."""
    models: list[dmn.Model] = []
    for path in (*imports, file):
        try:
            models.append(dmn.parse(path.read_bytes(), models))
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}") from error
        except dmn.DmnError as error:
            raise BadInput(f"{path}: {error}") from error
    return models[-1]


def show_decision(model: dmn.Model, decision: str, given: JsonObject, *, audit: bool) -> int:
    """Print what was decided as JSON, with `audit` also how. Raises: BadInput if it cannot be."""
    for element, message in model.problems:
        _tell(f"{element}: {message}")
    try:
        result = dmn.evaluate(
            model,
            decision,
            given,
            now=datetime.now(UTC),
            random_bits=secrets.randbits,
            deadline=feel.Deadline(time.monotonic),
        )
        value = feel.to_json(result.value)
        shown = {"value": value, "decisions": list(map(_record, result.audit))} if audit else value
        print(json_text.dumps(shown))  # noqa: T201
    except (dmn.DmnError, feel.FeelError) as error:
        raise BadInput(str(error)) from error
    for warning in result.warnings:
        _tell(f"{warning.type} at {warning.element}: {warning.message}")
    return 0


def _record(decision: dmn.EvaluatedDecision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "name": decision.name,
        "value": feel.to_json(decision.value),
        "inputs": {each.name: feel.to_json(each.value) for each in decision.inputs},
        "rules": [rule.number for rule in decision.rules],
    }


def _tell(warning: str) -> None:
    print(f"warning: {warning}", file=sys.stderr)  # noqa: T201
