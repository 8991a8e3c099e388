"""Where a JSON object or array ends, found without decoding it: brackets are counted outside strings."""

from __future__ import annotations

import re

_MARKS = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')


class Brackets:
    """Gathers lines of one bracketed JSON value that begins at offset `start` of the body."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._lines: list[bytes] = []
        self._depth = 0
        self._quoted = False

    def feed(self, line: bytes) -> bool:
        """Take the next line; True once the outermost bracket is closed."""
        self._lines.append(line)
        pos = 0
        while (mark := (_IN_STRING if self._quoted else _MARKS).search(line, pos)) is not None:
            pos = mark.end()
            byte = mark.group()
            if self._quoted:
                if byte == b"\\":
                    pos += 1
                else:
                    self._quoted = False
            elif byte == b'"':
                self._quoted = True
            else:
                self._depth += 1 if byte in b"{[" else -1
        return self._depth <= 0 and not self._quoted

    def text(self) -> bytes:
        return b"\n".join(self._lines)
