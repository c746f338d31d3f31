"""The time that an evaluation may take: the clock is looked at, whatever an expression does."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from chalicelib import feel
from chalicelib.feel.limits import POLL_STEPS, SECONDS_MAX
from tests.feel.evaluating import value

TEXT = 'string join(for i in 1..1999 return "aaaaaaaaaa")'
LONG = (
    'string join(for i in 1..9000 return "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz")'
)
ENTRIES = "context(for i in 1..9000 return {key: string(i), value: i})"
FOREVER = "for i in 1..100000 return"


def looked_at(text: str, variables: dict[str, Any] | None = None) -> int:
    """Return how often an expression looks at a clock that stands still."""
    looks = []

    def clock() -> float:
        looks.append(1)
        return 0.0

    feel.parse(text).evaluate(variables or {}, deadline=feel.Deadline(clock))
    return len(looks) - 1


def hurried(text: str, given: str = "[]") -> None:
    """Evaluate by a clock that goes on a second each time it is looked at."""
    data = {"given": value(given)}
    feel.parse(text).evaluate(data, deadline=feel.Deadline(count().__next__))


@pytest.mark.parametrize(
    "text",
    [
        "for i in 1..1000, j in 1..1000, k in 1..1000 return 1",
        "some i in 1..1000 satisfies every j in 1..100000 satisfies j > 0",
        f"{FOREVER} count(partial)",
        f"{FOREVER} {'+'.join(['i'] * 5_000)}",
        f"{FOREVER} i in ({','.join(['0'] * 5_000)})",
        "sort(for i in 1..90000 return i, function(a, b) a > b)",
        "sort(for i in 1..90000 return i, before)",
        "{f: function(n) if n = 0 then 0 else f(n - 1) + f(n - 1), r: f(50)}.r",
        f"{FOREVER} 9e6100 ** 0.5",
        f"{FOREVER} string length(string(9e6100 + i))",
        f'{FOREVER} date("2000-01-01") + duration("P1D") * i',
    ],
    ids=lambda text: text[:60],
)
def test_it_ends_what_goes_on_and_on(text: str) -> None:
    with pytest.raises(feel.FeelError, match="takes more than 2 seconds"):
        hurried(text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        *((LONG, f"{FOREVER} {each}") for each in (
            "given + string(i)",
            "upper case(given)",
            "substring(given, i)",
            "contains(given, string(i))",
            "[given, given] = [given, string(i)]",
            "to base64(given)",
            "from json(given)",
            "number(given)",
            "date(given)",
        )),
        *((TEXT, f"{FOREVER} {each}") for each in (
            'matches(substring(given, 1, 5000), "a*b")',
            'matches(given, "(a+)+$")',
            'replace(given, "a", "0123456789")',
            'split(given, "a")',
            'extract(given, "(a|b){1,3}")',
            'matches("a", substring(given, 1, 1000) + string(i))',
        )),
        *((ENTRIES, f"{FOREVER} {each}") for each in (
            'context put(given, "1", i)',
            'context put(given, ["1", "2"], i)',
            'context merge([given, {a: i}])',
            "get entries(given)",
            "string length(string(given))",
            "string length(to json(given))",
            '[given] = [context put(given, "1", i)]',
            '(= given) = (= context put(given, "1", i))',
            'list contains([given], context put(given, "1", i))',
            'is(given, context put(given, "1", i))',
            "given instance of context<`1`: string>",
        )),
        *(("for i in 1..9000 return i", f"{FOREVER} {each}") for each in (
            "sum(given)", "stddev(given)", "mode(given)", "median(given)", "max(given)",
            "count(given)", "reverse(given)", "string join(given)", "distinct values(given)",
            "flatten([given])", "append(given, i)", "concatenate(given, given)", "given[item > i]",
            "union(given, given)", "index of(given, i)", "partition(given, 1)", "remove(given, 1)",
            "list replace(given, function(a, b) true, i)", "duplicate values(given)",
            "0 in (given)", "given instance of list<number>", "given = append(given, i)",
        )),
    ],
    ids=lambda text: text[:60],
)  # fmt: skip
def test_no_built_in_function_and_no_operator_gets_round_it(given: str, text: str) -> None:
    with pytest.raises(feel.FeelError, match="takes more than 2 seconds"):
        hurried(text, given)


def test_the_clock_is_looked_at_every_so_many_steps() -> None:
    assert 0 == looked_at("for i in 1..100 return i")
    assert 50 <= looked_at("for i in 1..50000 return i + 1") <= 2 * 50_000 // POLL_STEPS


@pytest.mark.parametrize(
    "text",
    [
        '"abc" + given',
        "string length(string(given))",
        "context put(given, string(1), 1)",
        "context merge(for i in 1..10 return given)",
        "[given] = [context put(given, string(1), 1)]",
    ],
)
def test_what_is_long_costs_by_its_length(text: str) -> None:
    large = LONG if text.startswith('"') else ENTRIES

    def looks(given: str) -> int:
        return looked_at(f"for i in 1..20 return {text}", {"given": value(given)})

    assert looks(large) > 5 * looks('"a"' if text.startswith('"') else "{}")


def test_a_variable_is_taken_in_with_an_eye_on_the_clock() -> None:
    large = {"given": [[1, 2, 3]] * 90_000 + [[n] for n in range(50_000)]}

    assert looked_at("given[1][1]", large) > 0


def test_without_a_clock_it_never_comes() -> None:
    assert not feel.NEVER.is_over()
    assert not feel.Deadline(lambda: 1e9).again().is_over()
    assert 90_000 == value("count(for i in 1..90000 return i)")


def test_it_is_over_when_its_seconds_are_and_may_begin_again() -> None:
    seconds = iter([10.0, 11.9, 12.0, 12.0, 13.9, 14.0])
    deadline = feel.Deadline(seconds.__next__)

    assert not deadline.is_over()
    with pytest.raises(feel.FeelError, match=f"takes more than {SECONDS_MAX} seconds"):
        deadline.check()
    deadline.restart()
    assert not deadline.is_over()
    assert deadline.is_over()


def test_what_is_done_while_it_pauses_is_left_out() -> None:
    seconds = iter([0.0, 1.0, 100.0, 100.5, 101.0])
    deadline = feel.Deadline(seconds.__next__)

    with deadline.paused():
        pass

    assert not deadline.is_over()
    assert deadline.is_over()
    with feel.NEVER.paused():
        assert not feel.NEVER.is_over()


def test_the_classes_of_a_pattern_may_not_be_endless() -> None:
    assert value('matches("a", "[a-z\\p{L}][\\i-[z]]?$")') is True
    with pytest.raises(feel.FeelError, match="when its classes are spelt out"):
        value('matches("a", string join(for i in 1..150 return "\\p{L}"))')


@pytest.mark.parametrize("result", ["(= last) = (= [last[1]])", "to json(last)", "string(last)"])
def test_ranges_and_texts_of_shared_parts_come_to_an_end(result: str) -> None:
    entries = (f"a{n}: (= [a{n - 1}, a{n - 1}])" for n in range(1, 60))
    if not result.startswith("(="):
        entries = (f"a{n}: [a{n - 1}, a{n - 1}]" for n in range(1, 60))
    text = f"{{a0: [1], {', '.join(entries)}, last: [a59], result: {result}}}.result"
    try:
        assert value(text) is not None
    except feel.FeelError as error:
        assert "characters" in str(error) or "steps" in str(error)
