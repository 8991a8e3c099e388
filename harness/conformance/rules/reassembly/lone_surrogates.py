"""The one rule of reassembly that judges bytes: halves of characters that nothing makes whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending, Plain
from harness.findings import Level
from harness.response import Other, Response, ToolCall

BYTES = Rules("REASM")
_HALF = re.compile("[\ud800-\udfff]")


@BYTES.rule(
    35,
    Level.MUST,
    "joined texts and arguments hold no lone surrogate",
    at=(Ending, Plain),
    kind="text/surrogate-lone",
    source="BR-018; RFC 8259 section 8.2",
    why="Such a text cannot be written as UTF-8: reports, cassettes and the next request fail with an exception.",
    bad='"ok \\udcaf end"',
    good='"ok \\ud83d\\udcaf end"',
    seen="backends of OpenRouter",
)
def no_lone_surrogate(it: Ending | Plain) -> Said:
    response = it.seen.response if isinstance(it, Ending) else it.case.dialect.read(it.body)
    if response is None:
        return None
    broken = [
        Breach(f"the {name} has half a character, {half[0]!a}, and its other half is not beside it", got=half[0])
        for name, text in _texts(response)
        if (half := _HALF.search(text)) is not None
    ]
    return broken or (True if response.parts else None)


def _texts(response: Response) -> Iterator[tuple[str, str]]:
    for part in response.parts:
        if isinstance(part, ToolCall):
            yield from ((f"call of {part.name!r}", text) for text in _strings(part.shown_arguments()))
        elif not isinstance(part, Other):
            yield type(part).__name__.lower(), part.text or ""


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from _strings(element)
    elif isinstance(value, dict):
        for field in value.items():
            yield from _strings(list(field))
