"""Server-sent events by the rules of the HTML standard (spec, wire/framing.md section 1).

Lines are cut on bytes, at LF, CRLF and CR only: `str.splitlines` and the line iterators built on it also cut at U+2028,
U+0085 and others, which are data. Three things go beyond the standard, since real streams need them, and each is reported:

* an event that lacks its blank line at the end of the body is used when its data is whole JSON or `[DONE]`;
* JSON lines outside the syntax (`{"error": …}` from a proxy) are gathered until their brackets close, and become a frame;
* `error: {…}`, which old llama.cpp servers send as a field, becomes a frame named `error`.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import payload
from harness.errors import Where
from harness.findings import Finding
from harness.framing.brackets import Brackets
from harness.framing.frame import Frame

BOM = b"\xef\xbb\xbf"
_FIELDS = (b"data", b"event", b"id", b"retry")
_MOST_FINDINGS = 20
_MOST_NAMES = 64
_BLOCK = 64 * 1024  # bytes cut into lines at a time, so that there is never a second copy of a large body


class SSEFramer:
    """Cuts a `text/event-stream` body into one frame per dispatched event."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._frames = 0
        self._pos = 0  # offset in the body of the first byte that is not consumed
        self._tail = bytearray()  # the line that is not complete yet
        self._head: bytes | None = b""  # the first bytes, until it is known whether they are a byte-order mark
        self._after_cr = False  # the last line ended in CR: an LF that follows belongs to it
        self._name: str | None = None
        self._data: list[bytes] = []
        self._start = -1  # span of the event under construction; -1: none yet
        self._end = 0
        self._names: dict[bytes, str] = {}
        self._bare: Brackets | None = None  # JSON outside the syntax, under construction
        self._before_bare = 0  # frames that came before it
        self._junk: tuple[int, int] | None = None
        self._line_end: bytes | None = None  # the first one, and where it stands
        self._first_end = 0
        self._other_end: tuple[int, bytes] | None = None  # the first that is different, and where it stands
        self._remarked: set[str] = set()

    def feed(self, data: bytes, at: float = 0.0) -> list[Frame]:
        if len(data) <= 2 * _BLOCK:
            return self._feed(data, at)
        return [frame for block in _blocks(data) for frame in self._feed(block, at)]

    def _feed(self, data: bytes, at: float) -> list[Frame]:
        if self._head is not None:
            data = self._skip_bom(data)
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 0x0A:
                data = data[1:]
                self._ended_by(b"\r\n", self._pos - 1)
                self._pos += 1
            else:
                self._ended_by(b"\r", self._pos - 1)
        if b"\n" not in data and b"\r" not in data:
            self._tail += data
            return []
        if self._tail:
            data = bytes(self._tail + data)
            self._tail.clear()
        if b"\r" not in data:
            lines, width = data.split(b"\n"), 1
            if self._line_end != b"\n":
                self._ended_by(b"\n", self._pos + len(lines[0]))
        else:
            lines, width = data.split(b"\r\n"), 2
            rest = b"".join(lines)  # cheaper to look through than to count in
            if b"\r" in rest or b"\n" in rest:
                return self._mixed(data, at)
            self._ended_by(b"\r\n", self._pos + len(lines[0]))
        self._tail += lines.pop()
        return self._lines(lines, width, at)

    def close(self, at: float = 0.0) -> list[Frame]:
        frames: list[Frame] = []
        if self._head:
            self._tail[:0] = self._head
        if self._tail:
            line = bytes(self._tail)
            self._tail.clear()
            if any(field.startswith(line) for field in _FIELDS):
                message = f"the body ends inside the name of a field: {payload.quote(line)}"
                self._note("framing/frame-truncated", message, (self._pos, self._pos + len(line)))
            elif line.startswith(b"event:") and self._data:  # behind its data; nobody knows whether the name is whole
                message = f"the body ends inside an event, in its name: {payload.quote(line)}"
                self._note("framing/frame-truncated", message, (self._start, self._pos + len(line)))
                self._data.clear()
            else:
                frames = self._lines([line], 0, at)
        if self._data:
            frames += self._last_event(at)
        if self._bare is not None:
            span = (self._bare.start, self._pos)
            cut = self._frames == self._before_bare  # nothing came behind it
            kind = "framing/frame-truncated" if cut else "framing/invalid-json"
            self._note(kind, "JSON outside the event-stream syntax was never closed", span)
        self._flush_junk()
        if self._after_cr and self._line_end != b"\r\n":  # a CR LF that was cut in two is no other end
            self._ended_by(b"\r", self._pos - 1)
        if self._other_end is not None:
            pos, end = self._other_end
            message = f"the first line ends with {self._line_end!r}, and this one with {end!r}"
            self._note("framing/mixed-line-ends", message, (pos, pos + len(end)))
        elif self._line_end == b"\r\n":
            span = (self._first_end, self._first_end + 2)
            self._note("framing/crlf", "lines end in CR LF; readers that look for two LF find no event", span)
        return frames

    def _skip_bom(self, data: bytes) -> bytes:
        head = (self._head or b"") + data
        if len(head) < len(BOM) and BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        if not head.startswith(BOM):
            return head
        self._note("framing/bom", "a byte-order mark stands before the first field; three common clients lose it", (0, 3))
        self._pos = len(BOM)
        return head[len(BOM) :]

    def _mixed(self, data: bytes, at: float) -> list[Frame]:
        """Lines with different ends, one by one."""
        frames: list[Frame] = []
        whole = self._pos + len(data)
        for line in data.splitlines(keepends=True):  # on bytes: CR, LF and CRLF only
            content = line.rstrip(b"\r\n")
            if len(content) == len(line):
                self._tail += line
            else:
                start = self._pos
                frames += self._lines([content], len(line) - len(content), at)
                self._after_cr = line.endswith(b"\r") and self._pos == whole
                if not self._after_cr:
                    self._ended_by(line[len(content) :], start + len(content))
        return frames

    def _lines(self, lines: list[bytes], width: int, at: float) -> list[Frame]:
        """Take complete lines whose ends are `width` bytes long. The hot loop of the framer.

        Nearly all events are one `data: ` line, or a known `event:` line and one `data: ` line, and then the blank line.
        """
        frames: list[Frame] = []
        pos, number, names, count = self._pos, self._frames, self._names, len(lines)
        lines += (b"-", b"-")  # lines to look ahead at, which are not blank
        fresh, i = self._start < 0, 0
        while i < count:
            line, second = lines[i], lines[i + 1]
            if not fresh:
                pass
            elif not second:
                if line.startswith(b"data: "):
                    end = pos + len(line)
                    frames.append(Frame(number, None, line[6:], at, (pos, end)))
                    number, pos, i = number + 1, end + 2 * width, i + 2
                    continue
            elif not lines[i + 2] and second.startswith(b"data: ") and (name := names.get(line)) is not None:
                end = pos + len(line) + width + len(second)
                frames.append(Frame(number, name, second[6:], at, (pos, end)))
                number, pos, i = number + 1, end + 2 * width, i + 3
                continue
            event = lines[i : _after_blank(lines, i, count)]
            self._pos, self._frames = pos, number
            frames += self._one_by_one(event, width, at)
            pos, number, i = self._pos, self._frames, i + len(event)
            fresh = self._start < 0
        self._pos, self._frames = pos, number
        return frames

    def _one_by_one(self, lines: list[bytes], width: int, at: float) -> list[Frame]:
        """Take lines of any kind."""
        frames: list[Frame] = []
        pos, start, end, data, names = self._pos, self._start, self._end, self._data, self._names
        for line in lines:
            if line.startswith(b"data: "):
                data.append(line[6:])
                if start < 0:
                    start = pos
                end = pos + len(line)
            elif not line:
                if data:
                    whole = data[0] if len(data) == 1 else b"\n".join(data)
                    frames.append(Frame(self._frames, self._name, whole, at, (start, end)))
                    self._frames += 1
                    data.clear()
                elif self._name is not None:
                    self._pos = pos
                    self._remark(
                        "framing/event-without-data", f"the event {self._name!r} has no data: readers drop it", start, end
                    )
                self._name = None
                start = -1
            elif (name := names.get(line)) is not None:
                self._name = name
                if start < 0:
                    start = pos
                end = pos + len(line)
            else:
                if line.partition(b":")[0] in _FIELDS:
                    if start < 0:
                        start = pos
                    end = pos + len(line)
                self._pos = pos
                more = self._other(line, at)
                if more is not None:
                    frames.append(more)
            pos += len(line) + width
        self._pos, self._start, self._end = pos, start, end
        return frames

    def _other(self, line: bytes, at: float) -> Frame | None:
        """A line that is neither blank nor a plain `data: ` line, at `self._pos`. Returns the frame it completes."""
        field, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        span = self._pos, self._pos + len(line)
        if field == b"event":
            self._name = value.decode(errors="replace") or None
            if self._name and len(self._names) < _MOST_NAMES:
                self._names[line] = self._name
        elif field == b"data":
            self._data.append(value)
            if value and not line.startswith(b"data: "):
                self._remark("framing/no-space", "a `data:` without the space that some clients wait for", *span)
        elif field == b"error" and value.startswith(b"{") and self._bare is None:
            return self._error_field(line, value, at)
        elif field == b"id":
            self._remark("framing/id-field", "an `id`, which no API of these uses", *span)
        elif field == b"retry":
            if not (value.isdigit() and value.isascii()):
                self._remark("framing/retry-field", f"`retry` is {payload.quote(value)}; digits were expected", *span)
        elif field or not colon:
            return self._outside(line, at)
        elif self._bare is None:
            self._remark("framing/comment", f"a comment, {payload.quote(line, 40)}, which is no JSON", *span)
        return None

    def _error_field(self, line: bytes, value: bytes, at: float) -> Frame:
        span = (self._pos, self._pos + len(line))
        self._note("framing/outside-syntax", "an `error` field, which clients of the standard ignore: read as an event", span)
        self._frames += 1
        return Frame(self._frames - 1, "error", value, at, span)

    def _outside(self, line: bytes, at: float) -> Frame | None:
        span = (self._pos, self._pos + len(line))
        if self._bare is None and line.lstrip()[:1] in (b"{", b"["):
            self._bare, self._before_bare = Brackets(start=self._pos), self._frames
        if self._bare is None:
            self._junk = (self._junk[0] if self._junk else span[0], span[1])
            return None
        if not self._bare.feed(line):
            return None
        whole, self._bare = self._bare, None
        span = (whole.start, span[1])
        self._note("framing/outside-syntax", "JSON outside the event-stream syntax: read as an event", span)
        self._frames += 1
        return Frame(self._frames - 1, None, whole.text(), at, span)

    def _last_event(self, at: float) -> list[Frame]:
        data = b"\n".join(self._data)
        span = (self._start, self._end)
        if data.strip() == b"[DONE]":
            self._note("framing/unterminated-marker", "the last [DONE] is not followed by a blank line", span)
        elif len(self._data) > 1 and all(line == b"[DONE]" or payload.is_whole(line) for line in self._data):
            pass  # events that no blank line divides: whoever reads the frame says so
        elif payload.is_whole(data):
            self._note(
                "framing/unterminated-event",
                "the body ends without the blank line that dispatches the last event; it was used, strict readers drop it",
                span,
            )
        else:
            message = f"the body ends inside an event: {payload.quote(data)}"
            self._note("framing/frame-truncated", message, span)
            return []
        self._frames += 1
        return [Frame(self._frames - 1, self._name, data, at, span)]

    def _flush_junk(self) -> None:
        if self._junk is not None:
            message = "lines that are no field of an event stream; clients of the standard ignore them"
            self._note("framing/outside-syntax", message, self._junk)

    def _ended_by(self, end: bytes, pos: int) -> None:
        """A line had this end, which stands at `pos`."""
        if self._line_end is None:
            self._line_end, self._first_end = end, pos
        elif end != self._line_end and self._other_end is None:
            self._other_end = pos, end

    def _remark(self, kind: str, message: str, start: int, end: int) -> None:
        """Something about the style of the stream: said once, of the first place."""
        if kind not in self._remarked:
            self._remarked.add(kind)
            self._note(kind, message, (start, end))

    def _note(self, kind: str, message: str, span: tuple[int, int]) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(kind=kind, message=message, where=Where(span=span)))


def _after_blank(lines: list[bytes], start: int, end: int) -> int:
    """Where the lines after the next blank one begin."""
    try:
        return lines.index(b"", start, end) + 1
    except ValueError:
        return end


def _blocks(data: bytes) -> Iterator[bytes]:
    """The data in whole lines, about `_BLOCK` bytes at a time."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        yield data[start:end]
        start = end
