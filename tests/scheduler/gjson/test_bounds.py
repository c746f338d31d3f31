"""No path and no body can hold or kill the process: the guards of contracts/gjson.md 3.5.

What is asserted is work counted in steps, never time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.scheduler.gjson import Result, get, search
from chalicelib.scheduler.gjson.limits import (
    BYTES_PER_STEP,
    DEPTH_MAX,
    PATH_MAX,
    STEPS_MAX,
    TEXT_MAX,
    WILDCARD_STEPS_MAX,
)
from chalicelib.scheduler.gjson.work import Work
from tests.scheduler.gjson.documents import NOTHING, value, value_of

MEGABYTE = 1_000_000
FEW_STEPS = 50_000
TOKEN_STEPS = TEXT_MAX // BYTES_PER_STEP + 1  # one token is counted when it has been read
SPARE_FRAMES = 40  # of Python's stack, far fewer than what is nested here


def found_in(text: bytes, path: str, steps_max: int) -> Result:
    """Evaluate, and require that it took no more steps than these."""
    work = Work()
    found = search(text, path, work)
    assert work.spent <= steps_max
    return found


def found_with_few_steps(text: bytes, path: str) -> Result:
    """Evaluate with few steps allowed, and require that it ended when they were spent."""
    work = Work(FEW_STEPS)
    found = search(text, path, work)
    assert work.spent <= FEW_STEPS + TOKEN_STEPS
    return found


def test_an_evaluation_ends_when_its_steps_are_spent() -> None:
    text = b"[" + b"1," * FEW_STEPS + b"1]"

    assert STEPS_MAX == Work().left
    assert FEW_STEPS + 1 == get(text, "#").number
    assert not found_with_few_steps(text, "#").exists


@contextmanager
def shallow_stack() -> Iterator[None]:
    """Leave so few frames that any recursion over what is nested would fail."""
    depth, frame = 0, sys._getframe().f_back
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + SPARE_FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def test_a_path_that_is_too_long_is_absent_unread() -> None:
    long = "a." * (MEGABYTE // 2)

    assert not found_in(b'{"a":1}', long, 0).exists
    assert 1 == value_of(b'{"%b":1}' % (b"a" * PATH_MAX), "a" * PATH_MAX)
    assert NOTHING is value_of(b'{"%b":1}' % (b"a" * (PATH_MAX + 1)), "a" * (PATH_MAX + 1))


def test_a_text_that_is_too_long_is_absent_unread() -> None:
    text = b'{"a":1}'.ljust(TEXT_MAX)

    assert 1 == get(text, "a").number
    assert not found_in(text + b" ", "a", 0).exists


@pytest.mark.parametrize("path", ["a", "0", "1", "#", "..#", "..0", "a|b", "@this.a", "@valid"])
@pytest.mark.parametrize("bracket", [b"[", b"{", b'{"a":', b'{"a":[', b"]", b'"', b'["', b"[["])
def test_a_text_of_nothing_but_brackets_is_read_in_linear_time(bracket: bytes, path: str) -> None:
    text = (bracket * 20_000)[:20_000]

    with shallow_stack():
        found_in(text, path, 4 * len(text))


def test_a_megabyte_of_brackets_is_one_look_each() -> None:
    assert 1 == found_in(b"[" * MEGABYTE, "#", 2 * MEGABYTE).number


@pytest.mark.parametrize(
    "path",
    [
        "0." * (PATH_MAX // 2),
        "a." * (PATH_MAX // 2),
        "*." * (PATH_MAX // 2),
        "0|" * (PATH_MAX // 2),
        "#." * (PATH_MAX // 2),
        "#(" * (PATH_MAX // 2),
        "#(#" * (PATH_MAX // 3),
        "#(" * (PATH_MAX // 4) + "#" + ")#" * (PATH_MAX // 4 - 1),
        "#[" * (PATH_MAX // 2),
        "[" * PATH_MAX,
        "{" * PATH_MAX,
        "[" * (PATH_MAX // 2) + "]" * (PATH_MAX // 2),
        "{a:" * (PATH_MAX // 4) + "}" * (PATH_MAX // 4),
        "[@this,@this]|" * (PATH_MAX // 14),
        "#.[@this,@this]|" * (PATH_MAX // 16),
        "@reverse|" * (PATH_MAX // 9),
        "@tostr|" * (PATH_MAX // 7),
        "@ugly|" * (PATH_MAX // 6),
        "@valid|" * (PATH_MAX // 7),
        "@this." * (PATH_MAX // 6),
        "@dig:" * (PATH_MAX // 5),
        "@dig:#." * (PATH_MAX // 7),
        "@flatten|" * (PATH_MAX // 9),
        '@flatten:{"deep":true}',
        '@pretty:{"sortKeys":true}',
        ".." * (PATH_MAX // 2),
        "\\" * PATH_MAX,
        "|" * PATH_MAX,
        "!" * PATH_MAX,
        '"' * PATH_MAX,
    ],
    ids=lambda path: f"{path[:16]}x{len(path)}",
)
@pytest.mark.parametrize(
    "text",
    [
        b"[" * 2_000 + b"]" * 2_000,
        b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
        b'{"a":[' * 500 + b'"' + b"x" * 100_000 + b'"' + b"]}" * 500,
        b"[" + b'[{"a":[1]},2],' * 2_000 + b"[1]]",
        b'["\\"\\\\"]',
    ],
    ids=["arrays", "objects", "a long string, deep", "wide", "escapes"],
)
def test_what_is_nested_in_paths_and_texts_ends_without_recursion(path: str, text: bytes) -> None:
    assert len(path) <= PATH_MAX
    with shallow_stack():
        found_with_few_steps(text, path)


@pytest.mark.parametrize(
    ("key", "pattern", "expected"),
    [
        ("a" * MEGABYTE, "*a*a*a*a*b", NOTHING),
        ("a" * MEGABYTE, "*a*a*a*a*", 1),
        ("a" * 60, "*a" * 25 + "*b", NOTHING),
        ("a" * 60, "*a" * 25, 1),
        ("a" * MEGABYTE, "*" * 1_000, 1),
        ("a" * MEGABYTE, "*?" * 500, 1),
        ("a" * MEGABYTE, "*" + "?" * 500 + "b*", NOTHING),
        ("ab" * (MEGABYTE // 2), "*" + "a?" * 200 + "c*", NOTHING),
        ("ab" * (MEGABYTE // 2), "*" + "ab" * 200 + "c*", NOTHING),
        ("é" * 1_000, "*é?é*", 1),
        ("é", "??", NOTHING),
    ],
    ids=lambda each: f"{str(each)[:12]}x{len(str(each))}",
)
def test_patterns_never_try_anything_twice(key: str, pattern: str, expected: object) -> None:
    text = b'{"%b":1}' % key.encode()
    steps_max = len(text) + 64 * WILDCARD_STEPS_MAX

    assert expected == value(found_in(text, pattern, steps_max))
    listed = b'[{"k":"%b"}]' % key.encode()
    like = found_in(listed, f"#(k%{pattern})#|#", steps_max)
    assert (expected is not NOTHING) == (like.number == 1)


def test_near_misses_end_as_no_match() -> None:
    few, many = (b'{"%b":1}' % (b"ab" * times + b"axc") for times in (100, WILDCARD_STEPS_MAX))

    assert 1 == value_of(few, "*a?c*")
    assert 1 == value_of(many, "*a?c")
    assert NOTHING is value_of(many, "*a?c*")


def test_a_modifier_goes_down_to_its_bound_and_no_deeper() -> None:
    deep = b"[" * DEPTH_MAX + b"7" + b"]" * DEPTH_MAX

    with shallow_stack():
        assert [7] == value_of(deep, '@flatten:{"deep":true}')
        assert NOTHING is value_of(b"[%b]" % deep, '@flatten:{"deep":true}')
        assert NOTHING is value_of(b"[%b]" % deep, '@pretty:{"sortKeys":true}')
        assert NOTHING is value_of(b"[%b]" % deep, "@dig:a")
        assert value_of(b"[%b]" % deep, "@valid|#") == 1


@pytest.mark.parametrize(
    "path",
    ["@tostr|" * 140 + "@tostr", "[@this,@this]|" * 70 + "#", "{a:@this,b:@this}|" * 50 + "a"],
    ids=["@tostr", "array", "object"],
)
def test_what_doubles_with_each_step_is_absent(path: str) -> None:
    text = b'{"a":"\\"","b":["' + b"x" * 10_000 + b'"]}'

    assert not found_with_few_steps(text, path).exists


@pytest.mark.parametrize(
    "path", ["[@this" + ",@this" * 160 + "]", "{a:@this" + ",a:@this" * 100 + "}"]
)
def test_what_repeats_a_text_is_absent_once_it_is_too_large(path: str) -> None:
    text = b'["' + b"x" * (TEXT_MAX // 100) + b'"]'

    assert not found_in(text, path, STEPS_MAX).exists


def test_what_repeats_a_text_at_each_level_is_absent_once_it_is_too_large() -> None:
    text = b"[" * 400 + b'"' + b"x" * 10_000 + b'"' + b"]" * 400

    assert not found_in(text, "@dig:@this", STEPS_MAX).exists
    assert 400 == found_in(text, "@dig:#|#", STEPS_MAX).number


def test_a_string_of_nothing_but_escapes_is_a_step_each() -> None:
    text = b'{"%b":"%b"}' % (b"\\n" * 100_000, b'\\"' * 100_000)

    assert '"' * 100_000 == found_in(text, "*", MEGABYTE).text
    assert '"' * 100_000 == found_in(text, "\n" * 1_000 + "*", MEGABYTE).text
    assert not found_with_few_steps(text, "*").exists


def test_what_repeats_a_long_key_is_absent() -> None:
    text = b'{"%b":[%b1]}' % (b"k" * 100_000, b"1," * 100_000)

    assert not found_in(text, "@group", STEPS_MAX + TOKEN_STEPS).exists


@pytest.mark.parametrize(
    ("token", "number"),
    [
        (b"9" * MEGABYTE, math.inf),
        (b"-" + b"9" * MEGABYTE, -math.inf),
        (b"0." + b"0" * MEGABYTE + b"1", 0),
        (b"1e" + b"9" * MEGABYTE, math.inf),
        (b"1e-" + b"9" * MEGABYTE, 0),
        (b"0x" + b"f" * MEGABYTE, 0),
        (b"." * MEGABYTE, 0),
    ],
    ids=lambda each: str(each)[:8],
)
def test_a_number_of_any_length_is_one_token(token: bytes, number: float) -> None:
    assert number == found_in(b'{"a":%b}' % token, "a", len(token) // 8).number
    assert number == found_in(b"[%b]" % token, "0", len(token) // 8).number


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (rb"\ud83d\ude00", "😀"),
        (rb"\ud83d", "\ufffd"),
        (rb"\ude00\ud83d", "\ufffd"),
        (rb"\ud83dx", "\ufffdx"),
        (rb"\ud83d\u0041", "\ufffd"),
        (rb"a\u00", "a"),
        (rb"a\uzzzzb", "a\x00b"),
        (rb"a\qb", "a"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\x00", "\x00"),
    ],
)
def test_strings_that_are_no_text_are_shown_as_far_as_they_go(inner: bytes, text: str) -> None:
    body = b'{"a":"%b","n":5}' % inner

    assert text == get(body, "a").text
    assert b'"%b"' % inner == get(body, "a").raw
    assert 5 == get(body, "n").number
    assert 5 == get(body, "@ugly.n").number
    assert get(body, "@tostr").exists


def test_keys_that_are_no_text_are_passed_over() -> None:
    body = b'{"\xff\xfe":1,"\\ud800":2,"b":3}'

    assert 3 == get(body, "b").number
    assert 1 == get(body, "*").number
    assert 1 == get(body, "??").number
    assert 2 == get(body, "\ufffd").number
    assert not get(body, "\ud800").exists
    assert not get(body, "\udcff").exists
