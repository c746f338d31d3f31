"""Evaluating in one line, for tables of an expression and what it gives, both as FEEL text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from chalicelib import feel
from chalicelib.feel.text import to_string

NOW = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)

DATA: dict[str, Any] = {
    "amount": Decimal(150),
    "name": "Ann",
    "yes": True,
    "nothing": None,
    "numbers": [Decimal(1), Decimal(2), Decimal(3)],
    "customer": {"tier": "gold", "address": {"city": "Ulm"}, "first name": "Ann"},
    "orders": [
        {"id": "a", "total": Decimal(10), "lines": [{"sku": "x"}, {"sku": "y"}]},
        {"id": "b", "total": Decimal(20), "lines": []},
        {"id": "c", "lines": [{"sku": "z"}]},
    ],
}


def value(
    text: str,
    variables: Mapping[str, Any] | None = None,
    profile: feel.Profile = feel.Profile.ZEEBE,
    names: tuple[str, ...] = (),
) -> Any:
    """Evaluate over DATA, or over other variables."""
    expression = feel.parse(text, profile=profile, names=names)
    return expression.evaluate(DATA if variables is None else variables, now=NOW)


def shown(
    text: str,
    variables: Mapping[str, Any] | None = None,
    profile: feel.Profile = feel.Profile.ZEEBE,
    names: tuple[str, ...] = (),
) -> str:
    """Give the value as FEEL text, strings in quotes."""
    return to_string([value(text, variables, profile, names)])[1:-1]


def running() -> feel.Evaluation:
    """Give an evaluation under way, for what needs one."""
    return feel.Evaluation({}, [], None, None, None)


def warned(text: str, variables: Mapping[str, Any] | None = None) -> list[str]:
    """Give the types of the warnings that an evaluation leaves."""
    warnings: list[feel.FeelWarning] = []
    feel.parse(text).evaluate(DATA if variables is None else variables, warnings=warnings)
    return [warning.type.value for warning in warnings]
