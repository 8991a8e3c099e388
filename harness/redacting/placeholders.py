"""What stands in the place of a secret: as many bytes, of the same kinds, that say nothing.

Letters become x and X, digits 0, bytes beyond ASCII x. Marks stay, and so do escapes of JSON and of addresses, so that what
was JSON, base64 or an address is still one.
"""

from __future__ import annotations

import re

_WORDS = re.compile(rb"(\\+u)([0-9a-fA-F]{4})|\\+.|%[0-9A-Fa-f]{2}|[A-Za-z0-9\x80-\xff]", re.DOTALL)
_TELLING = re.compile(r"\\+u[0-9a-fA-F]{4}|\\+.|%[0-9A-Fa-f]{2}|[^\W_xX0]", re.DOTALL)
_DIGITS = re.compile(rb"[0-9]+")
_NUMBER = re.compile(r"10*")
_SAID = frozenset({"redacted", "filtered", "masked", "hidden", "dummy", "placeholder", "yourapikey"})
"""Words that others put in the place of a secret."""
_MARKS = re.compile(r"[\W_]+")
_SWAP = bytes(
    ord("0") if 48 <= byte <= 57 else ord("X") if 65 <= byte <= 90 else ord("x") if 97 <= byte <= 122 or byte >= 128 else byte
    for byte in range(256)
)


def placeholder(secret: bytes) -> bytes:
    """As many bytes that say nothing."""
    return _WORDS.sub(_of_one, secret)


def placeholder_text(secret: str) -> str:
    """The same for a text, such as the value of a header field."""
    return placeholder(secret.encode("latin-1", "replace")).decode("latin-1")


def placeholder_numbers(secret: bytes) -> bytes:
    """The same for a JSON number, which has no zero in front, or for a list of such."""
    return _DIGITS.sub(lambda digits: b"1" + b"0" * (len(digits[0]) - 1), secret)


def is_placeholder(text: str) -> bool:
    """Whether nothing in a text is left to be taken out."""
    if _NUMBER.fullmatch(text) or (len(text) <= 16 and _MARKS.sub("", text).lower() in _SAID):
        return True
    return not any(len(found[0]) == 1 for found in _TELLING.finditer(text))


def _of_one(found: re.Match[bytes]) -> bytes:
    whole = found[0]
    if len(whole) == 1:
        return whole.translate(_SWAP)
    if found[1] is None:
        return whole
    letter = chr(int(found[2], 16))
    return found[1] + b"0078" if letter.isalnum() or ord(letter) > 127 else whole
