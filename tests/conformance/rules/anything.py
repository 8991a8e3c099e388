"""Payloads in which anything may stand anywhere."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "a", "error", "text"]),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "id", "name", "text", "type", "error", "a"]), values, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, stream: list[Any]) -> list[Any]:
    """The payloads of a stream in any order, with up to three values in them replaced by any others."""
    stream = list(stream)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(stream) - 1))
        place = draw(st.sampled_from(_places(stream[number])))
        stream[number] = _replaced(stream[number], place, draw(JSON))
    return draw(st.permutations(stream))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, field in inner for place in _places(field, (*path, key)))]


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    node = value
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = new
    return value
