"""Arguments of calls: JSON, the beginning of JSON, or neither."""

from __future__ import annotations

import json
import re

_CUT_WORD = re.compile(r"t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?\d+\.|-?\d+(\.\d+)?[eE][+-]?")
_CUT_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,4}")


def is_unfinished(text: str) -> bool:
    """Whether the text is the beginning of a JSON value, and more would have to come."""
    begun = text.strip()
    try:
        json.loads(begun, strict=False)
    except json.JSONDecodeError as error:
        return bool(begun) and _at_the_end(begun, error)
    except (RecursionError, ValueError):
        return False
    return False


def _at_the_end(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the decoder was content with all of the text, and failed only for want of more."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :]
    if not rest or _CUT_WORD.fullmatch(rest):
        return True
    if "escape" in error.msg:
        return _CUT_ESCAPE.fullmatch(text[error.pos - 1 :]) is not None
    return _cut_number(text, error.pos)


def _cut_number(text: str, pos: int) -> bool:
    """`1.` and `1e`: the decoder takes the 1 and stumbles over the rest."""
    tail = re.search(r"-?\d+(\.\d+)?$", text[:pos])
    return tail is not None and _CUT_WORD.fullmatch(tail[0] + text[pos:]) is not None
