"""`streamproof replay`: one recording, watched from its first piece to its end, and what it came to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from harness import cassette as cassettes
from harness import checking, inputs
from harness.cassette.model import Exchange
from harness.checking import Checked
from harness.errors import InputError
from harness.inputs import Input
from harness.replay import Clock, RecordedTime, VirtualClock
from harness.reporting.terminal import Terminal
from harness.showing import json_lines
from harness.showing.screen import Screen
from harness.showing.watching import Passing, watch

Print = Callable[[dict[str, Any]], None]


def chosen(path: Path, dialect: str | None = None) -> Input:
    """The recording at `path`, or the shipped cassette of that name. Raises `InputError` if there is none, or several."""
    shipped = cassettes.shipped() / f"{path}.yaml"
    if not path.exists() and not shipped.is_file():
        hint = "`streamproof cassettes` lists those that are shipped"
        raise InputError("there is no such file, and no cassette of that name is shipped", where=str(path), hint=hint)
    found = list(inputs.load(path if path.exists() else shipped, dialect))
    if len(found) > 1:
        names = ", ".join(given.name for given in found[:3]) + (", …" if len(found) > 3 else "")
        raise InputError(f"{len(found)} recordings are there: {names}", where=str(path), hint="give one of them")
    return found[0]


def pace(speed: float | None, *, fast: bool) -> tuple[Clock, str]:
    """The clock for the two options of the command, and in words what they ask for. Raises `InputError`."""
    if fast and speed is not None:
        raise InputError("--fast does not wait at all", where="--speed", hint="give one of the two")
    if fast:
        return VirtualClock(), "without waiting"
    try:
        clock = RecordedTime(1.0 if speed is None else speed)
    except ValueError as error:
        raise InputError(str(error), where="--speed", hint="2 is twice as fast, 0.5 half as fast") from None
    return clock, "in recorded time" if clock.speed == 1 else f"{clock.speed:g} times as fast"


def on_screen(given: Input, clock: Clock, pace: str, console: Console, *, ascii: bool = False) -> Checked:
    """Play a recording on a console; returns what `check` says of it, which is shown at the end. `pace` says how fast."""
    checked = checking.check(given)
    screen, terminal = Screen(console, ascii=ascii), Terminal(console, ascii=ascii)
    for number, exchange in enumerate(_attempts(given, checked)):
        terminal.line((_head(given, number, exchange, pace), "bold"))
        with screen.playing(exchange, clock):
            asyncio.run(watch(exchange, given.dialect, clock, screen.show))
        terminal.line("")
    terminal.checked(checked)
    return checked


def as_lines(given: Input, clock: Clock, write: Print) -> Checked:
    """The same as JSON lines, the last of them what `check --json` prints."""
    checked = checking.check(given)
    for number, exchange in enumerate(_attempts(given, checked)):
        asyncio.run(watch(exchange, given.dialect, clock, partial(_written, write, number)))
    write({"type": "checked", **checked.as_dict()})
    return checked


def _written(write: Print, number: int, passing: Passing) -> None:
    for line in json_lines.lines(passing, number):
        write(line)


def _attempts(given: Input, checked: Checked) -> tuple[Exchange, ...]:
    """The exchanges that a client makes: those after one that needed no other are never asked for."""
    return given.exchanges[: max(1, len(checked.bodies))]


def _head(given: Input, number: int, exchange: Exchange, pace: str) -> str:
    chunks = exchange.chunks
    lasts = max((chunk.at for chunk in chunks), default=0.0)
    which = f" · attempt {number + 1} of {len(given.exchanges)}" if len(given.exchanges) > 1 else ""
    size = f"{len(chunks)} chunk{'' if len(chunks) == 1 else 's'} · {len(exchange.body)} bytes · {lasts:.3f} s"
    return f"{given.name} · {given.dialect.name}{which} · status {exchange.status} · {size} · {pace}"
