"""Built-in functions on booleans and on what is there at all.

Source: DMN 1.5 section 10.3.4.2; Camunda's documentation for the last three.
"""

from __future__ import annotations

from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.errors import FeelError
from chalicelib.feel.values import Value


def negate(negand: Value) -> bool | None:
    """Give the opposite of a boolean."""
    return None if type(negand) is not bool else not negand


def is_defined(value: Value) -> bool:
    """Tell whether there is a value; null and a missing variable are none."""
    return value is not None


def get_or_else(value: Value, default: Value) -> Value:
    """Give the value, or the default if it is null."""
    return default if value is None else value


def assert_that(value: Value, condition: Value, cause: str | None = None) -> Value:
    """Give the value if the condition is true. Raises: FeelError if it is not."""
    if condition is not True:
        raise FeelError(cause or "the condition of an assertion is not true")
    return value


FUNCTIONS = (
    Builtin("not(negand: any)", negate),
    Builtin("is defined(value: any)", is_defined),
    Builtin("get or else(value: any, default: any)", get_or_else),
    Builtin("assert(value: any, condition: any, cause?: string?)", assert_that),
)
