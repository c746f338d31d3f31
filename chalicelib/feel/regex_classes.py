"""Character classes as sorted ranges of code points, and the named ones of XML Schema.

A class is only spelled out where Python has no word for it: Unicode is read once for a
category, in some hundredths of a second, and kept.
Source: XML Schema 1.1 part 2 appendix G.4.2, XML 1.0 section 2.3 (names).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

Ranges = list[tuple[int, int]]

_LAST = 0x10FFFF
_NAME_START: Ranges = [
    (0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6),
    (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F),
    (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
]  # fmt: skip
_NAME_MORE: Ranges = [
    (0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040),
]  # fmt: skip
_SPACE: Ranges = [(0x9, 0xA), (0xD, 0xD), (0x20, 0x20)]
# Where there are characters to be asked for their category, and the planes between and above.
_ASSIGNED = ((0x0, 0x33FFF), (0xE0000, 0xE0FFF))
_UNASSIGNED = ((0x34000, 0xDFFFF), (0xE1000, 0xEFFFF), (0xFFFFE, 0xFFFFF), (0x10FFFE, 0x10FFFF))
_PRIVATE = ((0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))

# The blocks that patterns in use name; the whole list has over three hundred.
_BLOCKS: dict[str, tuple[int, int]] = {
    "BasicLatin": (0x0, 0x7F),
    "Latin-1Supplement": (0x80, 0xFF),
    "LatinExtended-A": (0x100, 0x17F),
    "LatinExtended-B": (0x180, 0x24F),
    "IPAExtensions": (0x250, 0x2AF),
    "SpacingModifierLetters": (0x2B0, 0x2FF),
    "CombiningDiacriticalMarks": (0x300, 0x36F),
    "GreekandCoptic": (0x370, 0x3FF),
    "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x4FF),
    "Armenian": (0x530, 0x58F),
    "Hebrew": (0x590, 0x5FF),
    "Arabic": (0x600, 0x6FF),
    "Syriac": (0x700, 0x74F),
    "Thaana": (0x780, 0x7BF),
    "Devanagari": (0x900, 0x97F),
    "Bengali": (0x980, 0x9FF),
    "Tamil": (0xB80, 0xBFF),
    "Thai": (0xE00, 0xE7F),
    "Tibetan": (0xF00, 0xFFF),
    "Georgian": (0x10A0, 0x10FF),
    "HangulJamo": (0x1100, 0x11FF),
    "LatinExtendedAdditional": (0x1E00, 0x1EFF),
    "GreekExtended": (0x1F00, 0x1FFF),
    "GeneralPunctuation": (0x2000, 0x206F),
    "SuperscriptsandSubscripts": (0x2070, 0x209F),
    "CurrencySymbols": (0x20A0, 0x20CF),
    "LetterlikeSymbols": (0x2100, 0x214F),
    "NumberForms": (0x2150, 0x218F),
    "Arrows": (0x2190, 0x21FF),
    "MathematicalOperators": (0x2200, 0x22FF),
    "MiscellaneousTechnical": (0x2300, 0x23FF),
    "BoxDrawing": (0x2500, 0x257F),
    "GeometricShapes": (0x25A0, 0x25FF),
    "MiscellaneousSymbols": (0x2600, 0x26FF),
    "Dingbats": (0x2700, 0x27BF),
    "CJKSymbolsandPunctuation": (0x3000, 0x303F),
    "Hiragana": (0x3040, 0x309F),
    "Katakana": (0x30A0, 0x30FF),
    "Bopomofo": (0x3100, 0x312F),
    "CJKUnifiedIdeographs": (0x4E00, 0x9FFF),
    "HangulSyllables": (0xAC00, 0xD7A3),
    "PrivateUse": (0xE000, 0xF8FF),
    "HalfwidthandFullwidthForms": (0xFF00, 0xFFEF),
}
# Each category is a letter, alone or with one of these behind it.
_CATEGORIES = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "Z": "slp", "S": "mcko"}
_CATEGORIES["C"] = "cfon"

_SIGNS: dict[str, Ranges] = {"s": _SPACE, "i": _NAME_START, "c": sorted(_NAME_START + _NAME_MORE)}


def named(sign: str) -> str:
    r"""Give what a class holds for `\d`, `\s`, `\w`, `\i`, `\c`; a capital excludes it.

    A word character is Java's and Python's, which has the underscore; XML Schema's has not.
    """
    if sign in "dDwW":
        return "\\" + sign
    ranges = _SIGNS[sign.lower()]
    return written(complement(ranges) if sign.isupper() else ranges)


def of_property(name: str) -> Ranges | None:
    """Give the class of `\\p{name}`, a category or a block; None if there is none."""
    if name[:1] in _CATEGORIES and name[1:] in ("", *_CATEGORIES[name[0]]):
        return _category(name)
    block = _BLOCKS.get(name.removeprefix("Is")) if name.startswith("Is") else None
    return [block] if block is not None else None


@lru_cache(maxsize=64)
def _category(name: str) -> Ranges:
    ranges: Ranges = []
    for first, last in _ASSIGNED:
        start = -1
        for code in range(first, last + 2):
            is_in = code <= last and unicodedata.category(chr(code)).startswith(name)
            if is_in and start < 0:
                start = code
            elif not is_in and start >= 0:
                ranges.append((start, code - 1))
                start = -1
    if name in ("C", "Cn"):
        ranges += _UNASSIGNED
    if name in ("C", "Co"):
        ranges += _PRIVATE
    return merge(ranges)


def merge(ranges: Ranges) -> Ranges:
    """Sort ranges and join those that touch."""
    merged: Ranges = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def complement(ranges: Ranges) -> Ranges:
    """Give all code points outside of sorted ranges."""
    outside: Ranges = []
    next_ = 0
    for start, end in ranges:
        if start > next_:
            outside.append((next_, start - 1))
        next_ = end + 1
    if next_ <= _LAST:
        outside.append((next_, _LAST))
    return outside


def written(ranges: Ranges) -> str:
    """Write ranges as they stand inside of a class of Python."""
    return "".join(_written_range(start, end) for start, end in ranges)


def _written_range(start: int, end: int) -> str:
    first = f"\\U{start:08x}"
    return first if start == end else f"{first}-\\U{end:08x}"
