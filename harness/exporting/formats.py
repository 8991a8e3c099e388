"""The formats that a cassette can be written in, and the writing of files: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath

from harness.cassette.model import Cassette
from harness.errors import InputError

Files = dict[str, bytes]
"""What is to be written, by paths below a folder."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its `name`, `what` it is, the module that renders it."""

    name: str
    what: str
    module: str

    def files(self, cassette: Cassette) -> Files:
        """The files of a cassette in this format. Raises `InputError` for what the format cannot hold."""
        render: Callable[[Cassette], Files] = import_module(f"harness.exporting.{self.module}").render
        return render(cassette)


FORMATS = {
    found.name: found
    for found in (
        Format("vcrpy", "a cassette of vcrpy with nothing of ours in it", "vcr"),
        Format("har", "an HTTP Archive; times of pieces stand in a field of our own", "har"),
        Format("raw", "exchange folders: heads, bodies and times as files", "raw"),
        Format("pytest", "a test that serves the recording on loopback and needs nothing of ours", "pytest_module"),
    )
}


def scenario_of(cassette: Cassette) -> str:
    """The last part of the id: what its files are called."""
    return PurePosixPath(cassette.id.replace("#", "-")).name


def write(cassette: Cassette, format: str, folder: Path, *, force: bool = False) -> list[Path]:
    """Write a cassette into a folder; the paths of its files. Raises `InputError`, before anything is written if a file is
    there already and not to be written over."""
    if format not in FORMATS:
        raise InputError(f"no format is called {format!r}", hint=f"there are {', '.join(FORMATS)}")
    files = {folder / name: data for name, data in FORMATS[format].files(cassette).items()}
    taken = next((path for path in files if path.exists()), None)
    if taken is not None and not force:
        raise InputError("is there already", where=str(taken), hint="--force writes over it, --to takes another folder")
    for path, data in files.items():
        _write(path, data)
    return list(files)


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from None
