"""One payload, its texts replaced: the same bytes but for letters and digits of what is somebody's own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from harness.anonymizing import policy
from harness.anonymizing.scanning import Kind, Mode, Token, quoted, tokens, unquoted
from harness.anonymizing.texts import Texts, looks_like_json
from harness.dialects import Dialect
from harness.edits import Path, pointer

Piecewise = Callable[[str, str], str | None]
"""What a string at a JSON pointer becomes as a piece of a longer text; None if it is none."""

_QUOTING = ("cited_text", "quote")
_SEGMENT = ("segment", "text")
_NAME = re.compile(r"[A-Za-z0-9_.:/@$#*+%\[\]()-]{0,64}")
"""What an API calls a field; other words in the place of a name are somebody's, as in JSON that is damaged."""


def alone(_place: str, _value: str) -> None:
    """A payload whose texts are no pieces of longer ones."""


class Payloads:
    """Replaces what payloads say. `said` are longer texts and their replacements, for what quotes from them."""

    def __init__(self, texts: Texts, dialect: Dialect) -> None:
        self._texts = texts
        self._mode_of = partial(policy.mode_of, metadata=dialect.name.startswith("openai-"))
        self.said: list[tuple[str, str]] = []

    def replaced(self, text: str, piece: Piecewise = alone, joined: Piecewise = alone, mode: Mode = Mode.API) -> str:
        """The replacement of a payload; what is no JSON is prose. `joined` is asked for the text that a list of tokens says
        together."""
        if not looks_like_json(text) and text.lstrip()[:1] != '"':
            return self._texts.text(text)
        found = list(tokens(text, mode, self._mode_of))
        new = self._of_tokens(found, text, joined)
        out, done = [], 0
        for token in found:
            said = text[token.start : token.end]
            out += [text[done : token.start], new.get(token.start) or self._token(token, said, piece, found, text)]
            done = token.end
        return "".join([*out, text[done:]])

    def _token(self, token: Token, said: str, piece: Piecewise, found: list[Token], text: str) -> str:
        if token.kind is Kind.NAME:
            name = unquoted(said)
            own = token.mode in (Mode.FREE, Mode.MAP) or not _NAME.fullmatch(name)
            return quoted(self._texts.text(name), said) if own else said
        if token.kind is Kind.WORD:
            return self._word(token, said, last=token.end == len(text))
        value = unquoted(said)
        new = piece(pointer(token.path), value)
        if not value or (new is None and policy.stays(token.mode, token.path, value)):
            return said
        if new is None and (policy.name_of(token.path) in _QUOTING or token.path[-2:] == _SEGMENT):
            new = self._quoted(value, _number_beside(token, "startIndex", found, text))
        return quoted(self._whole(token, value) if new is None else new, said)

    def _whole(self, token: Token, value: str) -> str:
        if token.mode is Mode.API:
            if policy.name_of(token.path) in policy.MESSAGES:
                return self._texts.message(value)
            if policy.name_of(token.path) in policy.PATHS:
                return self._texts.path(value)
            kept = policy.prefix(token.path, value)
            return value[:kept] + self._texts.text(value[kept:])
        return self._texts.text(value)

    def _word(self, token: Token, said: str, *, last: bool) -> str:
        own = token.mode is Mode.FREE or policy.name_of(token.path) in policy.TOKENS or "partialArgs" in token.path
        if own or not (said[0].isdigit() or said[0] == "-"):
            return self._texts.bare(said, last=last)
        return said

    def _quoted(self, value: str, start: int | None) -> str | None:
        """What a text becomes that is a part of another one, which begins at byte `start` of it if that is known."""
        for whole, new in self.said:
            at = (
                len(whole.encode(errors="surrogatepass")[:start].decode(errors="ignore"))
                if start is not None
                else whole.find(value)
            )
            if at >= 0 and whole.startswith(value, at):
                return new[at : at + len(value)]
        return None

    def _of_tokens(self, found: list[Token], text: str, joined: Piecewise) -> dict[int, str]:
        """The replacements of the tokens of the model, and of their bytes, by their places in the payload."""
        lists: dict[Path, list[Token]] = defaultdict(list)
        for token in found:
            if token.kind is Kind.STRING and token.path[-1:] == ("token",) and token.mode is Mode.API and len(token.path) > 1:
                lists[token.path[:-2]].append(token)
        new: dict[int, str] = {}
        become: dict[Path, tuple[str, str]] = {}
        for place, those in lists.items():
            values = [unquoted(text[token.start : token.end]) for token in those]
            beside = become.get(place[:-1])  # alternatives stand beside the token that was chosen
            whole = self._joined(place, values, joined)
            at = 0
            for token, value in zip(those, values, strict=True):
                said = whole[at : at + len(value)]
                at += len(value)
                if "top" in str(place[-1:]).lower():
                    said = beside[1] if beside is not None and beside[0] == value else self._texts.text(value)
                become[token.path[:-1]] = value, said
                new[token.start] = quoted(said, text[token.start : token.end])
        return new | dict(_bytes(found, text, become))

    def _joined(self, place: Path, values: list[str], joined: Piecewise) -> str:
        whole = "".join(values)
        return joined(pointer(place), whole) or self._texts.text(whole)


def _bytes(found: list[Token], text: str, become: dict[Path, tuple[str, str]]) -> Iterator[tuple[int, str]]:
    """The numbers that spell tokens of the model, and what they become."""
    for token in found:
        if token.kind is not Kind.WORD or len(token.path) < 3 or token.path[-2] != "bytes":
            continue
        number, told = token.path[-1], become.get(token.path[:-2])
        if told is None or not isinstance(number, int):
            continue
        before, after = (said.encode("utf-8", "surrogatepass") for said in told)
        said = text[token.start : token.end]
        if number < len(before) and said == str(before[number]):
            yield token.start, str(after[number])


def _number_beside(token: Token, name: str, found: list[Token], text: str) -> int | None:
    place = (*token.path[:-1], name)
    said = next((text[other.start : other.end] for other in found if other.path == place and other.kind is Kind.WORD), "")
    return int(said) if said.isdigit() else None
