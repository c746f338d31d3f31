"""The two dialects that one evaluator speaks."""

from __future__ import annotations

from enum import Enum


class Profile(Enum):
    """Which functions and names an expression may use.

    DMN is strict: the signatures of DMN 1.5 and no other. ZEEBE adds what Camunda 8 has beside
    them, and a built-in function's name alone is no value there but a variable.
    """

    DMN = "dmn"
    ZEEBE = "zeebe"

    __hash__ = object.__hash__  # each is one object, and Enum's own hash is no C
