"""JSON-array streaming: `[` element (`,` element)* `]`, each element as soon as it is whole (spec, wire/framing.md section 3).

Element borders are found by counting brackets outside strings. A body that is one bare object (an error from a proxy) is one
frame; so is an object after the closing bracket. What is neither is reported.
"""

from __future__ import annotations

import re

from harness import payload
from harness.errors import Where
from harness.findings import Finding
from harness.framing.frame import Frame

_MARKS = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_SCALAR_END = re.compile(rb"[,\]\s]")
_BOM = b"\xef\xbb\xbf"
_MOST_FINDINGS = 20
_GAPS = {
    "before": re.compile(rb"\s*"),
    "open": re.compile(rb"[\s,]*"),
    "closed": re.compile(rb"\s*"),
    "dead": re.compile(rb".*", re.DOTALL),
}


class JSONArrayFramer:
    """Cuts one JSON array into one frame per element."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._frames = 0
        self._comma = False  # whether one has come since the last element
        self._start = 0  # offset in the body of the first byte of the buffer
        self._buffer = bytearray()
        self._scanned = 0  # bytes of the buffer already looked at
        self._depth = 0  # open brackets of the element under construction
        self._quoted = False
        self._kind = ""  # of the element under construction: "" none, "bracket", "string", "scalar"
        self._array = "before"  # before, open, closed; dead: neither an array nor an object
        self._head = True  # the first bytes are still to come, and may be a byte-order mark

    def feed(self, data: bytes, at: float = 0.0) -> list[Frame]:
        self._buffer += data
        if self._head and self._waits_for_bom():
            return []
        frames: list[Frame] = []
        while self._scanned < len(self._buffer):
            if not self._kind:
                self._between()
            elif (end := self._element_end()) is not None:
                frames.append(self._take(end, at))
        return frames

    def close(self, at: float = 0.0) -> list[Frame]:
        frames: list[Frame] = []
        if self._head and self._buffer:
            self._head = False
            self._between()
        rest = bytes(self._buffer).strip()
        if self._kind and rest:
            if payload.is_whole(rest):
                frames.append(self._take(len(self._buffer), at))
            else:
                message = f"the body ends inside an element: {payload.quote(rest)}"
                self._note("framing/frame-truncated", message, (self._start, self._start + len(rest)))
        if self._array == "open":
            end = self._start + len(self._buffer)
            self._note("stream/array-unclosed", "the array has no closing bracket", (end - 1, end))
        return frames

    def _waits_for_bom(self) -> bool:
        """Drop a byte-order mark in front of everything; True while there are too few bytes to know."""
        if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
            return True
        self._head = False
        if self._buffer.startswith(_BOM):
            self._note("framing/bom", "a byte-order mark stands before the array", (0, len(_BOM)))
            self._drop(len(_BOM))
        return False

    def _between(self) -> None:
        """Skip what stands between elements and find out what begins."""
        skip = _GAPS[self._array].match(self._buffer)
        self._comma = self._comma or b"," in (skip.group() if skip else b"")
        self._drop(skip.end() if skip else 0)
        byte = bytes(self._buffer[:1])
        if not byte:
            return
        if self._array == "open" and self._frames and not self._comma and byte != b"]":
            self._note(
                "framing/comma-missing", "an element follows another one without a comma", (self._start, self._start + 1)
            )
        self._comma = False
        if byte == b"[" and self._array == "before":
            self._array = "open"
            self._drop(1)
        elif byte == b"]" and self._array == "open":
            self._array = "closed"
            self._drop(1)
        else:
            self._begin(byte)

    def _begin(self, byte: bytes) -> None:
        kind = {b"{": "bracket", b"[": "bracket", b'"': "string"}.get(byte, "scalar")
        if self._array != "open":
            name, message = {
                "before": ("framing/outside-syntax", "the body is no JSON array"),
                "closed": ("framing/trailing-data", "something follows the end of the array"),
            }[self._array]
            self._note(name, message, (self._start, self._start + 1))
            self._array = "closed" if kind == "bracket" else "dead"
        if self._array != "dead":
            self._kind = kind
            self._depth = int(kind == "bracket")
            self._quoted = kind == "string"
            self._scanned = int(kind != "scalar")

    def _element_end(self) -> int | None:
        """The length of the element once it is whole, else None: then every byte of the buffer has been looked at."""
        if self._kind == "scalar":
            end = _SCALAR_END.search(self._buffer, self._scanned)
            self._scanned = end.start() if end else len(self._buffer)
            return self._scanned if end else None
        while (mark := (_IN_STRING if self._quoted else _MARKS).search(self._buffer, self._scanned)) is not None:
            byte = mark.group()
            self._scanned = mark.end()
            if byte == b"\\":
                self._scanned += 1  # may lie beyond the buffer: the escaped byte is then the next to come
            elif byte == b'"':
                self._quoted = not self._quoted
                if self._kind == "string" and not self._quoted:
                    return self._scanned
            else:
                self._depth += 1 if byte in b"{[" else -1
                if not self._depth:
                    return self._scanned
        self._scanned = max(self._scanned, len(self._buffer))
        return None

    def _take(self, length: int, at: float) -> Frame:
        data = bytes(self._buffer[:length])
        frame = Frame(self._frames, None, data, at, (self._start, self._start + length))
        self._frames += 1
        self._kind = ""
        self._drop(length)
        return frame

    def _drop(self, length: int) -> None:
        del self._buffer[:length]
        self._start += length
        self._scanned = 0

    def _note(self, kind: str, message: str, span: tuple[int, int]) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(kind=kind, message=message, where=Where(span=span)))
