"""On well-formed documents plain paths agree with `json`; on any others nothing raises."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.scheduler.gjson import search
from chalicelib.scheduler.gjson.limits import STEPS_MAX
from chalicelib.scheduler.gjson.work import Work
from tests.scheduler.gjson.documents import NOTHING, D, value_of

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
).filter(lambda document: isinstance(document, list | dict))
LAYOUTS = st.sampled_from([{}, {"indent": 1}, {"ensure_ascii": False}, {"separators": (",", ":")}])

SIGNS = st.sampled_from([*'abx019.|#@!*?\\:~"{}[]()=<>%, \n\x00', "@dig:", "@flatten", "#("])
TEXTS = st.lists(
    st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"a", b"1", b"-", b" ", b"n"])
    | st.binary(max_size=3),
    max_size=40,
).map(b"".join)


def escaped(key: str) -> str:
    """Write a key as one component of a path."""
    return "".join(sign if sign.isalnum() else f"\\{sign}" for sign in key)


@given(st.data(), DOCUMENTS, LAYOUTS)
def test_a_plain_path_leads_to_what_json_has_there(
    data: st.DataObject, document: Any, layout: dict[str, Any]
) -> None:
    text, inner = json.dumps(document, **layout).encode(), document
    components: list[str] = []
    while isinstance(inner, list | dict) and inner and (not components or data.draw(st.booleans())):
        if isinstance(inner, list):
            place = data.draw(st.integers(0, len(inner) - 1))
            components.append(str(place))
            inner = inner[place]
        else:
            key = data.draw(st.sampled_from(sorted(inner)))
            components.append(escaped(key))
            inner = inner[key]
    if components and "" not in components:
        assert inner == value_of(text, ".".join(components))
        assert inner == value_of(text, "|".join(components))


@given(DOCUMENTS, LAYOUTS)
def test_lengths_and_collections_are_those_of_json(document: Any, layout: dict[str, Any]) -> None:
    text = json.dumps({"a": document}, **layout).encode()

    if isinstance(document, list):
        assert len(document) == value_of(text, "a.#")
        assert document == value_of(text, "a.#.@this")
        assert document[::-1] == value_of(text, "a.@reverse")
    else:
        assert NOTHING is value_of(text, "a.#")
        assert list(document) == value_of(text, "a.@keys")
        assert list(document.values()) == value_of(text, "a.@values")


@given(DOCUMENTS, LAYOUTS)
def test_modifiers_keep_what_a_text_says(document: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(document, **layout).encode()

    assert document == value_of(text, "@ugly")
    assert document == value_of(text, "@valid")
    assert document == value_of(text, "@pretty")
    assert document == value_of(text, '@pretty:{"sortKeys":true}')
    assert document == value_of(text, "@tostr|@fromstr")
    assert text.decode() == value_of(text, "@tostr")


@given(st.lists(SIGNS, max_size=30).map("".join), st.just(D) | TEXTS)
def test_no_path_and_no_text_raises_or_runs_on(path: str, text: bytes) -> None:
    work = Work()

    found = search(text, path, work)
    assert isinstance(found.number, float)
    assert isinstance(found.text, str)
    assert work.spent < STEPS_MAX


@given(st.integers(0, len(D)), st.sampled_from(["friends.#.age", "friends.2.nets", "@this", "..#"]))
def test_a_text_may_be_cut_off_anywhere(size: int, path: str) -> None:
    work = Work()

    search(D[:size], path, work)
    assert work.spent < 1_000
