"""The translation of one XPath pattern to the syntax of Python's `re`."""

from __future__ import annotations

import re

from chalicelib.feel import regex_classes

_QUANTIFIER = re.compile(r"[?*+]\??|\{[0-9]+(?:,[0-9]*)?\}\??")
_PROPERTY = re.compile(r"[pP]\{\s*([^}]*)\}")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!))?")
_BACK_REFERENCE = re.compile(r"[1-9][0-9]*")
_WHITE = " \t\n\r"
_ESCAPED = frozenset("nrt\\|.-^?*+{}()[]$/\"' #&~")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}
_CLASSES = "sSdDwWiIcC"


class InvalidPattern(ValueError):
    """The pattern is none of XPath's."""


def translate(pattern: str, flags: str) -> str:
    """Give the pattern as Python writes it. Raises: InvalidPattern."""
    if "x" in flags:
        pattern = _without_space(pattern)
    return _Translator(pattern, flags).whole()


def _without_space(pattern: str) -> str:
    """Drop white space outside of classes, as the flag `x` asks."""
    kept: list[str] = []
    depth = 0
    is_escaped = False
    for sign in pattern:
        if sign in _WHITE and (depth == 0 or is_escaped):
            continue
        if not is_escaped:
            depth += (sign == "[") - (sign == "]")
        is_escaped = sign == "\\" and not is_escaped
        kept.append(sign)
    return "".join(kept)


class _Translator:
    """A pattern being read from left to right."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.flags = flags
        self.index = 0
        self.groups = 0  # opened so far
        self.unclosed: list[int] = []  # the numbers of those not closed; 0 for one without number
        self.output: list[str] = []

    def whole(self) -> str:
        """Translate all of it."""
        while self.index < len(self.pattern):
            self._atom()
            self._quantifier()
        if self.unclosed:
            raise InvalidPattern("a group is not closed")
        return "".join(self.output)

    def _atom(self) -> None:
        sign = self.pattern[self.index]
        if sign == "(":
            self._open_group()
        elif sign == ")":
            self._close_group()
        elif sign == "[":
            self.output.append(self._class())
        elif sign == "\\":
            self._escape()
        elif sign in "?*+{}]":
            raise InvalidPattern(f"'{sign}' stands alone")
        else:
            self.index += 1
            self.output.append(self._single(sign))

    def _single(self, sign: str) -> str:
        if sign == ".":
            return "." if "s" in self.flags else "[^\n\r]"
        if sign == "$":
            return "$" if "m" in self.flags else "\\Z"
        return sign if sign in "^|" else re.escape(sign)

    def _quantifier(self) -> None:
        found = _QUANTIFIER.match(self.pattern, self.index)
        if found is None or not self.output or self.output[-1][-1:] in ("(", ":", "|", "^"):
            return
        self.output.append(found[0])
        self.index = found.end()

    def _open_group(self) -> None:
        found = _GROUP.match(self.pattern, self.index)
        opening = found[0] if found else "("
        self.index += len(opening)
        if self.pattern.startswith("?", self.index):
            raise InvalidPattern("an unknown kind of group")
        if opening == "(":
            self.groups += 1
        self.unclosed.append(self.groups if opening == "(" else 0)
        self.output.append(opening)

    def _close_group(self) -> None:
        if not self.unclosed:
            raise InvalidPattern("a group is closed that was not opened")
        self.unclosed.pop()
        self.index += 1
        self.output.append(")")

    def _escape(self) -> None:
        rest = self.pattern[self.index + 1 : self.index + 2]
        back = _BACK_REFERENCE.match(self.pattern, self.index + 1)
        if back is not None:
            self._back_reference(back[0])
        elif rest in ("b", "B"):  # Java's, which a word boundary is as good as always meant for
            self.index += 2
            self.output.append("\\" + rest)
        else:
            inside = self._escaped_class()
            if inside is None:
                self._put_escaped(rest)
            else:
                self.output.append(f"[{inside}]")

    def _back_reference(self, digits: str) -> None:
        """Refer to a closed group, by as many digits as there are groups."""
        while len(digits) > 1 and int(digits) > self.groups:
            digits = digits[:-1]
        if int(digits) > self.groups or int(digits) in self.unclosed:
            raise InvalidPattern(f"no group {digits} to refer back to")
        self.index += 1 + len(digits)
        self.output.append(f"(?:\\{digits})")

    def _put_escaped(self, sign: str) -> None:
        if sign not in _ESCAPED or not sign:
            raise InvalidPattern(f"an unknown escape '{sign}'")
        self.index += 2
        self.output.append(re.escape(_SIMPLE.get(sign, sign)))

    def _escaped_class(self) -> str | None:
        r"""Read `\d`, `\p{L}` and the like as what a class holds; None, staying, if none."""
        sign = self.pattern[self.index + 1 : self.index + 2]
        if sign and sign in _CLASSES:
            self.index += 2
            return regex_classes.named(sign)
        found = _PROPERTY.match(self.pattern, self.index + 1)
        if found is None:
            return None
        self.index = found.end()
        name = found[1]
        if "x" in self.flags:
            name = "".join(name.split())
        elif found[0][2:-1] != name:
            raise InvalidPattern(f"no property '{found[0]}'")
        ranges = regex_classes.of_property(name)
        if ranges is None:
            raise InvalidPattern(f"no property '{name}'")
        if found[0][0] == "P":
            ranges = regex_classes.complement(ranges)
        return regex_classes.written(ranges)

    def _class(self) -> str:
        """Read `[…]`; what a class that ends in `-[…]` takes away is looked at ahead of it."""
        self.index += 1
        is_negated = self.pattern.startswith("^", self.index)
        self.index += is_negated
        parts = ["[^" if is_negated else "["]
        taken = ""
        while len(parts) == 1 or not self.pattern.startswith("]", self.index):
            if len(parts) > 1 and self.pattern.startswith("-[", self.index):
                self.index += 1
                taken = f"(?!{self._class()})"
                break
            parts.append(self._class_part())
        if not self.pattern.startswith("]", self.index):
            raise InvalidPattern("a class is not closed")
        self.index += 1
        return f"{taken}{''.join(parts)}]"

    def _class_part(self) -> str:
        """Read one character, range or class inside of a class."""
        if self.pattern.startswith("\\", self.index):
            inside = self._escaped_class()
            if inside is not None:
                return inside
        start = self._class_sign()
        rest = self.pattern[self.index : self.index + 2]
        if rest[:1] != "-" or rest in ("-]", "-["):
            return regex_classes.written([(start, start)])
        self.index += 1
        end = self._class_sign()
        if end < start:
            raise InvalidPattern("a range of characters that descends")
        return regex_classes.written([(start, end)])

    def _class_sign(self) -> int:
        sign = self.pattern[self.index : self.index + 1]
        if sign in ("", "[", "]"):
            raise InvalidPattern("a class is not closed")
        self.index += 1
        if sign == "\\":
            sign = self.pattern[self.index : self.index + 1]
            if sign not in _ESCAPED or not sign:
                raise InvalidPattern(f"an unknown escape '{sign}' in a class")
            self.index += 1
            sign = _SIMPLE.get(sign, sign)
        return ord(sign)
