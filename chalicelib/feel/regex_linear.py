"""Regular expressions matched in linear time, for patterns with which `re` might never end.

`re` goes back over what it matched: with a repetition inside a repetition, as in `(a+)+$`, it
tries each way to cut a text into pieces, which are 2 to the power of its length, and it cannot be
interrupted. Here all ways are followed at once, one character after the other, in the order in
which `re` would try them, so the match is the one that `re` would find. References back and looks
ahead and behind cannot be followed so; of a repetition that prefers to be empty, inside another,
`re` takes one round more.
Source: Pike's method, as in R. Cox, "Regular Expression Matching: the Virtual Machine Approach".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from chalicelib.feel.errors import FeelError
from chalicelib.feel.values import free

PROGRAM_MAX = 5_000  # instructions; `{2,1000}` is so many copies
STEPS_MAX = 3_000_000  # of all matches in one text; some seconds
WAYS_MAX = 3 * 10**7  # in which `re` may cut a text: at most some tenths of a second
WAYS_PER_STEP = 5_000  # of an evaluation
LOOKS_PER_STEP = 4  # places of the program that are looked at in a step of an evaluation

Test = Callable[[str], bool]
Slots = tuple[int, ...]
Way = tuple[int, Slots]  # where in the program it is, and what it has captured
CHAR, SPLIT, SAVE, AT, DONE = range(5)


@dataclass(frozen=True, slots=True)
class Match:
    """What was found: the text by group, as `re.Match` gives it, and where it is."""

    text: str
    slots: Slots

    def __getitem__(self, group: int) -> str | None:
        begin, end = self.slots[2 * group], self.slots[2 * group + 1]
        return None if begin < 0 or end < 0 else self.text[begin:end]

    def start(self) -> int:
        """Return where it begins."""
        return self.slots[0]

    def end(self) -> int:
        """Return where it ends."""
        return self.slots[1]


class Linear:
    """A compiled pattern. Raises: FeelError if it cannot be followed in linear time.

    Shapes: whoever searches counts the steps of it by `spend`, which may raise.
    """

    def __init__(self, tree: Any, flags: int) -> None:
        self.groups: int = tree.state.groups - 1
        self._flags = flags
        self._spend: Callable[[int], None] = free
        self._program: list[tuple[int, Any, Any]] = []
        self._begins = [-1] * (2 * self.groups + 2)
        self._capture(tree, 0)
        self._add(DONE)

    def counted(self, spend: Callable[[int], None]) -> Linear:
        """Return the same pattern, with somebody who counts what searching takes."""
        counted = copy(self)
        counted._spend = spend
        return counted

    def search(self, text: str) -> Match | None:
        """Find the first match."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[Match]:
        """Find the matches that do not overlap, the first one first."""
        begin, steps = 0, [0]
        while begin <= len(text):
            slots = self._run(text, begin, steps)
            if slots is None:
                return
            yield Match(text, slots)
            begin = slots[1] + (slots[0] == slots[1])

    # --- the program -----------------------------------------------------------------------

    def _add(self, kind: int, one: Any = None, two: Any = None) -> int:
        if len(self._program) >= PROGRAM_MAX:
            raise FeelError(f"a pattern would take more than {PROGRAM_MAX} steps a character")
        self._program.append((kind, one, two))
        return len(self._program) - 1

    def _capture(self, items: Any, group: int | None) -> None:
        if group is not None:
            self._add(SAVE, 2 * group)
        for item in items:
            self._compile(*item)
        if group is not None:
            self._add(SAVE, 2 * group + 1)

    def _compile(self, op: Any, value: Any) -> None:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            self._repeat(*value, is_greedy=op is ops.MAX_REPEAT)
        elif op is ops.SUBPATTERN:
            self._capture(value[3], value[0])
        elif op is ops.BRANCH:
            self._branch(value[1])
        elif op is ops.AT:
            self._add(AT, value)
        elif op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            self._add(CHAR, self._test(op, value))
        else:
            raise FeelError(
                "a pattern that repeats what repeats may not look back, ahead or behind"
            )

    def _repeat(self, least: int, most: int, items: Any, *, is_greedy: bool) -> None:
        for _ in range(least):
            self._capture(items, None)
        if most == ops.MAXREPEAT:
            split = self._add(SPLIT)
            self._capture(items, None)
            self._add(SPLIT, split, split)
            self._aim(split, is_greedy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._add(SPLIT))
            self._capture(items, None)
        for split in splits:
            self._aim(split, is_greedy)

    def _aim(self, split: int, is_greedy: bool) -> None:
        inside, behind = split + 1, len(self._program)
        one, two = (inside, behind) if is_greedy else (behind, inside)
        self._program[split] = (SPLIT, one, two)

    def _branch(self, ways: Sequence[Any]) -> None:
        ends = []
        for way in ways[:-1]:
            split = self._add(SPLIT)
            self._capture(way, None)
            ends.append(self._add(SPLIT))
            self._program[split] = (SPLIT, split + 1, len(self._program))
        self._capture(ways[-1], None)
        behind = len(self._program)
        for end in ends:
            self._program[end] = (SPLIT, behind, behind)

    def _test(self, op: Any, value: Any) -> Test:
        """Return the test of one character, made by `re` itself where cases or classes count."""
        if op is ops.ANY:
            return (lambda _: True) if self._flags & re.DOTALL else (lambda char: char != "\n")
        if op is ops.IN:
            negated, text = False, ""
            for kind, what in value:
                if kind is ops.NEGATE:
                    negated = True
                elif kind is ops.LITERAL:
                    text += _escaped(what)
                elif kind is ops.RANGE:
                    text += f"{_escaped(what[0])}-{_escaped(what[1])}"
                else:
                    text += _CATEGORIES[what]
            text = f"[{'^' if negated else ''}{text}]"
        else:
            text = f"[{'^' if op is ops.NOT_LITERAL else ''}{_escaped(value)}]"
        found = re.compile(text, self._flags & re.IGNORECASE).match
        return lambda char: found(char) is not None

    # --- the run ---------------------------------------------------------------------------

    def _run(self, text: str, begin: int, steps: list[int]) -> Slots | None:
        """Follow all ways from a place on; return the slots of the first that `re` would find."""
        empty, best = tuple(self._begins), None
        ways: list[Way] = []
        for place in range(begin, len(text) + 1):
            seen: set[int] = set()
            now: list[Way] = []
            for at, slots in ways:
                self._spread(now, seen, (at, slots), (text, place))
            if best is None:
                self._spread(now, seen, (0, empty), (text, place))
            steps[0] += len(seen) + 1
            self._spend(1 + len(seen) // LOOKS_PER_STEP)
            if steps[0] > STEPS_MAX:
                raise FeelError("a pattern that repeats what repeats takes too long on this text")
            ways = []
            for at, slots in now:
                kind, test, _ = self._program[at]
                if kind == DONE:
                    best = slots
                    break
                if place < len(text) and test(text[place]):
                    ways.append((at + 1, slots))
            if best is not None and not ways:
                break
        return best

    def _spread(self, now: list[Way], seen: set[int], first: Way, here: tuple[str, int]) -> None:
        """Follow what takes no character, in the order in which `re` would try it."""
        todo, (text, place) = [first], here
        while todo:
            at, slots = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            kind, one, two = self._program[at]
            if kind == SPLIT:
                todo += ((two, slots), (one, slots))
            elif kind == SAVE:
                todo.append((at + 1, (*slots[:one], place, *slots[one + 1 :])))
            elif kind == AT:
                if self._holds(one, text, place):
                    todo.append((at + 1, slots))
            else:
                now.append((at, slots))

    def _holds(self, where: Any, text: str, place: int) -> bool:
        sign = _SIGNS[where]
        return re.compile(sign, self._flags & re.MULTILINE).match(text, place) is not None


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}
_SIGNS = {
    ops.AT_BEGINNING: "^",
    ops.AT_BEGINNING_STRING: r"\A",
    ops.AT_END: "$",
    ops.AT_END_STRING: r"\Z",
    ops.AT_BOUNDARY: r"\b",
    ops.AT_NON_BOUNDARY: r"\B",
}


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"


