"""`python -m bench [--json FILE] [--rounds N] [--only NAME]`: the table on stdout, the figures in a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from bench import figures
from bench.measure import Figure
from harness import UnsupportedDialectError, dialect

_ROW = "{:<32} {:<19} {:>7} {:>8} {:<19} {:>9} {:>8}  {}"


def main() -> None:
    arguments = _arguments()
    print(_ROW.format("name", "dialect", "events", "ratio", "of", "us/event", "bar", ""))
    rows = []
    for figure in _measured(frozenset(arguments.only), arguments.rounds):
        print(_row(figure), flush=True)
        rows.append(figure.as_json())
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    names = [*figures.BY_DIALECT, *figures.ONCE, *figures.DIALECTS]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Our speed and size, in ratios.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="measure each case N times (default: 15)")
    help = f"only this measurement or dialect; may be given several times: {', '.join(names)}"
    parser.add_argument("--only", action="append", default=[], choices=names, metavar="NAME", help=help)
    return parser.parse_args()


def _measured(only: frozenset[str], rounds: int) -> Iterator[Figure]:
    """The figures asked for: those of the named measurements, of the named dialects; of all where none is named."""
    here = [name for name in figures.DIALECTS if _registered(name)]
    dialects = [name for name in here if name in only or only.isdisjoint(figures.DIALECTS)]
    unnamed = only.isdisjoint([*figures.BY_DIALECT, *figures.ONCE])
    for name, measure in figures.BY_DIALECT.items():
        if name in only or unnamed:
            for each in dialects:
                yield from measure(each, rounds)
    for name, measure_once in figures.ONCE.items():
        if name in only or not only:
            yield from measure_once(rounds)


def _registered(name: str) -> bool:
    try:
        dialect(name)
    except UnsupportedDialectError:
        print(f"{name}: skipped, there is no such dialect yet")
        return False
    return True


def _row(figure: Figure) -> str:
    bar = "" if figure.bar is None else f"{'>=' if figure.at_least else '<='} {figure.bar:g}"
    median = "" if figure.median is None else f"{figure.median:,.2f}"
    events = "" if figure.events is None else f"{figure.events:,}"
    return _ROW.format(
        figure.name, figure.dialect or "", events, f"{figure.ratio:.2f}", figure.against, median, bar, figure.verdict
    ).rstrip()


if __name__ == "__main__":
    main()
