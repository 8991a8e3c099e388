"""The tokens of a JSON text, with the place of each; of a text that is cut or damaged, those that are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from harness.edits import Path

_TOKEN = re.compile(r'\s+|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{\]}:,]|[^\s"\[\]{}:,]+', re.DOTALL)


class Kind(StrEnum):
    NAME = "name"
    STRING = "string"
    WORD = "word"  # a number, a literal, or what is no JSON


class Mode(StrEnum):
    """Whose names the names of an object are."""

    API = "api"
    FREE = "free"  # the user's or the model's own
    SCHEMA = "schema"  # those of JSON Schema
    MAP = "map"  # an object of schemas, under names of the user's own


class Token(NamedTuple):
    kind: Kind
    start: int
    end: int
    path: Path
    mode: Mode
    """The mode of what it stands in."""


ModeOf = Callable[[Mode, Path, str], Mode]
"""The mode of a container in another one of the given mode, at a path, that is opened by `{` or `[`."""


class _Open:
    """A container that is open."""

    def __init__(self, path: Path, mode: Mode, bracket: str) -> None:
        self.path = path
        self.mode = mode
        self.is_object = bracket == "{"
        self.position = 0
        self.name: str | None = None
        self.after_colon = False

    @property
    def here(self) -> Path:
        return (*self.path, (self.name or "") if self.is_object else self.position)


def tokens(text: str, mode: Mode, mode_of: ModeOf) -> Iterator[Token]:
    """Names, strings and bare words in their order. Never raises."""
    stack: list[_Open] = []
    for match in _TOKEN.finditer(text):
        said = match[0]
        first = said[0]
        top = stack[-1] if stack else None
        if first in "{[":
            path = top.here if top else ()
            stack.append(_Open(path, mode_of(top.mode, path, first) if top else mode, first))
        elif first in "}]":
            if stack:
                stack.pop()
        elif first == ",":
            if top:
                top.position += 1
                top.after_colon = False
        elif first == ":":
            if top:
                top.after_colon = True
        elif not first.isspace():
            is_name = top is not None and top.is_object and not top.after_colon and first == '"'
            if is_name and top is not None:
                top.name = unquoted(said)
            kind = Kind.NAME if is_name else Kind.STRING if first == '"' else Kind.WORD
            yield Token(kind, match.start(), match.end(), top.here if top else (), top.mode if top else mode)


_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\u[0-9a-fA-F]{0,3}\Z|\\.|.", re.DOTALL
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _inside(said: str) -> str:
    """A string without its quotes; the second may be missing."""
    closed = len(said) > 1 and said.endswith('"') and (len(said) - len(said[:-1].rstrip("\\"))) % 2 == 1
    return said[1:-1] if closed else said[1:]


def unquoted(said: str) -> str:
    """What a string token says, as far as it goes."""
    inside = _inside(said)
    return inside if "\\" not in inside else "".join(map(_meant, _UNIT.findall(inside)))


def quoted(new: str, like: str) -> str:
    """A text of as many characters as the token `like` has, written with the escapes of that one."""
    inside = _inside(like)
    if "\\" in inside:
        new = "".join(_written(letter, unit) for letter, unit in zip(new, _UNIT.findall(inside), strict=True))
    return f'"{new}{like[1 + len(inside) :]}'


def _meant(unit: str) -> str:
    if len(unit) == 1:
        return unit
    if len(unit) == 12:
        return _of_pair(unit)
    if unit.startswith("\\u") and len(unit) < 6:
        return "\ufffd"  # cut off: what it would have been, nobody knows
    if len(unit) == 6:
        return chr(int(unit.removeprefix("\\u"), base=16))
    return _PLAIN.get(unit[1], unit[1])


def _of_pair(unit: str) -> str:
    high, low = int(unit[2:6], 16), int(unit[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _written(letter: str, unit: str) -> str:
    if len(unit) == 1:
        return letter
    if letter == _meant(unit) or len(unit) == 2:
        return unit
    codes = [ord(letter)]
    if len(unit) == 12:
        rest = ord(letter) - 0x10000
        codes = [0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF)]
    written = "".join(f"\\u{code:04x}" for code in codes)
    if any(c in "ABCDEF" for c in unit):
        written = "".join(f"\\u{code:04X}" for code in codes)
    return written
