"""Writes the published matrix, `reports/compatibility.*`, from the results of a run.

    python -m tools.publish RESULTS TO.jsonl

Times are left out and long values cut, so that two runs of one state differ in what they found and in nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness import cassette
from harness.reporting import compatibility, html, results

_LONGEST = 300  # characters of a value


def main(source: Path, to: Path) -> None:
    lines = list(results.read(source))
    to.parent.mkdir(exist_ok=True)
    with to.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            told = line.model_dump(mode="json", exclude_none=line.type == "run")
            told.update({"ms": 0.0} if line.type == "verdict" else {"seconds": 0.0} if line.type == "summary" else {})
            file.write(results.dumped(_short(told)) + "\n")
    (run,) = (line for line in lines if isinstance(line, results.RunLine))
    cells = [line for line in lines if isinstance(line, results.VerdictLine)]
    to.with_suffix(".md").write_text(compatibility.render(run, cells), encoding="utf-8")
    to.with_suffix(".html").write_text(
        html.render(list(results.read(to)), cassettes=cassette.load(cassette.shipped())), encoding="utf-8"
    )


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items() if name != "where" or inner != {}}
    return [_short(inner) for inner in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
