"""The replacement of whole texts: prose, or JSON in a text."""

from __future__ import annotations

import re

from harness.anonymizing import policy
from harness.anonymizing.scanning import Kind, Mode, quoted, tokens, unquoted
from harness.anonymizing.words import KEPT, Words

_NUMBER = re.compile(r"-?\d[\d.]*(?:[eE][+-]?\d*)?")
_BASE64 = re.compile(r"([A-Za-z0-9+/_-]{3,})={1,2}\Z|^([A-Za-z0-9+/_-]{16,})\Z")
_LITERALS = ("true", "false", "null")


def looks_like_json(text: str) -> bool:
    """Whether a text begins as an object or an array of JSON does."""
    begun = text.lstrip()
    return begun[:1] in ("{", "[") and not KEPT.match(begun)


class Texts:
    """Replaces whole texts; the same text always has the same replacement."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The replacement of a text, which may be JSON, whole or cut."""
        new = self._known.get(text)
        if new is None:
            new = self._json(text) if looks_like_json(text) else _as_base64(text, self._words.text(text))
            self._known[text] = new
        return new

    def message(self, text: str) -> str:
        """The replacement of what an API says of a failure."""
        return self._words.text(text, policy.OVERFLOW)

    def path(self, text: str) -> str:
        """The replacement of a way to a part of the arguments."""
        return self._words.text(text, policy.POSITION)

    def bare(self, said: str, *, last: bool = False) -> str:
        """The replacement of a word outside of strings; `last` if the text ends with it."""
        if said in _LITERALS or (last and any(word.startswith(said) for word in _LITERALS)):
            return said
        return self._words.number(said) if _NUMBER.fullmatch(said) else self._words.text(said)

    def _json(self, text: str) -> str:
        out, done = [], 0
        for token in tokens(text, Mode.FREE, policy.mode_of):
            said = text[token.start : token.end]
            new = (
                self.bare(said, last=token.end == len(text))
                if token.kind is Kind.WORD
                else quoted(self.text(unquoted(said)), said)
            )
            out += [text[done : token.start], new]
            done = token.end
        return "".join([*out, text[done:]])


def _as_base64(text: str, new: str) -> str:
    """Base64 stays so: of its last letter some bits are always zero."""
    said = _BASE64.search(text)
    at = len(text.rstrip("=")) - 1 if said else len(text)
    return new[:at] + text[at : at + 1] + new[at + 1 :]
