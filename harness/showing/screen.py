"""The screen that a stream passes on: a log of lines, and on a terminal below it how far the recording is and what was said.

A line that is longer than the screen is cut: whoever needs all of it takes `--json`. Where there is no screen, lines are cut
at a fixed width, so that the output does not depend on where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from harness.cassette.model import Exchange
from harness.loop.artifacts import ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from harness.loop.events import ArtifactEvent, Event
from harness.replay import Clock, VirtualClock
from harness.reporting.excerpt import harmless
from harness.showing import words
from harness.showing.watching import Arrived, Passing, Taken

_NO_SCREEN = 160  # columns
_NARROWEST = 40
_BAR = 24
_KEPT = 2000  # characters of what was said


class Screen:
    """Shows what passes on a console; `ascii` keeps to letters that every terminal has."""

    def __init__(self, console: Console, *, ascii: bool = False) -> None:
        self._console = console
        self._ascii = ascii or not (console.encoding or "").lower().startswith("utf")
        self._progress: _Progress | None = None

    def show(self, passing: Passing) -> None:
        if self._progress is not None:
            self._progress.see(passing)
        for margin, text, style in words.lines(passing):
            self.line(text, style, margin)

    def line(self, text: str, style: str = "", margin: int = 0) -> None:
        """Print one line, cut to the width of the screen."""
        width = max(_NARROWEST, self._console.width) if self._console.is_terminal else _NO_SCREEN
        shown = Text(" " * margin + _cut(harmless(text[: 4 * width], ascii=self._ascii), width - margin, self._ascii), style)
        self._console.print(shown, highlight=False, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)
        if not self._console.is_terminal:
            self._console.file.flush()

    @contextmanager
    def playing(self, exchange: Exchange, clock: Clock) -> Iterator[None]:
        """While an exchange plays: below the lines stands how far it is, on a terminal that can, if there is time to read."""
        at_once = isinstance(clock, VirtualClock)
        if at_once or not self._console.is_terminal or self._console.is_dumb_terminal:
            yield
            return
        self._progress = _Progress(exchange, clock, ascii=self._ascii)
        try:
            with Live(self._progress, console=self._console, transient=True, refresh_per_second=12):
                yield
        finally:
            self._progress = None


class _Progress:
    """How far a recording has come, and the end of what was said: drawn anew whenever the screen is."""

    def __init__(self, exchange: Exchange, clock: Clock, *, ascii: bool) -> None:
        self._total = max((chunk.at for chunk in exchange.chunks), default=0.0)
        self._clock = clock
        self._start = clock()
        self._bytes = len(exchange.body)
        self._ascii = ascii
        self._read = 0
        self._frames = self._events = 0
        self._said = ""

    def see(self, passing: Passing) -> None:
        if isinstance(passing, Arrived):
            self._read = passing.span[1]
        elif isinstance(passing, Taken):
            self._frames += passing.frame is not None
        elif isinstance(passing, Event):
            self._events += 1
            if isinstance(passing, ArtifactEvent):
                self._said = (self._said + _said(passing))[-_KEPT:]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        full, empty = ("#", ".") if self._ascii else ("█", "░")
        done = round(_BAR * (self._read / self._bytes)) if self._bytes else _BAR
        at = min(self._clock() - self._start, self._total)
        counts = f"{at:.1f} of {self._total:.1f} s · {_several(self._frames, 'frame')} · {_several(self._events, 'event')}"
        said = harmless(" ".join(self._said.split()), ascii=self._ascii)
        width = max(_NARROWEST, options.max_width)
        bar = _cut(harmless(counts, ascii=self._ascii), width - _BAR - 2, self._ascii)
        yield Text(full * done + empty * (_BAR - done) + f"  {bar}", "cyan", no_wrap=True)
        yield Text(_end(said, width), "bold", no_wrap=True)


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _said(event: ArtifactEvent) -> str:
    """What of an event a reader would read."""
    value = event.value
    if isinstance(value, (TextDelta, ReasoningDelta, RefusalDelta)):
        return value.text
    if isinstance(value, ToolCallDelta):
        return (f" {value.name}(" if value.name else "") + value.arguments
    return ""


def _cut(text: str, width: int, ascii: bool) -> str:
    """The text in at most `width` columns, with a mark where it was cut."""
    if cell_len(text) <= width:
        return text
    mark = "..." if ascii else "…"
    text = text[:width]
    while cell_len(text) > width - len(mark):
        text = text[:-1]
    return text + mark


def _end(text: str, width: int) -> str:
    """The end of the text in at most `width` columns."""
    text = text[-width:]
    while cell_len(text) > width:
        text = text[1:]
    return text
