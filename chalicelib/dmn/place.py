"""Where an expression stands while it is compiled: the names and types that it may use there.

The names are those of the variables in scope, and of what values hold (`words`). A name with a
sign, such as `a-b`, is one name only if a variable or a component of one's type is called so, or
if there is no variable `a`. Names are only ever added while a decision is compiled: what a loop
binds stays known behind it, though not its value.
Source: DMN 1.5 sections 10.3.1.2 (names) and 10.3.2.11 (scope).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.dmn.errors import Problem
from chalicelib.dmn.types import Types
from chalicelib.dmn.words import Words, is_long
from chalicelib.feel import Expression, FeelSyntaxError, Profile, parse, parse_unary_tests
from chalicelib.feel.names import GrowingNames
from chalicelib.feel.types import FeelType

if TYPE_CHECKING:
    from chalicelib.dmn.run import Run
    from chalicelib.feel import Value

# What a boxed expression is compiled to: it takes the variables in scope and gives a value.
Step = Callable[["Run", dict[str, "Value"]], "Value"]


class Unit:
    """What the places of one decision or function share.

    Shapes: `variables` are those it begins with, which may hold what their types say; `parsed`
        keeps what was parsed with the names there are, since many cells of a table are alike.
    """

    def __init__(
        self,
        types: Types,
        words: Words,
        profile: Profile,
        variables: dict[str, FeelType | None],
    ) -> None:
        self.types = types
        self.words = words
        self.profile = profile
        self.problems: list[Problem] = []
        self.names = GrowingNames(words.plain, types.known)
        self.parsed: dict[tuple[str, Callable[..., Expression]], Expression] = {}
        for name in words.signed:
            if words.first_words[name] not in variables:
                self.names.grow(name)
        for name, type_ in variables.items():
            self.know(name, type_)

    def know(self, name: str, type_: FeelType | None = None) -> None:
        """Know a variable, and what its type calls its components."""
        long = [name] if is_long(name) else []
        if type_ is not None:
            long += self.words.signed_in(type_)
        for each in long:
            self.names.grow(each)
        if long:
            self.parsed.clear()  # the same text may mean more now


class Place(NamedTuple):
    """One place: the unit it is in, and the element that is compiled."""

    unit: Unit
    element: str

    def at(self, element: str) -> Place:
        """Give the same place for another element."""
        return self if element == self.element else Place(self.unit, element)

    def know(self, name: str, type_: FeelType | None = None) -> None:
        """Know a variable from here on."""
        self.unit.know(name, type_)

    def problem(self, message: str) -> None:
        """Note what is wrong with the element."""
        self.unit.problems.append(Problem(self.element, message))

    def type(self, reference: str | None) -> FeelType | None:
        """Give the type of a reference; a problem and None for one that nobody defined.

        Camunda checks no types, and its models have many that are wrong: there it is None.
        """
        if self.unit.profile is Profile.ZEEBE:
            return None
        found = self.unit.types.find(reference)
        if found is None and reference is not None:
            self.problem(f"expected a type, found '{reference}'")
        return found

    def expression(self, text: str) -> Expression | None:
        """Parse an expression; a problem and None if it is none."""
        return self._parsed(text, parse)

    def unary_tests(self, text: str) -> Expression | None:
        """Parse the unary tests of a cell; a problem and None if they are none."""
        return self._parsed(text, parse_unary_tests)

    def _parsed(self, text: str, parser: Callable[..., Expression]) -> Expression | None:
        unit = self.unit
        found = unit.parsed.get((text, parser))
        if found is None:
            try:
                found = parser(text, profile=unit.profile, names=unit.names)
            except FeelSyntaxError as error:
                self.problem(str(error))
                return None
            unit.parsed[text, parser] = found
        return found
