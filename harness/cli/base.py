"""What all commands share: the application, options that mean the same everywhere, output."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

app = typer.Typer(
    name="streamproof",
    help="Proves that a streamed turn is the turn the model would have returned without streaming.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

JSON = typer.Option("--json", help="Print JSON lines on standard output, and nothing else there.")
ASCII = typer.Option("--ascii", help="Keep to plain letters.")
SELECT = typer.Option(
    "--select", help="Only these rules, groups (OAI-C), kinds (tool/index-missing) or areas (tool); may be given again."
)
IGNORE = typer.Option("--ignore", help="Not these, whatever --select says; may be given again.")
LONG = 40  # cassettes from which on a progress bar is worth it


class State:
    """What was said before the command."""

    debug = False


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    State.debug = debug


def print_json(lines: Iterable[str]) -> None:
    """JSON is UTF-8, whatever the terminal speaks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


@contextmanager
def progress(total: int, *, quiet: bool, doing: str = "replaying") -> Iterator[Any]:
    """A progress bar on standard error, where that is a terminal and the run is long."""
    console = Console(stderr=True)
    if quiet or total < LONG or not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda _: bar.advance(task)
