"""Small helpers of the rules: how values are shown and compared, whatever they are."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from harness.edits import pointer

_LONGEST = 60


class Unlike(NamedTuple):
    """Where two JSON values differ first, and what stands there; None for nothing."""

    path: str
    one: Any
    other: Any


def shown(value: Any) -> str:
    """A value in a message: short, in one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]}…'"


def unlike(one: Any, other: Any, ignored: AbstractSet[str] = frozenset()) -> Unlike | None:
    """The first difference between two JSON values, fields of the names `ignored` left out."""
    pairs = [("", one, other)]
    while pairs:
        path, mine, its = pairs.pop()
        if isinstance(mine, dict) and isinstance(its, dict):
            names = [name for name in {**mine, **its} if name not in ignored]
            for name in names:
                if (name in mine) is not (name in its):
                    return Unlike(path + pointer((name,)), mine.get(name), its.get(name))
            pairs += [(path + pointer((name,)), mine[name], its[name]) for name in reversed(names)]
        elif isinstance(mine, list) and isinstance(its, list):
            if len(mine) != len(its):
                return Unlike(path, f"{len(mine)} elements", f"{len(its)} elements")
            pairs += [(f"{path}/{place}", *both) for place, both in reversed([*enumerate(zip(mine, its, strict=True))])]
        elif type(mine) in _CONTAINERS or type(its) in _CONTAINERS or _sort(mine) is not _sort(its) or mine != its:
            return Unlike(path, mine, its)
    return None


_CONTAINERS = (dict, list)


def _sort(value: Any) -> type:
    """The type of a scalar; numbers are of one sort, truth values are not numbers."""
    return float if type(value) is int else type(value)


def number(value: Any) -> bool:
    """Whether the value is an integer, as indexes and counts are."""
    return type(value) is int


def text(value: Any) -> bool:
    """Whether the value is a string that says something."""
    return isinstance(value, str) and bool(value)
