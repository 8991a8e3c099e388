"""The cassettes that a command was given, and the known deviations that go with them."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from harness import cassette as cassettes
from harness.cassette.model import Cassette
from harness.cli import settings
from harness.conformance import known as known_deviations
from harness.conformance.trace import Trace
from harness.conformance.verdict import Verdict
from harness.dialects import dialect as dialect_called
from harness.errors import InputError, Where


class Selection:
    """The cassettes that a command was given, each with the path it came from."""

    def __init__(self, paths: list[Path], shard: str | None = None) -> None:
        self.names = [str(path) for path in paths] or ["shipped cassettes"]
        self._paths = list(dict.fromkeys(paths)) or [cassettes.shipped()]
        self.partial = any(path.is_file() for path in self._paths)
        """Whether only some of the cassettes of a folder are looked at."""
        self._sharded = False
        self.cassettes: list[Cassette] = []
        self._from: dict[str, list[Path]] = defaultdict(list)
        self._called: dict[str, list[Cassette]] = defaultdict(list)
        for path in self._paths:
            for case in cassettes.load(path):
                self.cassettes.append(case)
                self._from[case.id].append(path)
                self._called[case.id].append(case)
        if shard is not None:
            number, count = _part(shard)
            self.cassettes = self.cassettes[number - 1 :: count]
            self.partial = self._sharded = True
            self.names.append(f"shard {shard}")
        if not self.cassettes:
            raise InputError("no cassette there", where=", ".join(self.names), hint="give a cassette or a folder of them")

    def known(self) -> Iterator[known_deviations.Known]:
        """The known.toml files in the folders given, for the cassettes beside them."""
        for path in self._paths:
            for file in sorted(path.rglob(known_deviations.FILE)) if path.is_dir() else ():
                yield from known_deviations.load(file, below=_below(file.parent), partial=self._sharded)
            if path.is_file() and (file := path.parent / known_deviations.FILE).is_file():
                yield from known_deviations.load(file, below=_below(file.parent), partial=True)

    def body_of(self, where: Where) -> bytes | None:
        """The response body that a place lies in; None where two cassettes share the name."""
        cases = self._called.get(where.cassette or "", [])
        side = (cases[0].stream, cases[0].reference)[where.exchange or 0] if len(cases) == 1 else None
        return Trace(side, dialect_called(cases[0].dialect)).body if side is not None else None

    def again(self, verdict: Verdict) -> str:
        """The command that shows a verdict again."""
        paths = (_narrowest(path, verdict.cassette) for path in self._from[verdict.cassette])
        return f"streamproof run {' '.join(shlex.quote(str(path)) for path in dict.fromkeys(paths))}"


def _part(shard: str) -> tuple[int, int]:
    """The number and the count of `2/3`."""
    number, slash, count = shard.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise InputError(f"no shard is called {shard!r}", hint="write --shard 2/3 for the second of three")
    return int(number), int(count)


def _narrowest(path: Path, name: str) -> Path:
    """The file or folder of a cassette below the path that it came from, if it stands where its name says."""
    parts = name.split("/")
    inner = (path.joinpath(*parts[number:]) for number in range(len(parts)) if path.is_dir())
    return next((p for one in inner for p in (one, one.with_name(f"{one.name}.yaml")) if p.exists()), path)


def _below(folder: Path) -> str:
    """The start of the ids of the cassettes in a folder `<dialect>/<provider>`."""
    return "/".join(Path(os.path.abspath(folder)).parts[-2:])  # not resolved: a link is called what it is called


def configured(given: list[Path] | None, *, partial: bool) -> Iterator[known_deviations.Known]:
    """The known deviations in the files given, and in those that `known` of [tool.streamproof] names in the pyproject.toml of
    this folder."""
    for path in [*(given or []), *_in_project(Path("pyproject.toml"))]:
        yield from known_deviations.load(path, partial=partial)


def _in_project(project: Path) -> list[Path]:
    listed = settings.table(project).get("known", [])
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        hint = 'write known = ["FILE"]'
        raise InputError("known must be a list of file names", where=f"{project} [tool.streamproof]", hint=hint)
    return [project.parent / entry for entry in listed]
