"""A part of the fuzz run, with each change."""

from __future__ import annotations

from tests.feel import fuzz


def test_random_and_mutated_expressions_raise_nothing_but_the_engines_own_error() -> None:
    found = fuzz.run(2_000, seed=7)

    assert 2_000 == found.total()
    assert {"value", "null", "syntax error"} <= found.keys()
