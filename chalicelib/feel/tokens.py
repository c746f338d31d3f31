"""FEEL's tokens, read one at a time, because what a name is depends on the scope at its place."""

from __future__ import annotations

import re
from typing import NoReturn

from chalicelib.feel import names
from chalicelib.feel.errors import FeelSyntaxError
from chalicelib.feel.limits import NAME_PARTS_MAX
from chalicelib.feel.names import NOT_PART, NOT_START, SIGNS, SPACE, Trie

_BEFORE_OPERAND = ("if", "for", "some", "every", "true", "false", "null", "function")
_AFTER_OPERAND = (
    *("then", "else", "in", "return", "satisfies"),
    *("and", "or", "between", "instance", "external"),
)
KEYWORDS = frozenset((*_BEFORE_OPERAND, *_AFTER_OPERAND))
# White space of FEEL that is none to Python: read as spaces, but kept in strings.
_RARE_SPACE = dict.fromkeys((0x180E, 0x200B, 0xFEFF), " ")

_SKIP = rf"(?:[{SPACE}]++|//[^\n]*+|/\*(?s:.*?)\*/)*+"
_TEXT = r'"[^"\\]*(?:\\(?s:.)[^"\\]*)*"'
_TOKEN = re.compile(
    rf"{_SKIP}(?:"
    rf"(?P<name>[^{NOT_START}][^{NOT_PART}]*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<string>{_TEXT})"
    r"|(?P<sign>\.\.|\*\*|<=|>=|!=|/(?!\*)|[-+*=<>.,:()\[\]{}])"
    rf"|(?P<at>@{_SKIP}{_TEXT})"
    r"|(?P<quoted>`[^`\n]+`)"
    r"|(?P<end>\Z))"
)
# A name that ends at a colon: a context's key or a named argument.
_KEY = re.compile(rf"([^{NOT_START}](?:[^{NOT_PART}]|[{SIGNS}{SPACE}])*):")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{6})|(?s:(.)))")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_CODE_POINTS = 0x110000


class Tokens:
    """A text and the token that is next in it.

    Shapes: `kind` is `name`, `number`, `string`, `at`, `quoted`, `end`, or the keyword or sign
        itself; `word` is the token as written.
    """

    __slots__ = ("end", "kind", "local", "scope", "source", "start", "text", "word")

    def __init__(self, text: str, scope: Trie) -> None:
        self.source = text
        self.text = text if text.isascii() else text.translate(_RARE_SPACE)
        self.scope = scope
        self.local: Trie = {}
        self.end = 0
        self.advance()

    def advance(self) -> None:
        """Go on to the next token."""
        found = _TOKEN.match(self.text, self.end)
        if found is None:
            self._refuse()
        group = found.lastgroup or ""
        self.start, self.end = found.start(group), found.end()
        self.word = word = found[group]
        if group == "name":
            self.kind = word if word in KEYWORDS else group
        else:
            self.kind = word if group == "sign" else group

    def rewind(self, offset: int) -> None:
        """Go back, or on, to the token that begins at or after an offset."""
        self.end = offset
        self.advance()

    def expect(self, kind: str) -> None:
        """Go past a token that must be there."""
        if self.kind != kind:
            self.fail(f"'{kind}'")
        self.advance()

    def separate(self, closing: str) -> None:
        """Go past the comma between two parts of what `closing` ends."""
        if self.kind != ",":
            self.fail(f"',' or '{closing}'")
        self.advance()

    def fail(self, expected: str) -> NoReturn:
        """Raise a FeelSyntaxError at the token that is next."""
        found = "the end of the text" if self.kind == "end" else f"'{_short(self.word)}'"
        raise FeelSyntaxError(f"expected {expected}, found {found}", self.text, self.start)

    def name(self) -> str:
        """Read the longest name of the scope, or one plain word, and go past it."""
        name, kind = self.word, self.kind
        if kind == "quoted":
            name = self.literal()
        elif (name in self.scope or name in self.local) and (end := self.longest_name()):
            name = names.normalized(self.text[self.start : end])
            self.end = end
        elif kind != "name" and kind not in KEYWORDS:
            self.fail("a name")
        self.advance()
        return name

    def longest_name(self) -> int:
        """Give the offset behind the longest name in scope that is next; 0 if there is none."""
        end = 0
        if self.word in self.scope:
            end = names.longest(self.scope, self.text, self.start)
        if self.word in self.local:
            end = max(end, names.longest(self.local, self.text, self.start))
        return end

    def new_name(self) -> str:
        """Read a name that the text introduces: known ones, or words up to another token."""
        start = self.start
        if self.kind in KEYWORDS and not self.longest_name():
            self.fail("a name")
        name = self.name()
        if self.kind == "name":
            while self.kind == "name":
                self.advance()
            name = names.normalized(self.text[start : self.start])
        self.introduce(name)
        return name

    def introduce(self, name: str) -> None:
        """Know a name from here on; one plain word needs no knowing, one too long is not known."""
        if not name.isidentifier() and 1 < len(names.steps(name)) <= NAME_PARTS_MAX:
            names.add(self.local, name)

    def key(self) -> str | None:
        """Read a name and the colon behind it; go nowhere and give None if there is no such."""
        if self.kind in _QUOTED:
            start, name = self.start, self.literal()
            self.advance()
            if self.kind != ":":
                self.rewind(start)
                return None
            self.advance()
            return name
        found = _KEY.match(self.text, self.start)
        if found is None:
            return None
        self.rewind(found.end())
        return names.normalized(found[1])

    def literal(self) -> str:
        """Give the text that a string or a quoted name stands for."""
        word = self.source[self.start : self.end]
        return word[1:-1] if word[0] == "`" else string_of(word[word.index('"') :])

    def is_followed_by(self, sign: str, offset: int) -> bool:
        """Tell whether a sign is the first token at or after an offset."""
        found = _TOKEN.match(self.text, offset)
        return found is not None and found[found.lastgroup or ""] == sign

    def starts_operand_at(self, offset: int) -> bool:
        """Tell whether the token at or after an offset can begin an expression."""
        found = _TOKEN.match(self.text, offset)
        if found is None or found.lastgroup == "end":
            return False
        word = found[found.lastgroup or ""]
        return word in "([{-" if found.lastgroup == "sign" else word not in _AFTER_OPERAND

    def _refuse(self) -> NoReturn:
        """Raise for what is no token: an unclosed string or comment, or a stray character."""
        skipped = re.compile(_SKIP).match(self.text, self.end)
        self.start = skipped.end() if skipped else self.end
        for opening, what in _UNCLOSED:
            if self.text.startswith(opening, self.start):
                raise FeelSyntaxError(f"expected the end of {what}", self.text, self.start)
        self.kind, self.word = "", self.text[self.start : self.start + 1]
        self.fail("an expression")


_QUOTED = frozenset(("string", "quoted"))
_UNCLOSED = (("/*", "a comment"), ('"', "a string"), ("@", "a string after '@'"), ("`", "a name"))


def string_of(word: str) -> str:
    """Give the text that a string literal stands for; unknown escapes stay as written."""
    if "\\" not in word:
        return word[1:-1]
    text = _ESCAPE.sub(_unescape, word[1:-1])
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is None:
        return _ESCAPED.get(found[3], found[0])
    number = int(code, 16)
    return chr(number) if number < _CODE_POINTS else found[0]


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "..."
