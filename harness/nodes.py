"""What the collector's tree is made of: texts and lists that grow, and plain values.

Where fragments gather there is a `Text`, where a list grows an `Elements` whose keys are the wire's own indexes; both become
plain values only when somebody asks (`built`).
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable
from typing import Any

from harness import payload
from harness.edits import LateEdit

EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that say nothing."""
_LEAVES = frozenset({str, int, float, bool, type(None)})  # a call for each number of a long list would cost the most of all


class Text:
    """A text that grows."""

    __slots__ = ("_buffer", "write")

    def __init__(self, text: str = "") -> None:
        self._buffer = io.StringIO(newline="")
        self._buffer.readline()  # until it is read from it keeps every fragment as an object of its own (Python 3.11)
        self.write: Callable[[str], object] = self._buffer.write
        if text:
            self.write(text)

    def value(self) -> Any:
        return payload.whole(self._buffer.getvalue())


class JSONText(Text):
    """A text that grows and is JSON: its value is what it says, `initial` while it is empty, the text if it does not parse."""

    __slots__ = ("_initial",)

    def __init__(self, initial: Any) -> None:
        super().__init__()
        self._initial = initial

    def value(self) -> Any:
        text = payload.whole(self._buffer.getvalue())
        if not text.strip():
            return owned(self._initial)
        try:
            return payload.from_text(text)
        except ValueError:
            return text


class Elements(dict[int, Any]):
    """A list that grows: its elements in the order of their keys. `end` is the key after the greatest one."""

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        super().__init__(enumerate(elements))
        self.end = len(self)

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        if key >= self.end:
            self.end = key + 1


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal and of the same types: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


def completed(known: Any, value: Any) -> Any:
    """A value that came again: of objects, and of lists of one length, what they held before and no longer say is kept."""
    if isinstance(known, dict) and isinstance(value, dict):
        return {**known, **{name: completed(known.get(name), field) for name, field in value.items()}}
    if isinstance(known, list) and isinstance(value, list) and len(known) == len(value):
        return list(map(completed, known, value))
    return value


def owned(value: Any) -> Any:
    """A copy whose containers are the collector's own."""
    if isinstance(value, dict):
        return {name: field if type(field) in _LEAVES else owned(field) for name, field in value.items()}
    if isinstance(value, list):
        return [element if type(element) in _LEAVES else owned(element) for element in value]
    return value


def built(node: Any) -> Any:
    """The plain value of a node."""
    if isinstance(node, LateEdit):
        return node.value
    if isinstance(node, Text):
        return node.value()
    if isinstance(node, Elements):
        return [built(node[key]) for key in sorted(node)]
    if isinstance(node, dict):
        return {name: child if type(child) in _LEAVES else built(child) for name, child in node.items()}
    if isinstance(node, list):
        return [element if type(element) in _LEAVES else built(element) for element in node]
    return node
