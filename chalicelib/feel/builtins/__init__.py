"""The built-in functions, by kind: one function and one row each."""

from __future__ import annotations

from chalicelib.feel import names
from chalicelib.feel.builtins import (
    aggregates,
    boolean,
    contexts,
    conversion,
    lists,
    numeric,
    ranges,
    strings,
    temporal,
    zeebe,
)
from chalicelib.feel.builtins.signature import Builtin, BuiltinFunction
from chalicelib.feel.profile import Profile

_ROWS: tuple[Builtin, ...] = (
    *boolean.FUNCTIONS,
    *strings.FUNCTIONS,
    *numeric.FUNCTIONS,
    *lists.FUNCTIONS,
    *aggregates.FUNCTIONS,
    *contexts.FUNCTIONS,
    *conversion.FUNCTIONS,
    *temporal.FUNCTIONS,
    *ranges.FUNCTIONS,
    *zeebe.FUNCTIONS,
)


def _functions(profile: Profile) -> dict[str, BuiltinFunction]:
    rows: dict[str, list[Builtin]] = {}
    for row in _ROWS:
        if not row.only_zeebe or profile is Profile.ZEEBE:
            rows.setdefault(row.name, []).append(row)
    return {name: BuiltinFunction(name, found) for name, found in rows.items()}


_FUNCTIONS = {profile: _functions(profile) for profile in Profile}

NAMES = tuple(_FUNCTIONS[Profile.ZEEBE])

# Those of them that have more than one word; the others are read as any name is.
TRIE: names.Trie = {}
for _name in NAMES:
    if " " in _name:
        names.add(TRIE, _name)


def find(name: str, profile: Profile = Profile.DMN) -> BuiltinFunction | None:
    """Give the built-in function of a name, if there is one."""
    return _FUNCTIONS[profile].get(name)
