"""`streamproof check` and `streamproof replay`: one capture, judged and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness import checking, inputs
from harness.cli.base import ASCII, IGNORE, JSON, SELECT, app, print_json
from harness.conformance.rules.choice import Choice
from harness.findings import Level
from harness.reporting import results
from harness.reporting.terminal import Terminal


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Captures, scenario files, exchange folders or cassettes.")],
    dialect: Annotated[str | None, typer.Option(help="The API, where it should not be detected.")] = None,
    select: Annotated[list[str] | None, SELECT] = None,
    ignore: Annotated[list[str] | None, IGNORE] = None,
    level: Annotated[Level, typer.Option(help="The least grave findings that are told.")] = Level.INFO,
    as_json: Annotated[bool, JSON] = False,
    ascii_only: Annotated[bool, ASCII] = False,
) -> None:
    """Judge captures: the reassembled response and the findings."""
    choice = Choice.of(select, ignore, level)
    terminal = Terminal(Console(highlight=False), ascii=ascii_only)
    status = 0
    for path in files:
        for given in inputs.load(path, dialect):
            checked = checking.check(given, choice)
            if as_json:
                print_json([results.dumped(checked.as_dict())])
            else:
                terminal.checked(checked)
            status = max(status, int(checked.outcome is not checking.Outcome.OK))
    raise typer.Exit(status)


@app.command()
def replay(
    cassette: Annotated[Path, typer.Argument(help="A cassette, its id if it is a shipped one, or a capture.")],
    speed: Annotated[float | None, typer.Option(help="How many times as fast as it was recorded.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Do not wait at all.")] = False,
    dialect: Annotated[str | None, typer.Option(help="The API, where it should not be detected.")] = None,
    as_json: Annotated[bool, JSON] = False,
    ascii_only: Annotated[bool, ASCII] = False,
) -> None:
    """Watch a recorded stream as frames, edits and events, in recorded time."""
    from harness.showing import replaying

    clock, pace = replaying.pace(speed, fast=fast)
    given = replaying.chosen(cassette, dialect)
    if as_json:
        checked = replaying.as_lines(given, clock, lambda line: print_json([results.dumped(line)]))
    else:
        checked = replaying.on_screen(given, clock, pace, Console(highlight=False), ascii=ascii_only)
    raise typer.Exit(int(checked.outcome is not checking.Outcome.OK))
