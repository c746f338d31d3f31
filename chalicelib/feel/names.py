"""The names in scope while parsing, so that `Monthly Salary` is read as one name.

A FEEL name may hold spaces, the signs `. / - ' + *` and even keywords, so where a name ends can
only be told by knowing the names there are. They are kept as words in a tree: each step of it is
a word, one sign, or a run of white space, whatever its length.
Source: DMN 1.5 section 10.3.1.2 (rule 27 and the notes on names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from chalicelib.feel.limits import NAME_PARTS_MAX

if TYPE_CHECKING:
    from chalicelib.feel.types import FeelType

# What a name may begin and go on with (grammar rules 28 to 31), by what it may not: signs of ASCII
# and Latin-1, and white space. Signs further up are let through; none of them means anything else
# in FEEL. Only code points below 256 are named, which keeps the patterns quick to compile.
SPACE = "\\s"
NOT_START = r"\x00-\x3e@\[-\^`{-\xbf\xd7\xf7" + SPACE
NOT_PART = r"\x00-/:->@\[-\^`{-\xb6\xb8-\xbf\xd7\xf7" + SPACE
SIGNS = "./\\-'+*"

_STEP = re.compile(f"[^{NOT_PART}]+|[{SIGNS}]|[{SPACE}]+")
_END = ""  # marks that a name may end here; no step is empty

Trie = dict[str, "Trie"]


class Names:
    """A set of names that can be asked for the longest one at a place in a text.

    Made once by whoever parses many expressions in one scope; the parser also takes any
    iterable of names.

    Shapes: `types` are those that a model defines, by their names, for `instance of` and the
        parameters of functions.
    """

    __slots__ = ("_names", "trie", "types")

    def __init__(
        self, names: Iterable[str] = (), types: Mapping[str, FeelType] | None = None
    ) -> None:
        self.trie: Trie = {}
        self.types: Mapping[str, FeelType] = types or {}
        self._names = tuple(names)
        for name in self._names:
            add(self.trie, name)

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """Give a set of names: the same one, if it is one already."""
        return names if isinstance(names, Names) else cls(names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


class GrowingNames(Names):
    """Names over others that are shared, to which more are added between one text and the next.

    What is parsed with them is not kept in the cache, since the same text may mean more later.
    """

    __slots__ = ("_owned",)

    def __init__(self, shared: Names, types: Mapping[str, FeelType]) -> None:
        super().__init__((), types)
        self._names = tuple(shared)
        self.trie = dict(shared.trie)
        self._owned: set[int] = set()  # which branches are not shared any more

    def grow(self, name: str) -> None:
        """Add a name."""
        trie = self.trie
        for step in steps(name):
            branch = trie.get(step)
            if branch is None or id(branch) not in self._owned:
                branch = trie[step] = dict(branch or {})
                self._owned.add(id(branch))
            trie = branch
        trie[_END] = {}


def add(trie: Trie, name: str) -> None:
    """Put a name into a tree of names."""
    for step in steps(name):
        trie = trie.setdefault(step, {})
    trie[_END] = {}


def longest(trie: Trie, text: str, offset: int) -> int:
    """Give the offset behind the longest name that begins at `offset`; 0 if none does.

    One of more than NAME_PARTS_MAX parts is not found.
    """
    end = 0
    match = _STEP.match
    for _ in range(NAME_PARTS_MAX):
        found = match(text, offset)
        if found is None:
            break
        step = found[0]
        branch = trie.get(" " if step.isspace() else step)
        if branch is None:
            break
        trie = branch
        offset = found.end()
        if _END in trie:
            end = offset
    return end


def steps(name: str) -> list[str]:
    """Split a name into its words, signs and single spaces."""
    return [" " if step.isspace() else step for step in _STEP.findall(name.strip())]


def normalized(name: str) -> str:
    """Give a name with every run of white space as one space."""
    return " ".join(name.split())
