"""Which test shows which rule: the `rule` marks over the whole suite, by collecting it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence

import pytest

_NUMBER = re.compile(r"\d+")


class Marks:
    """A plugin of pytest that notes the `rule` marks of every collected test."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Note each rule with the tests that show it, one per parametrized function."""
        for item in items:
            for mark in item.iter_markers("rule"):
                for rule in mark.args:
                    shown = self.tests.setdefault(str(rule), [])
                    if (name := item.nodeid.split("[")[0]) not in shown:
                        shown.append(name)


def marked_tests(arguments: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the tests that show each rule.

    Raises: RuntimeError, with pytest's own words, if the suite cannot be collected.
    """
    marks, talk = Marks(), io.StringIO()
    with contextlib.redirect_stdout(talk), contextlib.redirect_stderr(talk):
        code = pytest.main(
            ["--collect-only", "-q", "-p", "no:cacheprovider", *arguments], plugins=[marks]
        )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"the tests could not be collected:\n{talk.getvalue()}")
    return marks.tests


def in_order(rule: str) -> tuple[str, int]:
    """Sort key of a rule's id: R9 before R10."""
    number = _NUMBER.search(rule)
    return rule[:1], int(number[0]) if number else 0
