"""The names in scope while parsing, so that `Monthly Salary` is read as one name.

A FEEL name may hold spaces, the signs `. / - ' + *` and even keywords, so where a name ends can
only be told by knowing the names there are. They are kept as words in a tree: each step of it is
a word, one sign, or a run of white space, whatever its length.
Source: DMN 1.5 section 10.3.1.2 (rule 27 and the notes on names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# White space beyond Python's own, and the characters a name may begin and go on with: grammar
# rules 28 to 31, of which U+1680 and U+180E are white space first.
SPACE = "\\s\u180e\u200b\ufeff"
START = (
    "?A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u167f\u1681-\u180d"
    "\u180f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf"
    "\ufdf0-\ufefe\uff00-\ufffd\U00010000-\U000effff"
)
PART = START + "0-9\u00b7\u0300-\u036f\u203f-\u2040"
SIGNS = "./\\-’'+*"

_STEP = re.compile(f"[{PART}]+|[{SIGNS}]|[{SPACE}]+")
_END = ""  # marks that a name may end here; no step is empty

Trie = dict[str, "Trie"]


class Names:
    """A set of names that can be asked for the longest one at a place in a text.

    Made once by whoever parses many expressions in one scope; the parser also takes any
    iterable of names.
    """

    __slots__ = ("_names", "trie")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.trie: Trie = {}
        self._names = tuple(names)
        for name in self._names:
            add(self.trie, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


def add(trie: Trie, name: str) -> None:
    """Put a name into a tree of names."""
    for step in steps(name):
        trie = trie.setdefault(step, {})
    trie[_END] = {}


def longest(trie: Trie, text: str, offset: int) -> int:
    """Give the offset behind the longest name that begins at `offset`; 0 if none does."""
    end = 0
    match = _STEP.match
    found = match(text, offset)
    while found is not None:
        step = found[0]
        branch = trie.get(" " if step.isspace() else step)
        if branch is None:
            break
        trie = branch
        offset = found.end()
        if _END in trie:
            end = offset
        found = match(text, offset)
    return end


def steps(name: str) -> list[str]:
    """Split a name into its words, signs and single spaces."""
    return [" " if step.isspace() else step for step in _STEP.findall(name.strip())]


def normalized(name: str) -> str:
    """Give a name with every run of white space as one space."""
    return " ".join(name.split())
