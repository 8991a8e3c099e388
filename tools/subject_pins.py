"""Writes `subjects/pins/`: what each Python subject's environment holds, so that a run in a year's time asks the same programs.

    python -m tools.subject_pins [NAME...]

A file is written anew from an environment that is built without it: that takes the newest versions that the head of the subject
allows. Needs the package registry.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.adapters import environments, subjects
from harness.adapters.subjects import Subject


def main(names: list[str]) -> None:
    for subject in subjects.load().values():
        if subject.language != "python" or not subject.dependencies or (names and subject.name not in names):
            continue
        _write(subject)


def _write(subject: Subject) -> None:
    """Write a subject's pins; the old ones stay where the new environment cannot be built."""
    before = subject.pins.read_text(encoding="utf-8") if subject.pins.is_file() else None
    subject.pins.unlink(missing_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            told = _frozen(environments.build(subject, Path(folder), print))
    except BaseException:
        if before is not None:
            subject.pins.write_text(before, encoding="utf-8")
        raise
    subject.pins.parent.mkdir(exist_ok=True)
    subject.pins.write_text(told, encoding="utf-8")


def _frozen(where: Path) -> str:
    uv = shutil.which("uv") or "uv"
    asked = [uv, "pip", "freeze", "--python", str(where / "bin" / "python")]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1:])
