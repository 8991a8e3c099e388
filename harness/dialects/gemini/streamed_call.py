"""A function call whose arguments come in pieces (wire/google-generatecontent.md section 4).

Every piece names its place by a JSON path (RFC 9535). The places become paths of edits below `args`, so that the body holds
the arguments as far as they have come, in the form in which a call that is not streamed has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.dialects.translating import note, setting, unknown_event
from harness.edits import Edit, Op, PartRef, Path, Target
from harness.framing import Frame

_STEP = re.compile(
    r"""
    \. (?P<name> [^.\[\]]+ )
    | \[ (?P<index> \d{1,9} ) \]
    | \[ (?P<quoted> '(?:[^'\\]|\\.)*+' | "(?:[^"\\]|\\.)*+" ) \]
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_MOST_STEPS = 64  # deeper ones are no arguments of a function, and a body that deep breaks its readers
_VALUES = ("stringValue", "numberValue", "boolValue")


class StreamedCall:
    """The call whose part stands at `base`."""

    def __init__(self, base: Path, part: PartRef, identified: bool, signed: bool) -> None:
        self.base = base
        self.part = part
        self.signed = signed
        self._identified = identified
        self._args: Path = (*base, "functionCall", "args")
        self._targets: dict[tuple[str, str], Target] = {}
        self._kinds: dict[Path, str] = {(): "an object"}  # of every place in use

    def edits(self, call: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """What a further `functionCall` of this call changes; `at` is its pointer in the payload."""
        if call.get("id") and not self._identified:
            self._identified = True
            yield setting((*self.base, "functionCall", "id"), call["id"], frame, self.part, f"{at}/id")
        for number, piece in enumerate(call.get("partialArgs") or ()):
            yield from self._piece(piece, frame, f"{at}/partialArgs/{number}")
        if call.get("args") is not None:  # the arguments as a whole: they were streamed, or they come only now
            yield Edit(Target(Op.SETTLE, self._args, self.part, f"{at}/args"), call["args"], frame.index)

    def _piece(self, piece: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """Strings at one path are joined, whether or not the piece before said that it goes on; other values are set."""
        path = str(piece.get("jsonPath"))
        name = next((n for n in _VALUES if piece.get(n) is not None), "nullValue")
        if name not in piece:
            return  # it only says that a string has ended, or that one will begin
        source = f"{at}/{name}"
        value = None if name == "nullValue" else piece[name]
        op = Op.CONCAT if isinstance(value, str) else Op.SET
        target = self._targets.get((path, source))
        if target is None or target.op is not op:
            problem, place = self._place(path)
            if problem:
                yield note("gemini/partial-args-path", problem, frame, f"{at}/jsonPath", got=path)
                yield unknown_event(piece, frame)
                return
            target = self._targets[path, source] = Target(op, (*self._args, *place), self.part, source)
        yield Edit(target, value, frame.index)

    def _place(self, path: str) -> tuple[str | None, Path]:
        """What keeps a piece from being placed, and where it goes."""
        steps = steps_of(path)
        if not steps:
            return f"{path!r} is no path to an argument", ()
        ends = {steps[:n]: "an array" if isinstance(steps[n], int) else "an object" for n in range(len(steps))}
        wanted = {**ends, steps: "a value"}
        clash = next((place for place, kind in wanted.items() if self._kinds.get(place, kind) != kind), None)
        if clash is not None:
            return f"{path!r} leads through {wanted[clash]} where other paths have {self._kinds[clash]}", ()
        self._kinds |= wanted
        return None, steps


def steps_of(path: str) -> Path | None:
    """The steps of a JSON path in its normal form, `$.a[0]['b']`; None for anything else, and for the root itself."""
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    pos = 1
    while pos < len(path) and len(steps) < _MOST_STEPS:
        step = _STEP.match(path, pos)
        if step is None:
            return None
        pos = step.end()
        if step["name"] is not None:
            steps.append(step["name"])
        elif step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            name = _unquoted(step["quoted"])
            if name is None:
                return None
            steps.append(name)
    return tuple(steps) if steps and pos == len(path) else None


def _unquoted(literal: str) -> str | None:
    """What a quoted name says: the escapes are those of JSON, but for the quote itself."""
    body = literal[1:-1]
    if literal[0] == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    try:
        name = json.loads(f'"{body}"', strict=False)
    except ValueError:
        return None
    return name if isinstance(name, str) else None
