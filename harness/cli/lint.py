"""`streamproof cassettes --lint`: whether anything in cassettes looks like a secret."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from harness import cassette as cassettes
from harness.cli.base import print_json
from harness.errors import InputError
from harness.reporting import results
from harness.reporting.terminal import Terminal

if TYPE_CHECKING:
    from harness.redacting import Leak


def lint(paths: list[Path], *, as_json: bool) -> int:
    """Print everything that looks like a secret, never the secret itself; how many there are. Cassettes are read one by one,
    and then what their files hold beside them."""
    from harness.redacting import leaks, leaks_beside, print_of

    terminal = Terminal(Console(highlight=False))
    count = read = 0
    for path in paths or [cassettes.shipped()]:
        prints = set()
        for case in cassettes.load(path):
            read += 1
            prints |= {print_of(side) for side in (case.stream, case.reference) if side is not None}
            count += _told(((case.id, leak) for leak in leaks(case)), terminal, as_json=as_json)
        count += _told(((str(file), leak) for file, leak in leaks_beside(path, prints)), terminal, as_json=as_json)
    if not read and not count:
        names = ", ".join(map(str, paths))
        raise InputError("no cassette there", where=names, hint="give a cassette or a folder of them")
    if not as_json:
        terminal.line(f"{read} cassettes, {count} {'place looks' if count == 1 else 'places look'} like secrets")
    return count


def _told(found: Iterable[tuple[str, Leak]], terminal: Terminal, *, as_json: bool) -> int:
    """Print places with the names of what they stand in; how many there are."""
    count = 0
    for name, leak in found:
        count += 1
        row = {"id": name, "kind": leak.kind, "side": leak.side, "part": leak.part, "offset": leak.offset}
        if as_json:
            print_json([results.dumped({**row, "looks": leak.looks})])
        else:
            terminal.line(f"{name}: {leak}")
    return count
