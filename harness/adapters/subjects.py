"""Subjects: other people's clients, one file each, that say in their first lines what they need and speak.

    # /// script
    # dependencies = ["openai==3.57.0"]
    #
    # [tool.streamproof]
    # packages = {"*" = "openai"}
    # dialects = ["openai-chat", "openai-responses"]
    # ///

`dialects = ["*"]` are all of them. The block is that of Python's inline script metadata; in other languages its lines begin
with that language's comment. The file's name, with `-` for `_`, is the subject's.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from harness import __version__, dialects
from harness.errors import InputError

_BLOCK = re.compile(r"^(#|//) /// script\s*\n(?P<lines>(?:\1.*\n)+?)\1 ///\s*$", re.MULTILINE)
_PIN = re.compile(r"(?P<name>@?[^@=\s\[]+)(\[[^\]]*\])?(==|@)(?P<version>[^\s;]+)")
LANGUAGES = {".py": "python", ".mjs": "node"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A client under test: the program that drives it, what it needs, what it speaks."""

    name: str
    file: Path
    language: str
    dependencies: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    packages: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    """Variables that keep the client from talking to anybody but the server: telemetry switched off, and the like."""
    silent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Facts that the client's own types have no place for, by dialect (`*`: all): finish, reasoning, id, usage, or a count."""
    said_version: str | None = None
    """Of a program that is not installed by us, the version that it told when it was asked."""

    @property
    def pins(self) -> Path:
        """What else is installed, at which version: one requirement on each line."""
        return self.file.parent / "pins" / f"{self.name}.txt"

    def package(self, dialect: str | None = None) -> str:
        """The package that speaks a dialect, or the one that the client is named after."""
        return self.packages.get(dialect or "*") or self.packages.get("*") or next(iter(self.packages.values()), self.name)

    def omits(self, dialect: str) -> tuple[str, ...]:
        """The facts that the client has no place for where it speaks a dialect."""
        return (*self.silent.get("*", ()), *self.silent.get(dialect, ()))

    def version(self, dialect: str | None = None) -> str:
        """The version of that package: our own is that of the harness."""
        name = self.package(dialect)
        if self.said_version is not None:
            return self.said_version
        return __version__ if name == "streamproof" else self._pinned().get(name, "unknown")

    def _pinned(self) -> dict[str, str]:
        """The version of each package that is pinned, by its name: `openai==3.57.0`, `@google/genai@2.0.0`."""
        pins = self.pins.read_text(encoding="utf-8").split("\n") if self.pins.is_file() else []
        found = (_PIN.match(line) for line in (*pins, *self.dependencies))
        return {match["name"]: match["version"] for match in found if match is not None}


def folder() -> Path:
    """The subjects that come with the package: inside an installed one, beside the code in a checkout."""
    package = Path(str(resources.files("harness")))
    installed, checkout = package / "_subjects", package.parent / "subjects"
    return installed if installed.is_dir() else checkout


def load(where: Path | None = None) -> dict[str, Subject]:
    """All subjects in a folder, by name. Raises `InputError` for a file that does not say what it is."""
    files = sorted(file for file in (where or folder()).glob("*") if file.suffix in LANGUAGES)
    return {subject.name: subject for subject in map(read, files)}


def read(file: Path) -> Subject:
    """The subject that a file holds. Raises `InputError`."""
    hint = "harness/adapters/subjects.py says how a subject begins"
    found = _BLOCK.search(file.read_text(encoding="utf-8"))
    if found is None:
        raise InputError("no `/// script` block", where=str(file), hint=hint)
    lines = [line.removeprefix(found[1]).removeprefix(" ") for line in found["lines"].splitlines()]
    try:
        told: dict[str, Any] = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"its `/// script` block is no TOML: {error}", where=str(file), hint=hint) from None
    own = told.get("tool", {}).get("streamproof", {})
    if not own.get("dialects"):
        raise InputError(
            "says no dialect that it speaks", where=str(file), hint=f'write dialects = ["{dialects.names()[0]}"] in its head'
        )
    return Subject(
        name=file.stem.replace("_", "-"),
        file=file,
        language=LANGUAGES[file.suffix],
        dependencies=tuple(told.get("dependencies", ())),
        dialects=tuple(spoken for name in own.get("dialects", ()) for spoken in _spoken(name)),
        packages=dict(own.get("packages", {})),
        environ=dict(own.get("environ", {})),
        silent={dialect: tuple(facts) for dialect, facts in own.get("omits", {}).items()},
    )


def _spoken(name: str) -> tuple[str, ...]:
    """The dialects that a name means: `*` is every one."""
    return dialects.names() if name == "*" else (dialects.dialect(name).name,)
