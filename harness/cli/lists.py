"""`streamproof cassettes`: what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli.base import JSON, app, print_json
from harness.cli.selection import Selection
from harness.reporting import results
from harness.reporting.terminal import Terminal


@app.command(name="cassettes")
def list_cassettes(
    paths: Annotated[list[Path] | None, typer.Argument(help="Folders of cassettes. Default: the shipped ones.")] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List cassettes: id, model, what they hold."""
    terminal = Terminal(Console(highlight=False))
    for case in Selection(paths or []).cassettes:
        row = {
            "id": case.id,
            "dialect": case.dialect,
            "provider": case.provider,
            "model": case.model,
            "stream": case.stream is not None,
            "reference": case.reference is not None,
            "match": case.match,
            "provenance": case.provenance.kind,
        }
        if as_json:
            print_json([results.dumped(row)])
        else:
            sides = "stream + twin" if case.stream and case.reference else "stream" if case.stream else "plain"
            terminal.line(f"{case.id}  {case.model or '-'}  {sides}  {case.match}  {case.provenance.kind}")
