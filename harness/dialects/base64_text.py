"""Base64 that comes in fragments, each encoded on its own: joined by its bytes, not by its letters (rule REASM-026)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from harness.edits import Edit, Op, PartRef, Path, Target


class Base64Text:
    """The text at `path`: one base64 value that grows.

    Bytes that do not fill a group of three wait for the next fragment; `close` gives the rest. A fragment that is no base64
    is kept as it stands. Every edit has a target of its own, since what a fragment adds depends on what came before it, and
    a target that comes again says that it does not (repeats.py).
    """

    def __init__(self, path: Path, part: PartRef, source: str) -> None:
        self._path, self._part, self._source = path, part, source
        self._rest = b""

    def edits(self, fragment: str, frame: int) -> Iterator[Edit]:
        try:
            data = self._rest + base64.b64decode(fragment, validate=True)
        except (binascii.Error, ValueError):
            yield from self.close(frame)
            yield self._edit(fragment, frame)
            return
        whole = len(data) - len(data) % 3
        self._rest = data[whole:]
        yield self._edit(base64.b64encode(data[:whole]).decode(), frame)

    def close(self, frame: int) -> Iterator[Edit]:
        if self._rest:
            rest, self._rest = self._rest, b""
            yield self._edit(base64.b64encode(rest).decode(), frame)

    def _edit(self, text: str, frame: int) -> Edit:
        return Edit(Target(Op.CONCAT, self._path, self._part, self._source), text, frame)
