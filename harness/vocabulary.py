"""Vocabularies: the field names of an API as data, and what stands outside them.

Typed models of every chunk would cost several times the whole work of a stream, so a dialect writes down the names it knows
as a tree of shapes, and a shape remembers the key sets it has already passed: checking a payload that looks like the one
before costs one dictionary lookup per object. Only names and the nesting of objects and lists are checked; what a scalar
holds is for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

_CONTAINERS = (dict, list)
_MOST_KEY_SETS = 512  # a bound for streams that shuffle their keys; past it an object is checked name by name


class Kind(Protocol):
    """Anything a value can be checked against."""

    def knows(self, value: Any) -> bool:
        """Whether the value has the right container and no names outside the vocabulary, at any depth."""

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        """(JSON pointer, value) of everything outside the vocabulary; `at` is the pointer of `value`."""

    def fits(self, value: Any) -> bool:
        """Whether the value is the right container, whatever is in it."""

    def mended(self, value: Any) -> Any:
        """A value that fits, with every container inside it that does not fit replaced by None or left out of its list, so
        that a reader need not ask for types."""

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        """Of a value that fits, every place where a known name leads to something else than the container it should be."""


class Misfit(NamedTuple):
    """Where a container is due, `wanted` in words, and what stands there instead."""

    at: str
    wanted: str
    value: Any


class Free:
    """Any value: data of the user's or the model's own, such as arguments, schemas and metadata."""

    def knows(self, value: Any) -> bool:
        return True

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        return iter(())

    def fits(self, value: Any) -> bool:
        return True

    def mended(self, value: Any) -> Any:
        return value

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        return iter(())


FREE = Free()


class Scalars(Free):
    """What a name without a kind stands for: a scalar, or a list of scalars."""

    def knows(self, value: Any) -> bool:
        return not _holds_objects(value)

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        if _holds_objects(value):
            yield at, value


SCALARS = Scalars()


class Shape:
    """An object with known names: `Shape("id model", usage=Shape("total"), tools=Many(TOOL), args=FREE)`."""

    def __init__(self, names: str = "", /, **nested: Kind) -> None:
        self.nested = nested
        self.names = frozenset(names.split()) | frozenset(nested)
        self._seen: dict[tuple[str, ...], tuple[Kind, ...]] = {}  # of the fields, in their order

    def extended(self, names: str = "", /, **nested: Kind) -> Shape:
        """This shape with more names."""
        return Shape(" ".join([*(self.names - self.nested.keys() - nested.keys()), names]), **{**self.nested, **nested})

    def knows(self, value: Any) -> bool:
        if type(value) is not dict:
            return False
        kinds = self._seen.get(tuple(value))
        if kinds is None:
            return self._learn(value)
        for field, kind in zip(value.values(), kinds):  # noqa: B905 (they are equally long, and `strict` costs)
            if kind is SCALARS:
                if type(field) in _CONTAINERS and _holds_objects(field):
                    return False
            elif field is not None and not kind.knows(field):
                return False
        return True

    def _learn(self, value: dict[str, Any]) -> bool:
        if not self.names.issuperset(value) or any(self.strangers(value, "")):
            return False
        if len(self._seen) < _MOST_KEY_SETS:
            self._seen[tuple(value)] = tuple(self.nested.get(name, SCALARS) for name in value)
        return True

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        if not self.fits(value):
            yield at, value
            return
        for name, field in value.items():
            here = f"{at}/{_escaped(name)}"
            if name not in self.names:
                yield here, field
            elif field is not None:
                yield from self.nested.get(name, SCALARS).strangers(field, here)

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def mended(self, value: Any) -> Any:
        return {name: _mended(self.nested.get(name, FREE), field) for name, field in value.items()}

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        for name, kind in self.nested.items():
            field = value.get(name)
            if field is not None:
                yield from _misfits(kind, field, f"{at}/{_escaped(name)}")


class Many:
    """A list whose elements are of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def knows(self, value: Any) -> bool:
        if type(value) is not list:
            return False
        knows = self.kind.knows
        for element in value:  # a loop, since most lists have one element and `all` costs more than it
            if not knows(element):
                return False
        return True

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        if not self.fits(value):
            yield at, value
            return
        for i, element in enumerate(value):
            yield from self.kind.strangers(element, f"{at}/{i}")

    def fits(self, value: Any) -> bool:
        return isinstance(value, list)

    def mended(self, value: Any) -> Any:
        return [self.kind.mended(element) for element in value if self.kind.fits(element)]

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        for i, element in enumerate(value):
            yield from _misfits(self.kind, element, f"{at}/{i}")


class Map:
    """An object with free names and values of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def knows(self, value: Any) -> bool:
        return type(value) is dict and all(v is None or self.kind.knows(v) for v in value.values())

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        if not self.fits(value):
            yield at, value
            return
        for name, field in value.items():
            if field is not None:
                yield from self.kind.strangers(field, f"{at}/{_escaped(name)}")

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def mended(self, value: Any) -> Any:
        return {name: _mended(self.kind, field) for name, field in value.items()}

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        for name, field in value.items():
            if field is not None:
                yield from _misfits(self.kind, field, f"{at}/{_escaped(name)}")


class ByTag:
    """An object whose shape depends on a field of it: `ByTag("type", {"text": TEXT})`. An unknown tag makes a stranger of
    the whole object."""

    def __init__(self, tag: str, shapes: dict[str, Shape]) -> None:
        self.tag = tag
        self.shapes = shapes

    def knows(self, value: Any) -> bool:
        shape = self._shape(value)
        return shape is not None and shape.knows(value)

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        shape = self._shape(value)
        if shape is None:
            yield at, value
        else:
            yield from shape.strangers(value, at)

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def mended(self, value: Any) -> Any:
        shape = self._shape(value)
        return value if shape is None else shape.mended(value)

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        shape = self._shape(value)
        return iter(()) if shape is None else shape.misfits(value, at)

    def _shape(self, value: Any) -> Shape | None:
        tag = value.get(self.tag) if type(value) is dict else None
        return self.shapes.get(tag) if type(tag) is str else None


class Either:
    """A scalar, or a container of the given kinds: `content` is text, a list of parts, or one object."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds

    def knows(self, value: Any) -> bool:
        return type(value) is str or not isinstance(value, (dict, list)) or self._fitting(value).knows(value)

    def strangers(self, value: Any, at: str) -> Iterator[tuple[str, Any]]:
        return self._fitting(value).strangers(value, at) if isinstance(value, (dict, list)) else iter(())

    def fits(self, value: Any) -> bool:
        return not isinstance(value, (dict, list)) or self._fitting(value).fits(value)

    def mended(self, value: Any) -> Any:
        return self._fitting(value).mended(value) if isinstance(value, (dict, list)) else value

    def misfits(self, value: Any, at: str) -> Iterator[Misfit]:
        return self._fitting(value).misfits(value, at) if isinstance(value, (dict, list)) else iter(())

    def _fitting(self, value: Any) -> Kind:
        return next((kind for kind in self.kinds if kind.fits(value)), self.kinds[0])


def _mended(kind: Kind, value: Any) -> Any:
    return kind.mended(value) if kind.fits(value) else None


def _misfits(kind: Kind, value: Any, at: str) -> Iterator[Misfit]:
    if kind.fits(value):
        yield from kind.misfits(value, at)
    else:
        due = kind.kinds[0] if isinstance(kind, Either) else kind
        yield Misfit(at, "a list" if isinstance(due, Many) else "an object", value)


def _holds_objects(value: Any) -> bool:
    """Whether a value that should be a scalar, or a list of them, holds an object."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_objects, value)))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
