"""Addresses of the replay server: everything that it is told stands in the path, so that a base URL is all a client needs.

    /s/<session>/c/<cassette id>/f/<fault>/f/<fault>/v1/chat/completions

The steps `s`, `c` and `f` stand in any order before what the client appends. Cassettes are looked up by their ids among those
that were loaded, never as files, so no path leads anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote

_SAFE = "-._~:+=,@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A target taken apart; `rest` is what the client appended, with its query. `lost` is a cassette id that nobody knows."""

    session: str | None = None
    cassette: str | None = None
    faults: tuple[str, ...] = ()
    rest: str = "/"
    lost: str | None = None

    @property
    def key(self) -> tuple[str | None, str | None, tuple[str, ...]]:
        """What requests are counted by."""
        return self.session, self.cassette, self.faults


def parse(target: str, known: Callable[[str], bool], deepest: int) -> Address:
    """Take a target apart. `known` says whether a cassette has that id, `deepest` how many steps an id has at most."""
    path, mark, query = _below_host(target).partition("?")
    steps = path.split("/")[1:]
    told: dict[str, str] = {}
    faults: list[str] = []
    while len(steps) > 1 and steps[0] in ("s", "c", "f"):
        kind, steps = steps[0], steps[1:]
        if kind == "f":
            faults.append(unquote(steps[0]))
            taken = 1
        elif kind in told:
            steps = [kind, *steps]  # said already: it is the client's own
            break
        elif kind == "s":
            told["s"] = unquote(steps[0])
            taken = 1
        else:
            taken = _length(steps, known, deepest)
            told["c"] = "/".join(unquote(step) for step in steps[: taken or 3])
            if not taken:
                return Address(session=told.get("s"), faults=tuple(faults), lost=told["c"])
        steps = steps[taken:]
    rest = "/" + "/".join(steps) + mark + query
    return Address(session=told.get("s"), cassette=told.get("c"), faults=tuple(faults), rest=rest)


def path_of(cassette: str | None, *faults: str, session: str | None = None) -> str:
    """The path before what the client appends; it ends without a slash."""
    steps = ["s", session] if session is not None else []
    steps += ["c", *cassette.split("/")] if cassette is not None else []
    for fault in faults:
        steps += ["f", fault]
    return "".join(f"/{quote(step, safe=_SAFE)}" for step in steps)


def _length(steps: list[str], known: Callable[[str], bool], deepest: int) -> int:
    """How many of the steps are the id of a cassette: the longest one wins. 0 if none is."""
    names = [unquote(step) for step in steps[:deepest]]
    return next((n for n in range(len(names), 0, -1) if known("/".join(names[:n]))), 0)


def _below_host(target: str) -> str:
    """A target without the host that clients put before it when they take us for their HTTP proxy."""
    if target.startswith("/"):
        return target
    _, mark, rest = target.partition("://")
    return "/" + rest.partition("/")[2] if mark else "/" + target
