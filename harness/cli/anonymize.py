"""`streamproof anonymize`: cassettes that may be shown to anybody."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness import cassette as cassettes
from harness.cli.base import JSON, app, print_json, progress
from harness.cli.selection import Selection
from harness.errors import InputError
from harness.reporting import results
from harness.reporting.terminal import Terminal


@app.command(name="anonymize")
def anonymize_cassettes(
    paths: Annotated[list[Path], typer.Argument(help="Cassettes, exchange folders, or folders of them.")],
    to: Annotated[Path, typer.Option("--to", help="The folder that the new cassettes are written to.")],
    seed: Annotated[
        str | None, typer.Option(help="The same seed gives the same words. Default: one that nobody knows.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Replace every text, argument, id and signature by other letters; keep the wire with all that is wrong with it."""
    from harness.anonymizing import anonymize

    chosen = Selection(paths)
    key = secrets.token_hex() if seed is None else seed
    files = {case.id: to / f"{case.id}.yaml" for case in chosen.cassettes}
    astray = next((case.id for case in chosen.cassettes if ".." in Path(case.id).parts or Path(case.id).is_absolute()), None)
    if astray is not None:
        raise InputError("is no name of a cassette", where=astray, hint="give it an id without ..")
    there = next((file for file in files.values() if file.exists()), None)
    if there is not None and not force:
        raise InputError("is there already", where=str(there), hint="choose another folder, or write over it with --force")
    if len(files) < len(chosen.cassettes):
        raise InputError("two cassettes have one id", where=", ".join(chosen.names), hint="anonymize them one by one")
    terminal = Terminal(Console(highlight=False))
    with progress(len(chosen.cassettes), quiet=as_json, doing="anonymizing") as advance:
        for case in chosen.cassettes:
            cassettes.save(anonymize(case, key), files[case.id])
            if as_json:
                print_json([results.dumped({"id": case.id, "file": str(files[case.id])})])
            advance(case)
    if not as_json:
        terminal.line(f"{len(chosen.cassettes)} written to {to}/")
