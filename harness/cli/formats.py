"""`streamproof import` and `streamproof export`: cassettes of other programs' recordings, and for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from harness import cassette as cassettes
from harness.cassette.model import Cassette
from harness.cli.base import JSON, app, print_json
from harness.errors import InputError
from harness.reporting import results
from harness.reporting.terminal import Terminal

_LONG = 8 << 20  # bytes from which on a progress bar is worth it


@app.command(name="import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Recordings of other programs; folders of exchange folders.")],
    to: Annotated[Path, typer.Option(help="The folder that cassettes are written to.")] = Path("cassettes"),
    form: Annotated[str | None, typer.Option("--format", help="The format, where it should not be found out.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The API, where it should not be detected.")] = None,
    provider: Annotated[str | None, typer.Option(help="Who answered. Default: known by the host.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that answered. Default: the one asked for.")] = None,
    url: Annotated[str | None, typer.Option(help="Where the request went, for recordings without one.")] = None,
    head: Annotated[Path | None, typer.Option(help="The head of the response (curl -D), for a bare body.")] = None,
    request: Annotated[Path | None, typer.Option(help="The body of the request, for recordings without one.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over cassettes that are there.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Make cassettes of recordings; secrets are covered, and what a format could not keep is told."""
    from harness.importing import Import, Told
    from harness.importing.making import check_free
    from harness.redacting import redacted

    told = Told(dialect=dialect, provider=provider, model=model, url=url, head=head, request=request)
    say = Terminal(Console(stderr=True, highlight=False))
    show = Terminal(Console(highlight=False))
    done: set[Path] = set()
    for path in paths:
        with (
            _reading(path, quiet=as_json) as advance,
            Import(path, told, form=form, clean=redacted, progress=advance) as job,
        ):
            wanted = [_file(to, name) for name in job.names]
            check_free(wanted, force=force, written=done)
            done.update(wanted)
            for made in job:
                file = _file(to, made.cassette.id)
                cassettes.save(made.cassette, file)
                if as_json:
                    print_json([results.dumped(_row(made.cassette, file, job.form, made.lost))])
                else:
                    show.line(f"{file}  {_sides(made.cassette)}")
                    _tell(say, made.lost)
            for reason, count in job.passed.items():
                say.line(f"passed over: {count} × {reason}")


@app.command()
def export(
    paths: Annotated[list[Path], typer.Argument(help="Cassettes, or folders of them.")],
    form: Annotated[str, typer.Option("--format", help="vcrpy, har, raw or pytest.")],
    to: Annotated[Path, typer.Option(help="The folder that files are written to.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Write cassettes in formats of other programs: vcrpy, HAR, raw files, a test that stands alone."""
    from harness import exporting

    show = Terminal(Console(highlight=False))
    for path in paths:
        found = False
        for case in cassettes.load(path):
            found = True
            folder = _file(to, case.id).parent if path.is_dir() else to
            written = exporting.write(case, form, folder, force=force)
            if as_json:
                print_json([results.dumped({"id": case.id, "files": [str(file) for file in written]})])
            else:
                for file in written:
                    show.line(str(file))
        if not found:
            raise InputError("no cassette there", where=str(path), hint="give a cassette or a folder of them")


def _file(to: Path, name: str) -> Path:
    """The file of a cassette, which is below the folder whatever the id says."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or parts[0] == "/":
        raise InputError(f"the id {name!r} is no path below a folder", where=str(to), hint="correct the id in its metadata")
    return to / f"{name.replace('#', '-')}.yaml"


def _row(case: Cassette, file: Path, form: str, lost: tuple[str, ...]) -> dict[str, Any]:
    side = case.stream or case.reference
    return {
        "path": str(file),
        "id": case.id,
        "format": form,
        "dialect": case.dialect,
        "provider": case.provider,
        "model": case.model,
        "stream": case.stream is not None,
        "reference": case.reference is not None,
        "wire": side.wire if side is not None else None,
        "lost": list(lost),
    }


def _sides(case: Cassette) -> str:
    side = case.stream or case.reference
    kind = "stream + twin" if case.stream and case.reference else "stream" if case.stream else "plain"
    return f"{kind}, wire: {side.wire}" if side is not None and side.wire != "original" else kind


def _tell(say: Terminal, lost: tuple[str, ...]) -> None:
    if lost:
        say.line(f"  not kept: {', '.join(lost)}")


@contextmanager
def _reading(path: Path, *, quiet: bool) -> Iterator[Callable[[int], object] | None]:
    """A progress bar on standard error, where that is a terminal and the file is long."""
    console = Console(stderr=True)
    size = path.stat().st_size if path.is_file() else 0
    if quiet or size < _LONG or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=size)
        yield lambda done: bar.update(task, completed=done)
