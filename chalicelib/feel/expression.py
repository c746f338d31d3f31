"""A parsed expression, and the way to get one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from chalicelib.feel import builtins
from chalicelib.feel.compiler import Compiled, compile_tree
from chalicelib.feel.deadline import NEVER, Deadline
from chalicelib.feel.errors import FeelError, FeelSyntaxError, FeelWarning, WarningType
from chalicelib.feel.evaluation import Closure, Evaluation
from chalicelib.feel.limits import CACHE_MAX, CACHED_TEXT_MAX
from chalicelib.feel.names import Names
from chalicelib.feel.parser import Parser
from chalicelib.feel.profile import Profile
from chalicelib.feel.temporal import DateAndTime
from chalicelib.feel.tree import constants_of
from chalicelib.feel.values import Value

_NO_NAMES = Names()
_NO_SLOTS: list[Value] = []  # of all expressions that bind nothing; nobody writes to it


class Expression:
    """A FEEL expression that can be evaluated any number of times; immutable.

    Shapes: `text` is the text it was parsed from, `names` the free variable names it may read;
        inside of a filter these include names that an item may have instead; `constants`, of
        unary tests, the values that pass if they only compare with literals.
    """

    __slots__ = ("_closure", "_size", "_steps", "constants", "names", "text")

    text: str
    names: frozenset[str]
    constants: tuple[Value, ...] | None
    _closure: Closure
    _size: int
    _steps: int

    def __init__(
        self,
        text: str,
        compiled: Compiled,
        constants: tuple[Value, ...] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "constants", constants)
        put(self, "text", text)
        put(self, "names", compiled.names)
        put(self, "_closure", compiled.closure)
        put(self, "_size", compiled.size)
        put(self, "_steps", compiled.steps)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: expressions are shared by all who parsed the same text."""
        raise AttributeError(f"an expression cannot be changed: {name}")

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def evaluate(
        self,
        variables: Mapping[str, Any],
        *,
        now: datetime | None = None,
        warnings: list[FeelWarning] | None = None,
        random_bits: Callable[[int], int] | None = None,
        deadline: Deadline = NEVER,
    ) -> Value:
        """Give the expression's value; what is wrong in it makes null and a warning.

        Shapes: `variables` are JSON or FEEL values and are never changed; the warnings of this
            evaluation are appended to `warnings`; `random_bits(k)` gives a number of k random
            bits, as `random.getrandbits` does; without `now` or it, functions that need them
            give null.
        Raises: FeelError if an `assert` of the model fails, a limit or the deadline is passed.
        """
        moment = None if now is None else DateAndTime.of_datetime(now)
        slots = [None] * self._size if self._size else _NO_SLOTS
        run = Evaluation(variables, slots, warnings, moment, random_bits)
        run.deadline = deadline
        try:
            return self._closure(run)
        except RecursionError:
            raise FeelError("the evaluation is nested too deeply") from None
        except ArithmeticError as error:
            run.warn(WarningType.INVALID_TYPE, f"a number is out of range: {error}")
            return None

    def within(self, run: Evaluation, variables: Mapping[str, Any]) -> Value:
        """Give the value as a part of an evaluation that is under way and has its limits.

        Raises: FeelError as `evaluate`; RecursionError, which the whole evaluation has to tell.
        """
        if self._steps:
            run.spend(self._steps)
        outside = run.slots, run.variables
        run.slots = [None] * self._size if self._size else _NO_SLOTS
        run.variables = variables
        try:
            return self._closure(run)
        except ArithmeticError as error:
            run.warn(WarningType.INVALID_TYPE, f"a number is out of range: {error}")
            return None
        finally:
            run.slots, run.variables = outside


def parse(text: str, *, profile: Profile = Profile.ZEEBE, names: Iterable[str] = ()) -> Expression:
    """Parse an expression, without a leading '='.

    Shapes: `names` are the names in scope that are more than one plain word. Whoever parses many
        expressions in one scope gives the same `Names` each time, and so shares the cache.
    Raises: FeelSyntaxError with the line and column, what was expected and what found.
    """
    if len(text) > CACHED_TEXT_MAX or not _are_shared(names):
        return _compile(text, profile, Names.of(names), is_tests=False)
    return _parse(text, profile, names if isinstance(names, Names) else _NO_NAMES)


def parse_unary_tests(
    text: str, *, profile: Profile = Profile.ZEEBE, names: Iterable[str] = ()
) -> Expression:
    """Parse the tests of a decision table's input cell; the input is the variable `?`.

    Returns: an expression whose value is always true or false.
    Raises: FeelSyntaxError.
    """
    if len(text) > CACHED_TEXT_MAX or not _are_shared(names):
        return _compile(text, profile, Names.of(names), is_tests=True)
    return _parse_tests(text, profile, names if isinstance(names, Names) else _NO_NAMES)


def _are_shared(names: Iterable[str]) -> bool:
    """Tell whether others may parse with the same names: none at all, or a made set of them."""
    return type(names) is Names or not names


@lru_cache(maxsize=CACHE_MAX)
def _parse(text: str, profile: Profile, names: Names) -> Expression:
    return _compile(text, profile, names, is_tests=False)


@lru_cache(maxsize=CACHE_MAX)
def _parse_tests(text: str, profile: Profile, names: Names) -> Expression:
    return _compile(text, profile, names, is_tests=True)


def _compile(text: str, profile: Profile, names: Names, *, is_tests: bool) -> Expression:
    try:
        parser = Parser(text, profile, names.trie, builtins.TRIE)
        node = parser.unary_tests() if is_tests else parser.whole()
        compiled = compile_tree(node, profile, names.types)
        return Expression(text, compiled, constants_of(node))
    except RecursionError:
        raise FeelSyntaxError("expected less deep nesting", text, 0) from None
