"""`streamproof cassettes`, `streamproof rules` and `streamproof adapters`: what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli.base import JSON, app, print_json
from harness.cli.selection import Selection
from harness.reporting import results
from harness.reporting import rules as catalogue
from harness.reporting.terminal import Terminal


@app.command(name="cassettes")
def list_cassettes(
    paths: Annotated[list[Path] | None, typer.Argument(help="Folders of cassettes. Default: the shipped ones.")] = None,
    lint: Annotated[bool, typer.Option("--lint", help="Fail if anything in them looks like a secret.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List cassettes: id, model, what they hold."""
    if lint:
        from harness.cli.lint import lint as linted

        raise typer.Exit(1 if linted(paths or [], as_json=as_json) else 0)
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
            "recorded": case.provenance.on,
            "features": list(case.features),
            "quirks": list(case.quirks),
        }
        if as_json:
            print_json([results.dumped(row)])
        else:
            sides = "stream + twin" if case.stream and case.reference else "stream" if case.stream else "plain"
            said = [
                case.id,
                case.model or "-",
                sides,
                case.match,
                case.provenance.kind,
                ", ".join([*case.features, *case.quirks]),
            ]
            terminal.line("  ".join(filter(None, said)))


@app.command(name="rules")
def list_rules(
    names: Annotated[
        list[str] | None, typer.Argument(help="Rules, groups (OAI-C), kinds (tool/index-missing) or areas (tool).")
    ] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List the rules that streams are judged by; explain one, with example and source."""
    from harness.conformance.rules import RULES

    terminal = Terminal(Console(highlight=False))
    meant = catalogue.in_order(catalogue.chosen(RULES.values(), names) if names else RULES.values())
    if as_json:
        print_json(results.dumped(catalogue.as_dict(rule)) for rule in meant)
    elif len(meant) == 1:
        for line in catalogue.explained(meant[0]):
            terminal.line(line)
    else:
        for rule in meant:
            terminal.line(catalogue.listed(rule))


@app.command(name="adapters")
def list_adapters(as_json: Annotated[bool, JSON] = False) -> None:
    """List the systems under test that come along: version, language, dialects."""
    from harness.adapters import subjects

    terminal = Terminal(Console(highlight=False))
    for subject in subjects.load().values():
        about = {"name": subject.name, "version": subject.version(), **results.about(subject)}
        if as_json:
            print_json([results.dumped(about)])
        else:
            spoken = ", ".join(subject.dialects)
            terminal.line(f"{subject.name:<22} {subject.package()} {subject.version()} · {subject.language} · {spoken}")
