"""Patterns with which `re` might never end are followed in linear time, and find the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.feel import regex, regex_linear
from chalicelib.feel.errors import FeelError
from tests.feel.evaluating import running

LONG = 19_000
ATOMS = [
    *("a", "b", ".", "[ab]", r"\w", "[^a]", "(a|ab)", "(a*)", "(b+)", "(?:ab)?"),
    *(r"\b", "^", "$", "(a|b|ab)"),
]
QUANTIFIERS = ["", "*", "+", "?", "+?", "{2}", "{1,3}"]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    inside = "".join(draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4)))
    return f"({inside}){draw(st.sampled_from(QUANTIFIERS))}{draw(st.sampled_from(ATOMS))}"


@given(patterns(), st.text("ab ", max_size=8))
def test_the_first_match_is_that_of_re(pattern: str, text: str) -> None:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    theirs, ours = compiled.search(text), regex_linear.linear(compiled).search(text)

    assert (theirs and theirs.span()) == (ours and (ours.start(), ours.end()))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("(a+)+$", False), ("(a*)*b", False), ("(a|aa)+$", False), ("(.*)(.*)(.*)(.*)x", False)],
)
def test_a_pattern_that_repeats_what_repeats_comes_to_an_end(pattern: str, found: bool) -> None:
    assert found is regex.matches(running(), "a" * LONG + "!", pattern)


def test_what_it_finds_can_be_replaced_and_listed() -> None:
    names = "anna.maria@example.org, x@y.z"

    assert ["anna.maria@example.org", "x@y.z"] == regex.extract(
        running(), names, r"(\w+\.)*\w+@(\w+\.)+\w+"
    )
    assert "<example.>, <y.>" == regex.replace(
        running(), names, r"(?:\w+\.)*\w+@(\w+\.)+\w+", "<$1>"
    )


def test_cases_and_lines_count_as_the_flags_say() -> None:
    assert regex.matches(running(), "x\nAB", "^(a|b)+$", "im")
    assert not regex.matches(running(), "x\nAB", "^(a|b)+$", "i")


@pytest.mark.parametrize("pattern", [r"(a+)+\1", "(a+)+(?=b)", "((a{1,99}){1,99})+"])
def test_what_cannot_be_followed_is_refused(pattern: str) -> None:
    with pytest.raises(FeelError, match="a pattern"):
        regex.matches(running(), "a" * 40, pattern)


def test_a_pattern_of_one_repetition_is_left_to_re() -> None:
    assert isinstance(regex.compiled_for(running(), "a" * 5_000, "[a-z]+!"), re.Pattern)
