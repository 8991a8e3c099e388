"""Payloads: JSON values out of a frame's bytes, strictly first and tolerantly when that fails.

The strict reader is the fast one. What it refuses is read again with Python's own decoder, since five things that it refuses
occur in the wild and lose no data: a lone surrogate escape, raw control characters in strings, invalid UTF-8 (which the
SSE standard replaces by U+FFFD), NaN and Infinity, which Python writes and no other reader takes, and deep nesting, up to a
depth that everybody after us can walk through.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

from pydantic_core import from_json

strict = partial(from_json, allow_inf_nan=False)
"""`strict(data)`: the value, or a `ValueError`."""
quick = from_json
"""The same where the data is surely a string, in which NaN is a word: an argument less, which counts for each payload."""

_TOO_DEEP = "nested too deeply"
_SOMETHING = re.compile(rb"\S")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_DEEPEST = 256  # containers in one another; whoever copies or writes such a value needs a few Python frames for each


class NotJSON(ValueError):
    """The payload cannot be read as JSON. `kind` is the kind of finding: `framing/invalid-json` if it begins like JSON, else
    `framing/non-json-data`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def tolerant(data: bytes) -> tuple[Any, str | None]:
    """The value of a payload that `strict` refused, and the kind of finding that it deserves (None: none).

    Raises `NotJSON` when there is no value to be had.
    """
    kind = None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text, kind = data.decode(errors="replace"), "framing/invalid-utf8"
    try:
        value = from_text(text, strict=False, constants=True)
    except ValueError as error:
        begins = text.lstrip()[:1] in ("{", "[") if text else False
        raise NotJSON("framing/invalid-json" if begins else "framing/non-json-data", str(error)) from None
    if kind is None and _is_no_standard_json(text):
        kind = "framing/invalid-json"
    return value, kind


def from_text(text: str, strict: bool = True, *, constants: bool = False) -> Any:
    """The JSON value that a text holds, such as the arguments of a call. Raises `ValueError`, also for a value that is nested
    too deeply; raw control characters in strings pass if not `strict`, NaN and Infinity with `constants`."""
    try:
        value = json.loads(text, strict=strict, parse_constant=None if constants else _constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if _is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def whole(text: str) -> str:
    """The text with the two halves of a character made one: fragments may divide a pair of surrogates. A half that is alone
    stays as it is."""
    if text.isascii() or _PAIR.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_several(data: bytes) -> bool:
    """Whether the data is surely no single JSON value, since its first line is one and more follows. Costs that line alone,
    however much data there is."""
    end = data.find(b"\n", len(data) - len(data.lstrip()) if data[:1].isspace() else 0)
    return end > 0 and _SOMETHING.search(data, end) is not None and is_whole(data[:end])


def several(data: bytes) -> str | None:
    """What to say of data that is several payloads, one a line; None where it is not."""
    if not is_several(data):
        return None
    return f"several payloads are in one event, for want of a blank line between them: {quote(data)}"


def is_whole(data: bytes) -> bool:
    """Whether the bytes are one complete JSON value, read tolerantly."""
    try:
        strict(data)
    except ValueError:
        try:
            tolerant(data)
        except NotJSON:
            return False
    return True


def tolerated(data: bytes) -> str:
    """What to say of a payload that only the tolerant reader takes."""
    return f"{_oddity(data)}; read tolerantly: {quote(data)}"


def _oddity(data: bytes) -> str:
    try:
        json.loads(data.decode(), parse_constant=_constant)
    except UnicodeDecodeError:
        return "it is no UTF-8"
    except json.JSONDecodeError:
        return "a string in it has control characters that are not escaped"
    except (ValueError, RecursionError) as error:
        return str(error)
    return "it is no standard JSON"


def quote(data: bytes, limit: int = 120) -> str:
    """The first characters of a payload, for a message."""
    text = data[: limit * 4].decode(errors="replace")
    return repr(text if len(text) <= limit else text[:limit] + "…")


def _is_no_standard_json(text: str) -> bool:
    """Whether what Python's decoder took has raw control characters in strings, or names for what is no number."""
    try:
        json.loads(text, parse_constant=_constant)
    except ValueError:
        return True
    return False


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _is_too_deep(value: Any) -> bool:
    layer = _containers([value])
    for _ in range(_DEEPEST):
        layer = [inner for outer in layer for inner in _containers(outer.values() if isinstance(outer, dict) else outer)]
    return bool(layer)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (dict, list))]
