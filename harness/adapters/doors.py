"""The systems under test that a command line names: subjects that come along, files of one's own, and any program that speaks
the process protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from harness import dialects
from harness.adapters import subjects
from harness.adapters.process import Answer, Process
from harness.adapters.subjects import Subject
from harness.errors import HarnessError, InputError

_HINT = "`streamproof adapters` lists them; a file of your own is given by its path, as ./my_client.py"


class DoorError(HarnessError):
    """A program does not say who it is."""

    usual_hint = "docs/adapters.md tells of the process protocol, and where its templates are"


def named(names: Iterable[str], where: Path | None = None) -> list[Subject]:
    """The subjects of these names, each once, in the order of the names. A name may be a glob over those that come along, the
    path of a subject file, or that of a program. Raises `InputError` and `DoorError`."""
    there = subjects.load(where)
    found: dict[str, Subject] = {}
    for name in names:
        for subject in _meant(name, there):
            found.setdefault(subject.name, subject)
    return list(found.values())


def called(subject: Subject) -> str:
    """What a command line calls a subject: its name, or the path of one that did not come along."""
    if subject.file.parent == subjects.folder():
        return subject.name
    shown = os.path.relpath(subject.file)
    return str(subject.file) if shown.startswith("..") else os.path.join(".", shown)


def _meant(name: str, there: Mapping[str, Subject]) -> Iterator[Subject]:
    if name in there:
        yield there[name]
    elif os.sep in name or "/" in name:
        yield _at(Path(name))
    elif matching := [subject for key, subject in there.items() if fnmatchcase(key, name)]:
        yield from matching
    else:
        close = get_close_matches(name, there, n=3)
        hint = f"did you mean {', '.join(close)}? {_HINT}" if close else _HINT
        raise InputError(f"no adapter is called {name!r}", hint=hint)


def _at(file: Path) -> Subject:
    """The subject of a file: by what stands in its first lines, or by what it says of itself when it is started."""
    if not file.is_file():
        raise InputError("no such file", where=str(file), hint=_HINT)
    if file.suffix in subjects.LANGUAGES:
        return subjects.read(file.absolute())
    if not os.access(file, os.X_OK):
        hint = f"make it executable: chmod +x {file}"
        raise InputError("neither a subject file (.py, .mjs) nor a program", where=str(file), hint=hint)
    process = Process([str(file.absolute())], about={"name": file.stem})
    try:
        told = process.describe()
    finally:
        process.close()
    if isinstance(told, Answer):
        raise DoorError(f"no answer to describe: {told.evidence}", where=str(file))
    unknown = [name for name in told.dialects if name not in dialects.names()]
    if unknown or not told.dialects:
        hint = f"there are: {', '.join(dialects.names())}"
        raise DoorError(f"speaks no dialect called {', '.join(unknown) or 'anything'}", where=str(file), hint=hint)
    name = re.sub(r"[^\w.-]+", "-", told.name) or file.stem
    packages = {"*": told.name}
    return Subject(
        name=name,
        file=file.absolute(),
        language=told.language,
        dialects=tuple(told.dialects),
        packages=packages,
        said_version=told.version,
    )
