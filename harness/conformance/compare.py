"""Is the collected body the reference body? A cheap, type-strict comparison in two modes.

`exact`: equal values are expected (temperature 0, or the same recording). `shape`: the two answers were sampled apart, so the
key → type trees are compared. Null and absent are two things in both modes; so are 1, 1.0, "1" and true.

In shape mode the objects that stand at one place (the elements of a list) are merged by their kind: what every object of a
kind has must stand in every object of that kind on the other side, so that a field lost from one of three calls is seen.
Values of enumerated fields are compared. A kind of part that only one side has (a tool call where the other answered in
text) is not compared, since sampling decides that.

The path sets of the dialect excuse a difference; which entry did is told, so that an entry that excuses nothing can be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from harness.collector import same
from harness.dialects import Dialect
from harness.edits import Path, pointer


class _Absent(str):
    """No recorded text is it, whatever it says."""


ABSENT = _Absent("(absent)")
"""Stands for a value that is not there: known by identity, shown by its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference at `path` (a JSON pointer; `*` stands for any element). `excuse` is `SET: ENTRY` if a set covers it;
    `free` tells that it lies in data of the user's or the model's own and was found by shape: sampling may be its reason."""

    path: str
    kind: Literal["absent", "extra", "value", "type", "word"]
    expected: Any
    got: Any
    excuse: str | None = None
    free: bool = False


def compare(reference: Any, collected: Any, dialect: Dialect, match: Literal["exact", "shape"]) -> list[Difference]:
    """All differences between a reference body and a collected one, the excused ones included."""
    exact = match == "exact"
    found = _exact(reference, collected, ()) if exact else _Shapes(dialect).differences(reference, collected)
    return [
        Difference(
            path=_shown(met.path),
            kind="absent" if met.got is ABSENT else "extra" if met.expected is ABSENT else met.kind,
            expected=met.expected,
            got=met.got,
            excuse=_excuse(dialect, met, exact=exact),
            free=not exact and dialect.free.covers(met.path[:-1]) is not None,
        )
        for met in found
    ]


class _Met(NamedTuple):
    """A difference as the walk meets it."""

    path: Path
    expected: Any
    got: Any
    kind: Literal["value", "type", "word"] = "type"


_Found = Iterator[_Met]
_Groups = dict[str | None, list[dict[str, Any]]]


def _exact(expected: Any, got: Any, path: Path) -> _Found:
    if same(expected, got):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in {**expected, **got}:
            yield from _exact(expected.get(name, ABSENT), got.get(name, ABSENT), (*path, name))
    elif isinstance(expected, list) and isinstance(got, list):
        for i in range(max(len(expected), len(got))):
            one = expected[i] if i < len(expected) else ABSENT
            other = got[i] if i < len(got) else ABSENT
            yield from _exact(one, other, (*path, i))
    else:
        yield _Met(path, expected, got, "value")


def _excuse(dialect: Dialect, met: _Met, *, exact: bool) -> str | None:
    """The entry that excuses a difference. What is volatile must still be there, and of its type, or null on one side."""
    expected, got = met.expected, met.got
    name, places = "volatile", dialect.volatile
    if got is ABSENT:
        name, places = "unsent", dialect.unsent
    elif expected is ABSENT:
        name, places = "padding", dialect.padding
    elif not exact or (None not in (expected, got) and type(expected) is not type(got)):
        return None
    entry = places.covers(met.path)
    return None if entry is None else f"{name}: {entry}"


def _shown(path: Path) -> str:
    return pointer(tuple("*" if step == _ANY else step for step in path))


_ANY = -1  # the step to any element of a list


class _Shapes:
    """Compares the shapes of two bodies of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def differences(self, reference: Any, collected: Any) -> _Found:
        yield from self._values([reference], [collected], ())

    def _values(self, expected: list[Any], got: list[Any], path: Path) -> _Found:
        """Compare what stands at one place: all values that it has on either side."""
        kinds = {_kind(v) for v in expected}, {_kind(v) for v in got}
        if path in self._dialect.nullable or path in self._dialect.parts:
            kinds = kinds[0] - {"null"} or kinds[1] - {"null"}, kinds[1] - {"null"} or kinds[0] - {"null"}
        if not _compatible(*kinds):
            yield _Met(path, _named(kinds[0]), _named(kinds[1]))
            return
        if path in self._dialect.enumerations:
            yield from self._words(expected, got, path)
        objects = [v for v in expected if isinstance(v, dict)], [v for v in got if isinstance(v, dict)]
        place = path[:-1] if path[-1:] == (_ANY,) else path
        if all(objects):
            yield from self._unions(self._by_kind(place, objects[0]), self._by_kind(place, objects[1]), path)
        lists = [v for v in expected if isinstance(v, list)], [v for v in got if isinstance(v, list)]
        elements = [e for v in lists[0] for e in v], [e for v in lists[1] for e in v]
        if all(elements):
            yield from self._values(*elements, (*path, _ANY))

    def _by_kind(self, place: Path, objects: list[dict[str, Any]]) -> _Groups:
        groups: _Groups = {}
        for value in objects:
            groups.setdefault(self._dialect.kind(place, value), []).append(value)
        return groups

    def _unions(self, expected: _Groups, got: _Groups, path: Path) -> _Found:
        """Objects are compared with those of their kind. A kind that one side lacks is not compared, but an object of no kind
        stands out where the other side has members of a union only."""
        for kind, values in expected.items():
            if kind in got:
                yield from self._objects(values, got[kind], path)
        if (None in expected) != (None in got):
            yield _Met(path, _kinds(expected), _kinds(got))

    def _words(self, expected: list[Any], got: list[Any], path: Path) -> _Found:
        words = {str(v) for v in expected if isinstance(v, str)}, {str(v) for v in got if isinstance(v, str)}
        if words[0] != words[1] and all(words):
            yield _Met(path, " | ".join(sorted(words[0])), " | ".join(sorted(words[1])), "word")

    def _objects(self, expected: list[dict[str, Any]], got: list[dict[str, Any]], path: Path) -> _Found:
        for name in {name: None for v in (*expected, *got) for name in v}:
            place = (*path, name)
            here = [v[name] for v in expected if name in v], [v[name] for v in got if name in v]
            presence = _presence(here[0], expected), _presence(here[1], got)
            if place in self._dialect.parts and presence[0] != presence[1] and _empty(here[0]) != _empty(here[1]):
                continue
            if presence[0] != presence[1]:
                yield _Met(place, *presence)
            elif all(here):
                yield from self._values(*here, place)


def _kinds(groups: _Groups) -> str:
    return ", ".join(sorted(kind or "an object of no kind" for kind in groups))


def _presence(there: list[Any], of: list[Any]) -> str:
    return ABSENT if not there else "present" if len(there) == len(of) else "present in some elements"


def _empty(values: list[Any]) -> bool:
    return all(v is None or v in ("", [], {}) for v in values)


def _kind(value: Any) -> str:
    """The type of a value. An integral float tells that the writer prints `.0`, other floats tell nothing about it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "float" if value.is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


_NUMBERS = {"integer", "float", "number"}


def _compatible(one: set[str], other: set[str]) -> bool:
    if one == other:
        return True
    if one - _NUMBERS != other - _NUMBERS:
        return False
    one, other = one & _NUMBERS, other & _NUMBERS
    return bool(one) == bool(other) and not ("float" in one | other and "integer" in one | other)


def _named(kinds: set[str]) -> str:
    return " | ".join(sorted(kinds)) or ABSENT
