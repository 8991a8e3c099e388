"""How a body stands in a cassette: as text that people can read and compare line by line, wherever that keeps every byte.

    literal block    text whose characters YAML leaves alone: almost every request and stream
    double quotes    text with CR, U+2028 and the like, which YAML takes for line breaks: one line for each line of the body
    !!binary         what is no UTF-8, or has NUL bytes as no text has

PyYAML's own emitter is not asked, since libyaml's writes everything with an emoji in it as one line of escapes.
"""

from __future__ import annotations

import base64
import re

_UNSAFE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_QUOTED = re.compile(f'["\\\\\t]|{_UNSAFE.pattern}')
_SHORT = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\r": "\\r"}


def scalar(body: bytes | None, indent: int) -> str:
    """`body` as the value of a key, from after its colon to the line end; `indent` is two more than that of the key."""
    if body is None:
        return "null\n"
    pad = " " * indent
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _binary(body, pad)
    if "\0" in text:
        return _binary(body, pad)
    return _literal(text, pad) if text and is_plain(text) else _quoted(text, pad)


def is_plain(text: str) -> bool:
    """Whether YAML leaves every character of the text alone, wherever it stands."""
    return not _UNSAFE.search(text)


def _literal(text: str, pad: str) -> str:
    ended = text.endswith("\n")
    lines = (text[:-1] if ended else text).split("\n")
    return f"|2{'+' if ended else '-'}\n" + "".join(f"{pad}{line}\n" if line else "\n" for line in lines)


def _quoted(text: str, pad: str) -> str:
    """A backslash at the end of a line joins it to the next, from its first character that is no space."""
    lines = text.split("\n")
    pieces = [f"{_escaped(line)}\\n" for line in lines[:-1]] + ([_escaped(lines[-1])] if lines[-1] else [])
    return '"' + f"\\\n{pad}".join(pieces) + '"\n'


def _escaped(line: str) -> str:
    escaped = _QUOTED.sub(_escape, line)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escape(character: re.Match[str]) -> str:
    found = character.group()
    return _SHORT.get(found) or f"\\u{ord(found):04x}"


def _binary(body: bytes, pad: str) -> str:
    lines = base64.encodebytes(body).decode("ascii").splitlines()
    return "!!binary |\n" + "".join(f"{pad}{line}\n" for line in lines)
