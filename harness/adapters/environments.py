"""One environment for each subject: built once, from pinned versions, with `uv` or `pip` and with `npm`.

An environment lies in a folder whose name says what was pinned: another pin is another environment, and one that was not
finished is built anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.adapters.protocol import TEMPLATES
from harness.adapters.subjects import Subject
from harness.errors import HarnessError

_MINUTES = 20
_DONE = ".complete"


class BuildError(HarnessError):
    """An environment cannot be built."""

    usual_hint = "is the package registry reachable? --environments chooses another folder"


def home() -> Path:
    """Where environments are kept unless told otherwise: `STREAMPROOF_ENVIRONMENTS`, or the user's cache."""
    told = os.environ.get("STREAMPROOF_ENVIRONMENTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(told) if told else cache / "streamproof" / "environments"


def command(subject: Subject, where: Path) -> list[str]:
    """The command that starts a subject whose environment is in `where`."""
    if subject.language == "node":
        return ["node", str(where / subject.file.name)]
    if subject.said_version is not None:  # a program that stands on its own feet
        return [str(subject.file)]
    python = str(_python(where)) if subject.dependencies else sys.executable  # ours needs nothing but what we are made of
    folders = [TEMPLATES, subject.file.parent / "shared", *([] if subject.dependencies else [_OURSELVES])]
    return [python, "-I", "-c", _LAUNCH.format(folders=list(map(str, folders)), file=str(subject.file))]


_LAUNCH = "import runpy, sys; sys.path[:0] = {folders!r}; runpy.run_path({file!r}, run_name='__main__')"
_OURSELVES = TEMPLATES.parents[3]  # the folder that our own package stands in


def build(subject: Subject, within: Path, told: Callable[[str], None] = lambda _: None) -> Path:
    """The folder of the subject's environment, built if it is not there. Raises `BuildError`."""
    if subject.said_version is not None:
        return subject.file.parent
    where = within / f"{subject.name}-{_digest(subject)}"
    if not (where / _DONE).is_file() and (subject.dependencies or subject.language == "node"):
        told(f"building the environment of {subject.name}")
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir(parents=True)
        (_node if subject.language == "node" else _venv)(subject, where)
        (where / _DONE).touch()
    if subject.language == "node":  # modules are looked for beside the program
        shared = sorted((subject.file.parent / "shared").glob("*.mjs"))
        for file in (subject.file, TEMPLATES / "streamproof_subject.mjs", *shared):
            shutil.copy(file, where / file.name)
    return where


def _digest(subject: Subject) -> str:
    pins = subject.pins.read_bytes() if subject.pins.is_file() else b""
    said = json.dumps([sorted(subject.dependencies), pins.decode(), sys.version_info[:2]])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _venv(subject: Subject, where: Path) -> None:
    wanted = [*subject.dependencies, *(["-c", str(subject.pins)] if subject.pins.is_file() else [])]
    uv = shutil.which("uv") or _beside("uv")
    if uv:
        _run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(where)], subject)
        _run([uv, "pip", "install", "--quiet", "--python", str(_python(where)), *wanted], subject)
    else:
        _run([sys.executable, "-m", "venv", str(where)], subject)
        _run([str(_python(where)), "-m", "pip", "install", "--quiet", *wanted], subject)


def _node(subject: Subject, where: Path) -> None:
    pinned = dict(dependency.rsplit("@", 1) for dependency in subject.dependencies)
    (where / "package.json").write_text(json.dumps({"private": True, "type": "module", "dependencies": pinned}))
    quiet = ["--silent", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    _run(["npm", "install", *quiet, "--prefix", str(where)], subject)


def _beside(name: str) -> str | None:
    file = Path(sys.executable).parent / name
    return str(file) if file.is_file() else None


def _python(where: Path) -> Path:
    return where / "Scripts" / "python.exe" if os.name == "nt" else where / "bin" / "python"


def _run(words: Sequence[str], subject: Subject) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_MINUTES * 60, check=False)  # noqa: S603 - our own words
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{words[0]} did not run: {error}", where=subject.name) from None
    if done.returncode:
        raise BuildError(f"{words[0]} failed: {(done.stderr or done.stdout)[-800:]}", where=subject.name)
