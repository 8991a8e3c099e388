"""Writes docs/clients.md from the heads of the subjects: `python -m tools.adapter_docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.adapters import subjects

PAGE = Path("docs/clients.md")


def lines() -> Iterator[str]:
    there = list(subjects.load().values())
    paths = sum(len(subject.dialects) for subject in there)
    packages = {subject.package(dialect) for subject in there for dialect in subject.dialects}
    yield "# The clients that come along"
    yield ""
    yield f"{len(there)} subjects, {paths} paths over {len(packages)} packages; [how they are asked](adapters.md),"
    yield "[what they do](../reports/compatibility.md). Written by `python -m tools.adapter_docs`."
    yield ""
    yield "| client | language | dialect | package | no place for |"
    yield "|---|---|---|---|---|"
    for subject in there:
        for dialect in subject.dialects:
            omits = ", ".join(subject.omits(dialect)) or "–"
            package = f"{subject.package(dialect)} {subject.version(dialect)}"
            name = f"[{subject.name}](../subjects/{subject.file.name})" if dialect == subject.dialects[0] else ""
            yield f"| {name} | {subject.language} | {dialect} | {package} | {omits} |"


def page() -> str:
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
