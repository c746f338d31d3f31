"""Where an expression stands while it is compiled: the names and types that it may use there.

A FEEL name may have spaces and signs, so what is in scope decides how a text is read. In scope are
the variables of the place, and behind a dot or in a filter the names of what they hold: the
components of their types, the keys that expressions of the same decision or of those it requires
give, and, since not everything has a type, the components of all the model's types.
Source: DMN 1.5 sections 10.3.1.2 (names) and 10.3.2.11 (scope of boxed expressions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.dmn.errors import Problem
from chalicelib.dmn.model import Variable
from chalicelib.dmn.types import Types
from chalicelib.feel import Expression, FeelSyntaxError, Names, Profile, parse, parse_unary_tests
from chalicelib.feel.names import steps
from chalicelib.feel.types import FeelType

if TYPE_CHECKING:
    from chalicelib.dmn.run import Run
    from chalicelib.feel import Value

SIGNS = frozenset("./-'+*")  # that a name may have, and that mean something else as well

# What a boxed expression is compiled to: it takes the variables in scope and gives a value.
Step = Callable[["Run", dict[str, "Value"]], "Value"]


class Unit:
    """What the places of one decision or function share.

    Shapes: `words` are all names of components in the model's types; `introduced` the names of
        more than one word that expressions give, of this unit and of those it requires.
    """

    def __init__(self, types: Types, profile: Profile, words: frozenset[str]) -> None:
        self.types = types
        self.profile = profile
        self.words = words
        self.introduced: set[str] = set()
        self.problems: list[Problem] = []
        self._names: dict[tuple[tuple[str, ...], int], Names] = {}

    def names(self, variables: Mapping[str, FeelType | None]) -> Names:
        """Give the names to parse with where these variables are in scope."""
        key = (tuple(sorted(variables)), len(self.introduced))
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = Names(set(self._in_scope(variables)), self.types.known)
        return found

    def _in_scope(self, variables: Mapping[str, FeelType | None]) -> Iterator[str]:
        yield from _long(variables)
        yield from _long(self.types.known)
        for type_ in variables.values():
            if type_ is not None:
                yield from _long(_components(type_))
        for name in self.words | self.introduced:
            # `a-b` is a subtraction if there is a variable `a`, unless its type has that name.
            if steps(name)[0] not in variables or not SIGNS.intersection(name):
                yield name


class Place(NamedTuple):
    """One place: the unit it is in, the variables there, and the element that is compiled."""

    unit: Unit
    variables: Mapping[str, FeelType | None]
    element: str

    def at(self, element: str) -> Place:
        """Give the same place for another element."""
        return self if element == self.element else self._replace(element=element)

    def knowing(self, name: str, type_: FeelType | None = None) -> Place:
        """Give the place with one more variable."""
        return self._replace(variables={**self.variables, name: type_})

    def introduce(self, *variables: Variable) -> None:
        """Know the names of more than one word that a part of the unit gives to something."""
        self.unit.introduced.update(_long(variable.name for variable in variables))

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
        try:
            found = parser(text, profile=unit.profile, names=unit.names(self.variables))
        except FeelSyntaxError as error:
            self.problem(str(error))
            return None
        unit.introduced.update(found.introduced)
        return found


def long_names(names: Iterable[str]) -> frozenset[str]:
    """Keep the names that are more than one plain word; the parser reads the others anyway."""
    return frozenset(_long(names))


def _long(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if len(steps(name)) > 1)


def _components(type_: FeelType) -> Iterator[str]:
    """Yield the names of all that a value of a type may hold."""
    for name, part in type_.entries:
        yield name
        yield from _components(part)
    for part in type_.of:
        yield from _components(part)
