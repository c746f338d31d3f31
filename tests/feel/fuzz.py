"""Random and mutated expressions, which raise nothing but the engine's own error.

`python -m tests.feel.fuzz --count 200000` runs many; a test runs a few with each change.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib import feel
from chalicelib.feel import Profile, builtins
from chalicelib.feel.text import to_string

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
VARIABLES: dict[str, Any] = {
    "a": 1,
    "b": "text",
    "c": [1, 2, {"d": None}],
    "e": {"f g": 2, "h": [True]},
    "f-g": 3.5,
    "?": 4,
}
SEEDS = (
    'if a > 1 then "x" else [1..3]',
    "for i in 1..3, j in c return i * partial[-1]",
    "some x in c satisfies x = 2 and every y in [] satisfies y",
    "{a: 1, b: function(x: number) a + x, c: b(2)}.c",
    "(function(a, b) a ** b - -a / b)(b: 2, a: 3)",
    'date and time("2026-03-02T09:00:00@Europe/Paris") + duration("P1DT2H") - @"P1Y"',
    "c[item > 1 or item instance of context<d: Any>][1].d",
    'sort(c, function(x, y) x < y)[f g = 2] in (< 3, ]1..4[, null, "a".."b")',
    'replace(b, "[a-z-[t]]+(x)?", "$1") + string(e.f g) + "\\u0041\\""',
    "a between f-g and 10 // comment\n/* another */ * `f-g`",
)
PIECES = (
    *("+", "-", "*", "/", "**", "=", "!=", "<", "<=", ">", ">=", "(", ")", "[", "]", "{", "}"),
    *("..", ".", ",", ":", "?", "@", "`", '"', "\\"),
    *("if", "then", "else", "for", "in", "return", "some", "every", "satisfies", "and", "or"),
    *("between", "instance of", "function", "not", "null", "true", "false", "item", "partial"),
    *("1", "-2.5", "1e6000", "1e-6000", '"s"', '@"P1D"', '@"2026-01-01"', "a", "b", "c", "e.f g"),
    *("list<number>", "range", "🐎", "\u00a0", "\n", "'", "$", "external", "0", "999999999999"),
)


def expression(chance: random.Random) -> str:
    """Return an expression that may be none: pieces in a row, a call, or a seed with mistakes."""
    match chance.randrange(4):
        case 0:
            return " ".join(chance.choices(PIECES, k=chance.randint(1, 14)))
        case 1:
            name = chance.choice(builtins.NAMES)
            arguments = (_operand(chance) for _ in range(chance.randrange(5)))
            return f"{name}({', '.join(arguments)})"
        case _:
            return _mutated(chance.choice(SEEDS), chance)


def _operand(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return chance.choice(SEEDS)
    return chance.choice(("a", "b", "c", "e", "null", "-1", "1e40", '"x"', '@"P1Y"', "[1..2]",
                          "[]", '"(a"', "function(x, y) x", '@"10:00:00Z"', "true"))  # fmt: skip


def _mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.randint(0, 6))
        piece = chance.choice((chance.choice(PIECES), text[place:end], "", chance.choice(SEEDS)))
        text = text[:place] + piece + text[end:]
    return text[:2_000]


def try_out(text: str, chance: random.Random) -> str:
    """Parse, evaluate and print one; return what came of it. Raises: what should never be."""
    profile = chance.choice(list(Profile))
    parse = chance.choice((feel.parse, feel.parse_unary_tests))
    try:
        parsed = parse(text, profile=profile, names=("f g", "f-g"))
        value = parsed.evaluate(VARIABLES, now=NOW, warnings=[], random_bits=chance.getrandbits)
        feel.to_json(value)
        to_string(value)
    except feel.FeelSyntaxError:
        return "syntax error"
    except feel.FeelError:
        return "error"
    return "null" if value is None else "value"


def run(count: int, seed: int) -> Counter[str]:
    """Try out so many expressions; return how often what came of them."""
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    for _ in range(count):
        text = expression(chance)
        try:
            found[try_out(text, chance)] += 1
        except Exception as error:
            raise AssertionError(f"{text!r} raised {type(error).__name__}: {error}") from error
    return found


def main(arguments: Sequence[str]) -> None:
    """Run what the command line asks for, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for outcome, times in run(options.count, options.seed).most_common():
        sys.stdout.write(f"{outcome}: {times}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
