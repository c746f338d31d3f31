"""Built-in functions that only Zeebe has, and that need more than their arguments.

Source: Camunda 8 documentation, "FEEL expressions" and "AI agent connector".
"""

from __future__ import annotations

from decimal import Decimal

from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.temporal import Duration
from chalicelib.feel.temporal_text import format_temporal
from chalicelib.feel.values import Value

_UUID_BITS = 128


def cycle(interval: Duration) -> str:
    """Write an unbounded timer cycle."""
    return f"R/{format_temporal(interval)}"


def cycle_of(repetitions: Decimal | None, interval: Duration) -> str:
    """Write a timer cycle of so many repetitions; null is unbounded."""
    return f"R{'' if repetitions is None else int(repetitions)}/{format_temporal(interval)}"


def from_ai(value: Value, *rest: Value) -> Value:
    """Give the value; the rest describes it to an agent that fills it in."""
    return value


def uuid(run: Evaluation) -> str | None:
    """Make a random UUID (version 4); null without a source of randomness."""
    if run.random_bits is None:
        return None
    bits = run.random_bits(_UUID_BITS)
    bits = bits & ~(0xF << 76) | 0x4 << 76  # version 4
    bits = bits & ~(0x3 << 62) | 0x2 << 62  # the variant of RFC 9562
    digits = f"{bits:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_SPAN = "days and time duration|years and months duration"

FUNCTIONS = (
    Builtin(f"cycle(interval: {_SPAN})", cycle, only_zeebe=True),
    Builtin(f"cycle(repetitions: number?, interval: {_SPAN})", cycle_of, only_zeebe=True),
    Builtin(
        "fromAi(value: any, description?: any, type?: any, schema?: any, options?: any)",
        from_ai,
        only_zeebe=True,
    ),
    Builtin("uuid()", uuid, needs_run=True),
)