@lru_cache(maxsize=64)
def linear(compiled: re.Pattern[str]) -> Linear:
    """Return a pattern in the form that ends. Raises: FeelError."""
    return Linear(parser.parse(compiled.pattern, compiled.flags), compiled.flags)


def ways(compiled: re.Pattern[str], length: int) -> int:
    """Return in how many ways, at most, `re` may cut a text of a length, capped a little above
    WAYS_MAX; with one repetition inside another they are too many."""
    endless, is_nested = _repeats(compiled)
    return WAYS_MAX + 1 if is_nested else min(length ** (endless + 1), WAYS_MAX + 1)


@lru_cache(maxsize=256)
def _repeats(compiled: re.Pattern[str]) -> tuple[int, bool]:
    return _endless(parser.parse(compiled.pattern, compiled.flags))


def _endless(items: Any) -> tuple[int, bool]:
    """Count the repetitions without end; say whether one is inside another, or may be empty."""
    count, is_nested = 0, False
    for op, value in items:
        inner: list[Any] = []
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            inner = [value[2]]
        elif op is ops.SUBPATTERN:
            inner = [value[3]]
        elif op is ops.BRANCH:
            inner = list(value[1])
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            inner = [value[1]]
        elif op is ops.ATOMIC_GROUP:
            inner = [value]
        found = [_endless(each) for each in inner]
        total = sum(each for each, _ in found)
        is_nested |= any(nested for _, nested in found)
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT) and value[1] > 1:
            is_simple = len(value[2]) == 1 and value[2][0][0] in _SINGLE
            is_nested |= not is_simple and _is_loose(value[2])
            total += value[1] > REPEATS_FEW
        count += total
    return count, is_nested


REPEATS_FEW = 8  # of one character; more count as without end
_SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)


def _is_loose(items: Any) -> bool:
    """Say whether what is repeated may match texts of several lengths, or in several ways."""
    for op, value in items:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            if value[0] != value[1] or _is_loose(value[2]):
                return True
        elif op is ops.BRANCH or (op is ops.SUBPATTERN and _is_loose(value[3])):
            return True
    return False
