"""The terminal: what the commands print in columns."""

from __future__ import annotations

from chalicelib.local.terminal import columns


def test_columns_are_aligned_under_their_head() -> None:
    rows = [("key", "name"), ("1", "a b"), ("23", "c")]

    assert ["key  name", "---------", "  1  a b", " 23  c"] == columns(rows, frozenset({0}))


def test_what_a_terminal_would_obey_is_shown_as_a_sign() -> None:
    rows = [("message",), ("boom\x1b[31m\n\x07\x9b",)]

    assert (
        "boom\N{REPLACEMENT CHARACTER}[31m" + "\N{REPLACEMENT CHARACTER}" * 3 == columns(rows)[-1]
    )
