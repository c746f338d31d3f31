"""Regular expressions as XML Schema and XPath write them, on Python's `re`.

A plain pattern is the same in both and goes to `re` as it is. What differs is translated: class
subtraction `[A-Z-[OI]]`, `\\p{…}` and `\\P{…}` of categories and blocks, `\\i` and `\\c` of XML
names, `.` that stops at a carriage return too, `$` that is the very end, `x` that only drops white
space. Look-ahead and look-behind, which XPath lacks and Java has, are let through.
Source: XPath Functions 3.1 section 5.6.1, XML Schema 1.1 part 2 appendix G, DMN 1.5 10.3.4.3.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from chalicelib.feel.errors import FeelError
from chalicelib.feel.limits import (
    PATTERN_INPUT_MAX,
    PATTERN_MAX,
    PATTERN_SPELT_MAX,
    STRING_MAX,
)

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Evaluation
    from chalicelib.feel.regex_linear import Linear

    Pattern: TypeAlias = re.Pattern[str] | Linear

_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE}
# Signs, `\\d`, and plain classes, with simple quantifiers behind them; the same everywhere.
_PLAIN = re.compile(
    r"(?:(?:[\w @%_,;:!=<>/'\"~-]|\\[d.]|\[(?:[a-zA-Z0-9]-[a-zA-Z0-9]|\w)+\])[*+?]?)*"
)
_REPEATS = re.compile(r"[*+}]")  # of which some may be escaped
SURELY_FEW = 20  # repetitions times characters: fewer ways than 2 to this power
_REFERENCE = re.compile(r"\\(.)|\$(\d+)|([\\$])", re.DOTALL)


def matches(run: Evaluation, input_: str, pattern: str, flags: str | None = None) -> bool | None:
    """Tell whether the pattern is found anywhere; null for a bad pattern or flag."""
    compiled = compiled_for(run, input_, pattern, flags or "")
    if compiled is None:
        return None
    return compiled.search(input_) is not None


def replace(
    run: Evaluation, input_: str, pattern: str, replacement: str, flags: str | None = None
) -> str | None:
    """Put a replacement, in which `$1` is the first group, in place of every match."""
    compiled = compiled_for(run, input_, pattern, flags or "")
    if compiled is None:
        return None
    pieces = _replacement(replacement, compiled.groups)
    if pieces is None:
        return None
    size = end = 0
    parts: list[str] = []
    for found in compiled.finditer(input_):
        put = "".join(piece if isinstance(piece, str) else found[piece] or "" for piece in pieces)
        size += len(put)
        if size > STRING_MAX:
            raise FeelError(f"a string would have more than {STRING_MAX} characters")
        parts += (input_[end : found.start()], put)
        end = found.end()
    return "".join((*parts, input_[end:]))


def extract(run: Evaluation, input_: str, pattern: str) -> list[str] | None:
    """List the parts of the text that match."""
    compiled = compiled_for(run, input_, pattern)
    if compiled is None:
        return None
    return [found[0] or "" for found in compiled.finditer(input_)]


def compiled_for(run: Evaluation, input_: str, pattern: str, flags: str = "") -> Pattern | None:
    """Return what finds a pattern in a text and does end; None for a bad pattern or flag.

    Raises: FeelError if the text is too long, or the pattern cannot be followed on it.
    """
    if len(input_) > PATTERN_INPUT_MAX:
        raise FeelError(f"a pattern is applied to more than {PATTERN_INPUT_MAX} characters")
    compiled = compile_pattern(pattern, flags)
    run.deadline.check()  # of all that FEEL does this may take the longest
    if compiled is None or len(_REPEATS.findall(compiled.pattern)) * len(input_) < SURELY_FEW:
        return compiled
    return _bounded(run, compiled, len(input_))


def _bounded(run: Evaluation, compiled: re.Pattern[str], length: int) -> Pattern:
    """Return the pattern, in a form that cannot try too many ways if `re` might."""
    from chalicelib.feel import regex_linear  # noqa: PLC0415 - few need it

    ways = regex_linear.ways(compiled, length)
    if ways <= regex_linear.WAYS_MAX:
        run.spend(ways // regex_linear.WAYS_PER_STEP)
        return compiled
    return regex_linear.linear(compiled).counted(run.spend)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: str) -> re.Pattern[str] | None:
    """Translate and compile; None for a bad pattern or flag.

    Raises: FeelError if its classes, spelt out, are too long.
    """
    if len(pattern) > PATTERN_MAX or not set(flags) <= {*_FLAGS, "x"}:
        return None
    options = re.RegexFlag(0)
    for flag in flags:
        options |= _FLAGS.get(flag, 0)
    try:
        if _PLAIN.fullmatch(pattern) is None or "x" in flags:
            from chalicelib.feel.regex_syntax import translate  # noqa: PLC0415 - few need it

            pattern = translate(pattern, flags)
            if len(pattern) > PATTERN_SPELT_MAX:
                raise FeelError(
                    f"a pattern has more than {PATTERN_SPELT_MAX} characters when its classes are "
                    "spelt out"
                )
        return re.compile(pattern, options)
    except (ValueError, re.error, RecursionError, OverflowError):
        return None


def _replacement(text: str, groups: int) -> list[str | int] | None:
    """Take a replacement apart into text and group numbers; None if it is malformed."""
    pieces: list[str | int] = []
    end = 0
    for found in _REFERENCE.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        if found[1] is not None:
            if found[1] not in "\\$":
                return None
            pieces.append(found[1])
        elif found[2] is not None:
            number, rest = _group(found[2], groups)
            pieces += (number, rest) if number <= groups else (rest,)
        else:
            return None
    return [*pieces, text[end:]]


def _group(digits: str, groups: int) -> tuple[int, str]:
    """Take as many digits as still name a group; the rest is text."""
    length = len(digits)
    while length > 1 and int(digits[:length]) > groups:
        length -= 1
    return int(digits[:length]), digits[length:]
