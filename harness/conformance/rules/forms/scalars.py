"""What a scalar may be: a name in words, and the one question whether a value is one. Null says that there is no value, which
is for the rules to judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type of scalars: `wanted` names it, `takes` says whether a value is of it."""

    wanted: str
    takes: Callable[[Any], bool]


def _whole(value: Any) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def _number(value: Any) -> bool:
    return type(value) in (int, float)


TEXT = Scalar("a string", lambda value: type(value) is str)
FLAG = Scalar("true or false", lambda value: type(value) is bool)
NUMBER = Scalar("a number", _number)
COUNT = Scalar("a whole number from 0", _whole)
INT64 = Scalar("a whole number from 0", lambda value: value.isdecimal() if type(value) is str else _whole(value))
"""As protocol buffers write them in JSON: a number, or its digits as a string."""
ENUM = Scalar("a string, or a number where the request asks for it", lambda value: type(value) in (str, int))
"""A word of protocol buffers; with `enum-encoding=int` in the query it is sent as its number."""

Field = Scalar | dict[str, "Field"] | list["Field"]
"""A scalar, an object by its fields, or a list of what its one element says. The name of a field ends in `!` where every such
object has it; `type=…` has the fields of objects whose `type` that is."""
_OF_TYPE = "type="


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects with these fields: name, whether every such object has it, and what it is; and those of one type."""

    fields: tuple[tuple[str, bool, Form], ...]
    of_type: dict[str, Objects]


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of this."""

    element: Form


Form = Scalar | Objects | Lists


def form_of(field: Field) -> Form:
    """A row of a table, taken apart once."""
    if isinstance(field, list):
        return Lists(form_of(field[0]))
    if isinstance(field, dict):
        return _objects(field)
    return field


def _objects(table: dict[str, Field]) -> Objects:
    fields = {name: form_of(inner) for name, inner in table.items()}
    own = tuple((name.rstrip("!"), name.endswith("!"), form) for name, form in fields.items() if not name.startswith(_OF_TYPE))
    tagged = {name.removeprefix(_OF_TYPE): form for name, form in fields.items() if name.startswith(_OF_TYPE)}
    return Objects(own, {tag: form for tag, form in tagged.items() if isinstance(form, Objects)})
