"""Everything that was ever recorded, anonymized: the wire stays, with all that is wrong with it, and the words go."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import harness
from harness import dialects, suite
from harness.adapters import Ours
from harness.adapters.ours import framing_of
from harness.anonymizing import anonymize
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Exchange
from harness.framing import framer
from tests import corpus
from tests.shared import needed

DIALECTS = list(dialects.names())
_RUN = re.compile(r"[^\W\d_]{12,}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_CARRIED = re.compile(r'"bytes"\s*:\s*"([A-Za-z0-9+/]+=*)"')


@pytest.fixture(scope="module", params=DIALECTS)
def pairs(request: pytest.FixtureRequest) -> list[tuple[Cassette, Cassette]]:
    """The cases of one dialect, each with its other self."""
    needed("corpus")
    return [(case, anonymize(case, "tide")) for case in corpus.cases() if case.dialect == request.param]


def test_pieces_and_frames_stand_where_they_stood(pairs: list[tuple[Cassette, Cassette]]) -> None:
    for old, new in pairs:
        assert [_wire(side) for side in _sides(old)] == [_wire(side) for side in _sides(new)], old.id
        if old.stream is not None and new.stream is not None:
            assert _frames(old.stream, old.dialect) == _frames(new.stream, new.dialect), old.id


def test_findings_and_verdicts_are_the_same(pairs: list[tuple[Cassette, Cassette]]) -> None:
    for old, new in pairs:
        assert _judged(old) == _judged(new), old.id


def test_no_run_of_twelve_letters_survives(pairs: list[tuple[Cassette, Cassette]]) -> None:
    for old, new in pairs:
        known = _own_words() | _windows(old.model or "")
        for before, after in zip(_sides(old), _sides(new), strict=True):
            said = {window for text in _texts(before, old.dialect) for window in _windows(text)} - known
            there = _windows(_everything(after))
            assert not said & there, (old.id, said & there)


def _sides(case: Cassette) -> list[Exchange]:
    return [side for side in (case.stream, case.reference) if side is not None]


def _wire(side: Exchange) -> Any:
    pieces = [(chunk.at, len(chunk.data)) for chunk in DecodedBody(side)]
    return side.status, [name for name, _ in side.headers.fields], pieces, side.ending, side.wire


def _frames(side: Exchange, dialect: str) -> Any:
    body = b"".join(chunk.data for chunk in DecodedBody(side))
    cutter = framer(framing_of(dialects.dialect(dialect), body.lstrip()))
    found = [(frame.span, frame.name, len(frame.data)) for frame in (*cutter.feed(body), *cutter.close())]
    return found, [(finding.kind, finding.where.span) for finding in cutter.findings]


def _judged(case: Cassette) -> dict[str, Any]:
    """The verdicts of a case, and of their findings the rule, the level and the frame."""
    done = suite.run([case], adapters=[Ours(loop=True)], clock=lambda: 0.0)
    return {
        verdict.check.value: (
            verdict.grade,
            Counter((f.rule, f.kind, f.level, f.where.exchange, f.where.frame, f.where.span) for f in verdict.findings),
        )
        for verdict in done.verdicts
    }


def _texts(side: Exchange, dialect: str) -> Iterator[str]:
    """What an exchange says, as our pipeline reads it: texts, arguments, ids, signatures, and all that was asked."""
    response = Ours().observe(side, dialect).response
    if response is not None:
        yield from _leaves(response.parts)
        yield from filter(None, (response.id,))
    yield from _leaves(side.request.json)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for field in value.values():
            yield from _leaves(field)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _leaves(element)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _leaves(getattr(value, field.name))


def _everything(side: Exchange) -> str:
    """Every letter of an exchange, escaped and encoded ones too."""
    body = b"".join(chunk.data for chunk in DecodedBody(side))
    said = b"\n".join((side.request.target.encode(), side.request.body or b"", body)).decode(errors="replace")
    said += "\n".join(value for _, value in side.headers.fields)
    said += "\n".join(base64.b64decode(match[1]).decode(errors="replace") for match in _CARRIED.finditer(said))
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), said)


def _windows(text: str) -> set[str]:
    """All runs of twelve letters, those inside longer ones too."""
    return {run[at : at + 12] for run in _RUN.findall(text) for at in range(len(run) - 11)}


@cache
def _own_words() -> set[str]:
    """The vocabularies of the dialects, and what of the APIs stays."""
    root = Path(harness.__file__).parent
    files = [*root.glob("dialects/**/*.py"), root / "api_error.py", root / "anonymizing" / "policy.py"]
    return {window for file in files for window in _windows(file.read_text(encoding="utf-8"))}
