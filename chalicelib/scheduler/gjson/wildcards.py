"""Patterns: `*` stands for any run of characters, `?` for one, and `\\` takes a sign as it is.

The pieces between the stars are looked for from left to right, each at the first place where it
fits. The first place is as good as any later one, so nothing is ever tried again; and the places
tried are counted, so that a text of millions of near misses ends too.
Source: contracts/gjson.md 3.2, 3.4 and 3.5.
"""

from __future__ import annotations

from chalicelib.scheduler.gjson.limits import WILDCARD_STEPS_MAX
from chalicelib.scheduler.gjson.work import Work

_ANY = None  # in a piece: one character, whichever it is

Piece = tuple[str | None, ...]


def matches(work: Work, text: bytes, pattern: bytes) -> bool:
    """Say whether the whole text is as the pattern says; no past WILDCARD_STEPS_MAX places.

    Raises: TooMuch past STEPS_MAX.
    """
    if pattern == b"*":
        return True
    first, *others = work.read(_pieces, pattern)
    work.see(len(text))
    shown = text.decode(errors="surrogateescape")
    if not others:
        return len(shown) == len(first) and _fits(shown, 0, first)
    *middle, last = others
    end = len(shown) - len(last)
    if end < len(first) or not (_fits(shown, 0, first) and _fits(shown, end, last)):
        return False
    return _in_order(work, shown, (len(first), end), middle)


def _in_order(work: Work, shown: str, span: tuple[int, int], pieces: list[Piece]) -> bool:
    """Say whether the pieces fit one after another within the span."""
    (at, end), places = span, 0
    for piece in pieces:
        anchor, offset = _longest(piece)
        while True:
            work.see(len(piece))
            places += 1
            found = shown.find(anchor, at + offset, end)
            if found < 0 or found - offset + len(piece) > end or places > WILDCARD_STEPS_MAX:
                return False
            at = found - offset
            if _fits(shown, at, piece):
                break
            at += 1
        at += len(piece)
    return True


def _fits(shown: str, at: int, piece: Piece) -> bool:
    if len(shown) - at < len(piece):
        return False
    return all(sign is _ANY or sign == shown[place] for place, sign in enumerate(piece, at))


def _longest(piece: Piece) -> tuple[str, int]:
    """Return the longest run of literal characters in a piece, and where it begins."""
    best, best_at, run = "", 0, ""
    for at, sign in enumerate(piece):
        run = "" if sign is _ANY else run + sign
        if len(run) > len(best):
            best, best_at = run, at + 1 - len(run)
    return best, best_at


def _pieces(pattern: bytes) -> tuple[Piece, ...]:
    """Take a pattern apart at its stars; two stars in a row are one."""
    shown = pattern.decode(errors="surrogateescape")
    pieces: list[list[str | None]] = [[]]
    at = 0
    while at < len(shown):
        sign = shown[at]
        if sign == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append([])
        elif sign == "?":
            pieces[-1].append(_ANY)
        else:
            at += sign == "\\" and at + 1 < len(shown)
            pieces[-1].append(shown[at])
        at += 1
    return tuple(map(tuple, pieces))
