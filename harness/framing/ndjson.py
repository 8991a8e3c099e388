"""Newline-delimited JSON: one value per line, cut at LF and nowhere else (spec, wire/framing.md section 2).

Go's encoder leaves U+0085 raw inside strings, so cutting with `str.splitlines` breaks lines. A CR before the LF is
tolerated, blank lines are skipped. A last line without its LF is used when it is complete JSON.
"""

from __future__ import annotations

from harness import payload
from harness.errors import Where
from harness.findings import Finding
from harness.framing.frame import Frame

BOM = b"\xef\xbb\xbf"
_CR = 0x0D


class NDJSONFramer:
    """Cuts an `application/x-ndjson` body into one frame per line that is not blank."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._frames = 0
        self._pos = 0
        self._tail = bytearray()
        self._blank = False

    def feed(self, data: bytes, at: float = 0.0) -> list[Frame]:
        if b"\n" not in data:
            self._tail += data
            return []
        if self._tail:
            data = bytes(self._tail + data)
            self._tail.clear()
        lines = data.split(b"\n")
        self._tail += lines.pop()
        frames = []
        lines[0], pos = self._without_bom(lines[0], self._pos)
        number = self._frames
        for line in lines:
            if line and not line.isspace():
                whole = line[:-1] if line[-1] == _CR else line
                frames.append(Frame(number, None, whole, at, (pos, pos + len(whole))))
                number += 1
            elif not self._blank:
                self._blank = True
                message = "a blank line, which clients that read line by line take for broken JSON"
                self.findings.append(
                    Finding(kind="framing/blank-line", message=message, where=Where(span=(pos, pos + len(line) + 1)))
                )
            pos += len(line) + 1
        self._pos, self._frames = pos, number
        return frames

    def close(self, at: float = 0.0) -> list[Frame]:
        line, pos = self._without_bom(bytes(self._tail), self._pos)
        if not line.strip():
            return []
        if payload.is_whole(line):
            whole = line.removesuffix(b"\r")
            return [Frame(self._frames, None, whole, at, (pos, pos + len(whole)))]
        span = (pos, pos + len(line))
        message = f"the body ends inside a line: {payload.quote(line)}"
        self.findings.append(Finding(kind="framing/frame-truncated", message=message, where=Where(span=span)))
        return []

    def _without_bom(self, line: bytes, pos: int) -> tuple[bytes, int]:
        """The line at `pos` and its place, without the byte-order mark that the body may begin with."""
        if pos or not line.startswith(BOM):
            return line, pos
        message = "a byte-order mark stands before the first object"
        self.findings.append(Finding(kind="framing/bom", message=message, where=Where(span=(0, 3))))
        return line[3:], 3
