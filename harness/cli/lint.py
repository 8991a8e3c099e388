"""`streamproof cassettes --lint`: whether anything in cassettes looks like a secret."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from harness import cassette as cassettes
from harness.cli.base import print_json
from harness.errors import InputError
from harness.reporting import results
from harness.reporting.terminal import Terminal


def lint(paths: list[Path], *, as_json: bool) -> int:
    """Print everything that looks like a secret, never the secret itself; how many there are. Cassettes are read one by one."""
    from harness.redacting import leaks

    terminal = Terminal(Console(highlight=False))
    count = read = 0
    for path in paths or [cassettes.shipped()]:
        for case in cassettes.load(path):
            read += 1
            for leak in leaks(case):
                count += 1
                row = {"id": case.id, "kind": leak.kind, "side": leak.side, "part": leak.part, "offset": leak.offset}
                if as_json:
                    print_json([results.dumped({**row, "looks": leak.looks})])
                else:
                    terminal.line(f"{case.id}: {leak}")
    if not read:
        names = ", ".join(map(str, paths))
        raise InputError("no cassette there", where=names, hint="give a cassette or a folder of them")
    if not as_json:
        terminal.line(f"{read} cassettes, {count} {'place looks' if count == 1 else 'places look'} like secrets")
    return count
