"""Words for words: every letter and digit becomes another of its kind, and nobody can say which it was.

A text is replaced from its beginning to its end. What a letter becomes depends on the letters before it in its word, and on
the two words before that, so that

* texts that agree up to some place have replacements that agree up to the same place and differ from there on: repeats, twins
  and cut texts stay as like or unlike each other as they were;
* the same word becomes different ones in different company: there is no table of words to be worked out;
* length, in characters and in bytes, and the kind of each character stay: capitals, digits, the script and its block.

Zeros stay, and so does everything that is neither letter nor digit. The key is made of the seed and of what is replaced, so
that a seed that is known opens nothing.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from string import ascii_lowercase, ascii_uppercase

_BLOCK = 128  # characters; a block has one length in UTF-8
_CONTEXT = 2  # words
_NARROW = ("abc", ascii_lowercase[3:])

KEPT = re.compile(
    r"</?(?:think|thinking|thought|reasoning|tool_call|tool_calls|tool_response|function_call)>"
    r"|<\|\w{1,32}\|>|\[(?:DONE|TOOL_CALLS|INST|/INST)\]"
    r"|(?:(?<=^)|(?<=[\s\"'(<]))(?:https?|gs|s3)://|data:(?:image|audio|video|application|text)/[\w.+-]{1,40};base64,"
    r"|#/(?:\$defs|definitions|properties)/"
)
"""What rules and readers look for in texts: it stays."""

_ESCAPE = r"\\u[0-9a-fA-F]{4}"
_PIECE = re.compile(
    rf"(?P<kept>{KEPT.pattern})|(?P<space>\s+)|(?P<word>(?:[^\W_]|{_ESCAPE})+)|(?P<sign>\\[bfnrt]?|[^\\])", re.DOTALL
)
_UNIT = re.compile(rf"{_ESCAPE}|.", re.DOTALL)


class Words:
    """Replaces texts under one key; `narrow` keeps a, b and c among themselves, whose codes have two digits, so that lists of
    bytes keep their length too."""

    def __init__(self, key: bytes, *, narrow: bool = False) -> None:
        self._key = key
        self._pools = {letter: pool for pool in (_NARROW if narrow else (ascii_lowercase,)) for letter in pool}
        self._pools.update(
            dict.fromkeys(ascii_uppercase, ascii_uppercase), **dict.fromkeys("123456789", "123456789"), **{"0": "0"}
        )

    def text(self, text: str, kept: re.Pattern[str] | None = None) -> str:
        """The replacement of a text; what `kept` matches stays."""
        if kept is not None and (stays := kept.search(text)) is not None:
            before, after = text[: stays.start()], text[stays.end() :]
            return self.text(before, kept) + stays[0] + self.text(after, kept)
        out: list[str] = []
        context: tuple[str, ...] = ()
        last = context
        for piece in _PIECE.finditer(text):
            match piece.lastgroup:
                case "word":
                    out.append(self._word(piece[0], context))
                    last = (*last, piece[0])[-_CONTEXT:]
                case "space":
                    context = last
                    out.append(piece[0])
                case "kept":
                    context = last = ()
                    out.append(piece[0])
                case _:
                    out.append(piece[0])
        return "".join(out)

    def number(self, text: str) -> str:
        """The replacement of a number as JSON writes it; the exponent stays, since a larger one may be too large."""
        mantissa, mark, exponent = re.split(r"([eE]|$)", text, maxsplit=1)
        return self.text(mantissa) + mark + exponent

    def _word(self, word: str, context: tuple[str, ...]) -> str:
        state = self._state(b"", "\0".join(context))
        out: list[str] = []
        for unit in _UNIT.findall(word) if "\\" in word else word:
            letter = unit if len(unit) == 1 else chr(int(unit.removeprefix("\\u"), base=16))
            pool = self._pools.get(letter) or _pool(letter)
            place = pool.index(letter) + int.from_bytes(state) if len(pool) > 1 else 0
            new = pool[place % len(pool)]
            out.append(new if len(unit) == 1 else escaped(new, unit))
            state = self._state(state, letter)
        return "".join(out)

    def _state(self, before: bytes, said: str) -> bytes:
        return blake2b(before + said.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()


def escaped(new: str, like: str) -> str:
    """A character as a JSON escape, in the case of the one that it takes the place of."""
    code = f"{ord(new):04x}"
    return "\\u" + (code.upper() if any(c.isupper() for c in like[2:]) else code)


@lru_cache(maxsize=4096)
def _pool(letter: str) -> str:
    """The letters that may take the place of one outside ASCII: of its block, and of its category."""
    category = unicodedata.category(letter)
    if category[0] not in "LN":
        return letter
    start = ord(letter) // _BLOCK * _BLOCK
    alike = [chr(code) for code in range(start, start + _BLOCK) if unicodedata.category(chr(code)) == category]
    return "".join(alike)
