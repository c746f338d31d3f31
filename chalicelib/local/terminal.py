"""What the commands print for people: lines, columns, and colour where there is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

BOLD, DIM, GREEN, RED = "1", "2", "32", "31"


def say(text: str = "") -> None:
    """Print one line on standard output, at once."""
    print(text, flush=True)  # noqa: T201  this is where the commands print


def warn(text: str) -> None:
    """Print one line on standard error."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def paint(text: str, colour: str) -> str:
    """Return the text in a colour, or as it is where nobody would see one (no-color.org)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def columns(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Align rows of cells in columns; those in `right` to the right. The first row is the head.

    A last column is not padded. Cells may hold what a worker sent, which a terminal would obey.
    """
    rows = [[_plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _plain(text: str) -> str:
    """Return a text with a sign in place of each character that is none: line breaks, escapes."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
