"""The names that a model gives to parts of values, which its expressions may use.

A FEEL name may have spaces and signs, so what names there are decides how a text is read. Not
everything in a model has a type; so a component's name or a context's key is taken for a name
everywhere in the model.
Source: DMN 1.5 section 10.3.1.2 (names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chalicelib.dmn import model
from chalicelib.dmn.limits import SIGNED_NAMES_MAX
from chalicelib.feel import Names
from chalicelib.feel.names import NOT_PART, NOT_START, SIGNS, SPACE, normalized, steps
from chalicelib.feel.types import FeelType

# A key in the text of a context: a name or a string behind '{' or ',', and a colon.
_KEY = re.compile(
    rf'[{{,]\s*(?:([^{NOT_START}](?:[^{NOT_PART}]|[{SIGNS}{SPACE}])*)|"([^"\\\n]+)"\s*):'
)
_SIGNS = frozenset("./-'+*")


class Words:
    """All such names of more than one word.

    Shapes: `plain` are those of words and spaces only, which nothing else could be meant by;
        `signed` have a sign that may be an operator as well, the first of them in the file.
    """

    def __init__(self, definitions: Iterable[model.Definitions]) -> None:
        found = dict.fromkeys(
            name for each in definitions for name in _names(each) if is_long(name)
        )
        signed = [name for name in found if is_signed(name)]
        self.plain = Names(name for name in found if not is_signed(name))
        self.signed = tuple(signed[:SIGNED_NAMES_MAX])
        self.first_words = {name: steps(name)[0] for name in self.signed}
        self._of_types: dict[int, tuple[FeelType, tuple[str, ...]]] = {}

    def signed_in(self, type_: FeelType) -> tuple[str, ...]:
        """Give the signed names of all that a value of a type may hold."""
        known = self._of_types.get(id(type_))
        if known is None:
            # The type is kept beside them, so its id cannot be given to another.
            known = self._of_types[id(type_)] = (type_, tuple(_signed_components(type_)))
        return known[1]


def is_long(name: str) -> bool:
    """Tell a name of more than one word or sign; the parser reads the others anyway."""
    return len(steps(name)) > 1


def is_signed(name: str) -> bool:
    """Tell a name that has a sign which may be an operator."""
    return not _SIGNS.isdisjoint(name)


def _names(definitions: model.Definitions) -> Iterator[str]:
    """Yield the names of components, entries, columns and outputs, and the keys in texts."""
    waiting: list[object] = [definitions]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if "{" in part:
                yield from (normalized(key or text) for key, text in _KEY.findall(part))
        elif isinstance(part, tuple):
            if isinstance(part, model.ItemDefinition | model.Variable | model.OutputClause):
                yield part.name
            waiting.extend(reversed(part))


def _signed_components(type_: FeelType) -> Iterator[str]:
    seen: set[int] = set()
    waiting = [type_]
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield from (name for name, _ in part.entries if is_signed(name))
            waiting.extend(entry for _, entry in part.entries)
            waiting.extend(part.of)
