"""Elements of a list at the top of a large YAML document, one after the other: only one of them is in memory at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import yaml

from harness.cassette import libyaml


class YamlItems:
    """The elements of the list called `name` in the mapping that the document is; `beside` holds the other values by name, as
    far as they have been read. `found` says whether there is such a list. Iterating raises `ValueError`."""

    def __init__(self, pieces: Iterable[bytes], name: str) -> None:
        self.beside: dict[str, Any] = {}
        self.found = False
        self._name = name
        self._pieces = pieces

    def __iter__(self) -> Iterator[Any]:
        loader = _loader()(io.BufferedReader(_Stream(self._pieces)))
        try:
            yield from self._items(loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
            raise ValueError(f"is not YAML: {error.problem or error.context}{place}") from None
        except yaml.YAMLError as error:
            raise ValueError(f"is not YAML: {str(error).splitlines()[0]}") from None
        finally:
            loader.dispose()

    def _items(self, loader: Any) -> Iterator[Any]:
        loader.get_event()  # the stream
        if not loader.check_event(yaml.DocumentStartEvent):
            return
        loader.get_event()
        if not loader.check_event(yaml.MappingStartEvent):
            return
        loader.get_event()
        while not loader.check_event(yaml.MappingEndEvent):
            name = _value(loader)
            if name == self._name and loader.check_event(yaml.SequenceStartEvent):
                self.found = True
                loader.get_event()
                while not loader.check_event(yaml.SequenceEndEvent):
                    yield _value(loader)
                loader.get_event()
            else:
                self.beside[str(name)] = _value(loader)


def _value(loader: Any) -> Any:
    return loader.construct_document(loader.compose_node(None, None))


@cache
def _loader() -> Any:
    """A loader that composes nodes of libyaml's events, or of those of PyYAML's own parser, as they come."""
    base = libyaml.loader()
    return type("StreamingLoader", (yaml.composer.Composer, base), {"__init__": _begin})


def _begin(self: Any, stream: Any) -> None:
    libyaml.loader().__init__(self, stream)
    self.anchors = {}


class _Stream(io.RawIOBase):
    """Pieces as a file that can be read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = (piece for piece in pieces if piece)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or next(self._pieces, b"")
        length = min(len(buffer), len(self._rest))
        buffer[:length] = self._rest[:length]
        self._rest = self._rest[length:]
        return length
