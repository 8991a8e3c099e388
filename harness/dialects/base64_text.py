"""Base64 that comes in fragments, each encoded on its own: joined by its bytes, not by its letters (rule REASM-026)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from harness.edits import Edit, Op, PartRef, Path, Target


class Base64Text:
    """The text at `path`: one base64 value that grows.

    Bytes that do not fill a group of three wait for the next fragment; `close` gives the rest. A fragment that is no base64
    is kept as it stands.
    """

    def __init__(self, path: Path, part: PartRef, source: str) -> None:
        self._target = Target(Op.CONCAT, path, part, source)
        self._rest = b""

    def edits(self, fragment: str, frame: int) -> Iterator[Edit]:
        try:
            data = self._rest + base64.b64decode(fragment, validate=True)
        except (binascii.Error, ValueError):
            yield from self.close(frame)
            yield Edit(self._target, fragment, frame)
            return
        whole = len(data) - len(data) % 3
        self._rest = data[whole:]
        yield Edit(self._target, base64.b64encode(data[:whole]).decode(), frame)

    def close(self, frame: int) -> Iterator[Edit]:
        if self._rest:
            rest, self._rest = self._rest, b""
            yield Edit(self._target, base64.b64encode(rest).decode(), frame)
