"""Texts that come in fragments, one in each payload, put together again as a client does: a secret may lie across them.

Nothing is known of the API. Strings that stand at the same place of one payload after the other are taken for fragments of
one text; places are told apart by the numbers that APIs give to choices, calls and blocks, wherever these stand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from harness.redacting.documents import Document
from harness.redacting.looks import NUMBER, NUMBERS, Spot, find

_TELLING = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex", "item_id", "thought")
"""Fields that say which of several texts a fragment belongs to."""

Place = tuple[Any, ...]


class _Text:
    """A text: its fragments, and where each came from."""

    def __init__(self) -> None:
        self.fragments: list[str] = []
        self._from: list[tuple[Document, str]] = []

    def add(self, fragment: str, document: Document, pointer: str) -> None:
        self.fragments.append(fragment)
        self._from.append((document, pointer))

    @property
    def is_plain(self) -> bool:
        """Whether the text is surely the same as in the bytes, so that it need not be looked at again."""
        return len(self.fragments) == 1 and b"\\" not in self._from[0][0].data

    @property
    def is_one_word(self) -> bool:
        """Whether all fragments are the same, such as the id of a turn: then they are no fragments."""
        return len(self.fragments) > 1 and all(fragment == self.fragments[0] for fragment in self.fragments)

    def cover(self, spots: Iterable[Spot]) -> None:
        """Mark places of the text in each buffer that holds some of it."""
        ends = list(accumulate(map(len, self.fragments)))
        for spot in spots:
            self._cover(spot, ends)

    def _cover(self, spot: Spot, ends: list[int]) -> None:
        number = bisect_right(ends, spot.start)
        kind = spot.kind
        while number < len(ends) and ends[number] - len(self.fragments[number]) < spot.end:
            start = ends[number] - len(self.fragments[number])
            document, pointer = self._from[number]
            for first, last in document.characters(pointer, max(0, spot.start - start), min(spot.end, ends[number]) - start):
                document.buffer.spots.append(Spot(first, last, kind))
                kind = spot.kind if spot.kind != NUMBER else "account or user id"  # only its first digit must not be 0
            _cover_bytes(document, pointer)
            number += 1

    def cover_each(self, spot: Spot) -> None:
        """Mark a place of a fragment in all of them."""
        for document, pointer in self._from:
            for first, last in document.characters(pointer, spot.start, spot.end):
                document.buffer.spots.append(Spot(first, last, spot.kind))


def _cover_bytes(document: Document, pointer: str) -> None:
    """Mark what a token says once more as a list of bytes."""
    holder, _, name = pointer.rpartition("/")
    if name == "token" and (numbers := document.locate(f"{holder}/bytes")) is not None:
        document.buffer.spots += [Spot(*span, NUMBERS) for span in document.in_buffer(numbers)]


def cover_texts(documents: Iterable[Document], secrets: Iterable[str]) -> None:
    """Mark, in the buffers of the documents, the secrets in the texts that they hold together."""
    texts: dict[Place, _Text] = defaultdict(_Text)
    for document in documents:
        for place, pointer, fragment in _strings(document.value, (), ""):
            texts[place].add(fragment, document, pointer)
    secrets = tuple(secrets)
    for text in texts.values():
        if text.is_plain:
            continue
        if text.is_one_word:
            for spot in find(text.fragments[0], secrets):
                text.cover_each(spot)
        else:
            text.cover(find("".join(text.fragments), secrets))


def _strings(value: Any, place: Place, pointer: str) -> Iterator[tuple[Place, str, str]]:
    """Every string of a payload, with its place in the stream and in the payload."""
    stack: list[tuple[Any, Place, str]] = [(value, place, pointer)]
    while stack:
        one, at, path = stack.pop()
        if isinstance(one, dict):
            at = (*at, *(one[name] for name in _TELLING if isinstance(one.get(name), (int, str))))
            if not path and isinstance(one.get("type"), str):
                at = (*at, one["type"])
            for name, inner in one.items():
                if isinstance(inner, (str, dict, list)) and inner:
                    step = name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name
                    stack.append((inner, (*at, name), f"{path}/{step}"))
        elif isinstance(one, list):
            stack += (
                (inner, at if _is_joined(inner, path) else (*at, number), f"{path}/{number}")
                for number in reversed(range(len(one)))
                if isinstance(inner := one[number], (str, dict, list))
            )
        elif isinstance(one, str):
            yield at, path, one


def _is_joined(element: Any, path: str) -> bool:
    """Whether what an element of a list says belongs to what its neighbours say: payloads of a stream that is an array, tokens
    with their probabilities, and what has a number of its own."""
    if not path:
        return True
    return isinstance(element, dict) and (
        isinstance(element.get("index"), int) or ("token" in element and path.endswith("/content"))
    )
