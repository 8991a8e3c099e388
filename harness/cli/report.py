"""`streamproof report`: what people and programs read of results, rendered again at any time; shards, differences, trends."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from harness.cli.base import ASCII, JSON, app, print_json
from harness.errors import CassetteError, InputError
from harness.reporting import results
from harness.reporting.results import Line, RunLine, VerdictLine
from harness.reporting.terminal import STYLES, Terminal

if TYPE_CHECKING:
    from harness.cassette.model import Cassette
    from harness.reporting.difference import Difference

_MOST = 25  # rows of a kind of difference


@app.command()
def report(
    paths: Annotated[list[Path], typer.Argument(help="Results files (results.jsonl), or the folders that they lie in.")],
    html: Annotated[Path | None, typer.Option(help="Write one HTML file that needs nothing else.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown, short enough for a CI summary.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write SARIF 2.1.0.")] = None,
    badges: Annotated[Path | None, typer.Option(help="Write a badge for each adapter into this folder.")] = None,
    merge: Annotated[Path | None, typer.Option(help="Write the shards as one results file.")] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Compare two runs: new failures, mended, changed.")] = False,
    annotate: Annotated[bool, typer.Option("--annotate", help="Print what fails as annotations of GitHub Actions.")] = False,
    annotate_below: Annotated[str, typer.Option(help="The folder that annotations say the cassettes lie in.")] = "cassettes",
    cassettes: Annotated[Path | None, typer.Option(help="The cassettes of the run, for the streams in the HTML.")] = None,
    as_json: Annotated[bool, JSON] = False,
    ascii_only: Annotated[bool, ASCII] = False,
) -> None:
    """Render results again: HTML, Markdown, JUnit, SARIF, badges; merge shards; compare two runs."""
    runs = [list(results.read(_file(path))) for path in paths]
    for path, lines in zip(paths, runs, strict=True):
        if not any(isinstance(line, RunLine) for line in lines):
            raise InputError("no results of a run: its first line is missing", where=str(path), hint="give a results.jsonl")
    terminal = Terminal(Console(highlight=False), ascii=ascii_only)
    if diff:
        raise typer.Exit(_differ(runs, terminal, as_json=as_json))
    lines = _one(runs)
    if merge is not None:
        _write(
            merge,
            "".join(
                f"{results.dumped(line.model_dump(mode='json', exclude_none=isinstance(line, RunLine)))}\n" for line in lines
            ),
        )
    _render(lines, html=html, cassettes=cassettes, earlier=runs if len(runs) > 1 and merge is None else [])
    _documents(lines, markdown=markdown, junit=junit, sarif=sarif, badges=badges)
    if annotate:
        from harness.reporting import sarif as findings

        for command in findings.commands(_verdicts(lines), cassettes=annotate_below):
            typer.echo(command)
    if as_json:
        print_json(results.dumped(line.model_dump(mode="json")) for line in lines)


def _file(path: Path) -> Path:
    return path / "results.jsonl" if path.is_dir() else path


def _one(runs: list[list[Line]]) -> list[Line]:
    """The run itself, or its shards as one."""
    from harness.reporting.difference import merged

    return runs[0] if len(runs) == 1 else merged(runs)


def _verdicts(lines: list[Line]) -> list[VerdictLine]:
    return [line for line in lines if isinstance(line, VerdictLine)]


def _render(lines: list[Line], *, html: Path | None, cassettes: Path | None, earlier: list[list[Line]]) -> None:
    if html is None:
        return
    from harness import cassette
    from harness.reporting.html import render

    there: Iterable[Cassette] = ()
    with suppress(CassetteError) if cassettes is None else nullcontext():  # without the streams it is still a report
        there = list(cassette.load(cassettes or cassette.shipped()))
    _write(html, render(lines, cassettes=there, earlier=earlier))


def _documents(
    lines: list[Line], *, markdown: Path | None, junit: Path | None, sarif: Path | None, badges: Path | None
) -> None:
    from harness.reporting import badges as badge
    from harness.reporting import compatibility
    from harness.reporting import junit as xml
    from harness.reporting import sarif as log

    run = next(line for line in lines if isinstance(line, RunLine))
    cells = _verdicts(lines)
    if markdown is not None:
        _write(markdown, compatibility.render(run, cells))
    if junit is not None:
        _write(junit, xml.render(cells))
    if sarif is not None:
        _write(sarif, json.dumps(log.render(run.streamproof, cells), ensure_ascii=False, indent=1) + "\n")
    for name, svg in badge.render(cells).items() if badges is not None else ():
        _write(Path(str(badges)) / f"{name}.svg", svg)


def _differ(runs: list[list[Line]], terminal: Terminal, *, as_json: bool) -> int:
    from harness.reporting.difference import difference

    if len(runs) != 2:
        raise InputError("two runs are compared", hint="streamproof report --diff OLD NEW")
    found = difference(*runs)
    if as_json:
        rows = [("failure", line) for line in found.failures] + [("fixed", line) for line in found.fixed]
        rows += [("changed", now) for _, now in found.changed]
        rows += [("added", line) for line in found.added] + [("removed", line) for line in found.removed]
        print_json(results.dumped({"what": what, **line.model_dump(mode="json")}) for what, line in rows)
    else:
        _told(found, terminal)
    return 1 if found.worse else 0


def _told(found: Difference, terminal: Terminal) -> None:
    for title, lines in (
        ("new failures", found.failures),
        ("fixed", found.fixed),
        ("changed", [now for _, now in found.changed]),
    ):
        terminal.line(f"{len(lines)} {title}")
        for line in lines[:_MOST]:
            fault = f" · {line.fault}" if line.fault else ""
            what = f"{line.adapter} · {line.cassette}{fault} · {line.check.value} · {line.grade.value}"
            terminal.line((f"  {terminal.glyph(line.grade)} {what}", STYLES[line.grade]))
        if len(lines) > _MOST:
            terminal.line(f"  … and {len(lines) - _MOST} more; --json has them all")
    terminal.line(f"{len(found.added)} verdicts are in the new run only, {len(found.removed)} in the old one only")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path), hint="choose another place") from None
