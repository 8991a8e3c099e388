"""`extend` takes texts without making edits of them: what comes of it is what comes of `add`."""

from __future__ import annotations

import json
import random
import re
from base64 import b64decode, b64encode
from collections.abc import Callable

import pytest

from bench.streams import NAMES, stream
from harness import Frame, StreamCollector, UnsupportedDialectError, dialect, framer
from harness.dialects.repeats import Repeats


def chat(*payloads: object) -> list[Frame]:
    return [Frame(i, None, json.dumps(each).encode()) for i, each in enumerate(payloads)]


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


TEXTS = [delta(content=word) for word in ("one", " two", " three", " four", " five")]
STREAMS = {
    "an empty text": [*TEXTS, delta(content=""), *TEXTS],
    "an escape": [*TEXTS, delta(content='"\n\\"'), *TEXTS],
    "half of a pair": [*TEXTS, delta(content="\ud83c"), *TEXTS],
    "no text": [*TEXTS, delta(content=None), *TEXTS],
    "a number": [*TEXTS, delta(content=5), *TEXTS],
    "another place": [*TEXTS, *[delta(refusal=each) for each in "abcdef"], *TEXTS],
    "a new field": [*TEXTS, {**delta(content="x"), "new": 1}, *TEXTS],
    "a text replaced": [*TEXTS, delta(content=[{"type": "text", "text": "y"}]), *TEXTS],
    "an error": [*TEXTS, {"error": {"message": "no more", "code": 500}}, *TEXTS],
    "the end": [*TEXTS, delta("stop"), *TEXTS],
}


@pytest.mark.parametrize("payloads", STREAMS.values(), ids=STREAMS.keys())
def test_extend_comes_to_what_add_comes_to(payloads: list[object]) -> None:
    same_either_way("openai-chat", chat(*payloads))


@pytest.mark.parametrize("name", NAMES)
def test_extend_comes_to_what_add_comes_to_in_every_dialect(name: str) -> None:
    try:
        dialect(name)
    except UnsupportedDialectError:
        pytest.skip(f"{name} is not registered")
    given = stream(name, deltas=400, calls=2, fragments=30)
    same_either_way(name, framer(given.framing).feed(given.body))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_remembered_of_payloads_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in eight payloads is damaged somewhere: a fresh look at each comes to the same as what was remembered."""
    try:
        dialect(name)
    except UnsupportedDialectError:
        pytest.skip(f"{name} is not registered")
    chance = random.Random(name)
    given = stream(name, deltas=25, calls=1, fragments=25)
    frames = framer(given.framing).feed(given.body)
    streams = [[damaged(frame, chance) if chance.random() < 1 / 8 else frame for frame in frames] for _ in range(60)]
    remembered = [StreamCollector(name) for _ in streams]
    for collector, each in zip(remembered, streams, strict=True):
        collector.extend(each)
    monkeypatch.setattr(Repeats, "_learn", lambda *_: None)
    for collector, each in zip(remembered, streams, strict=True):
        afresh = StreamCollector(name)
        afresh.extend(each)
        assert repr(collector.close()) == repr(afresh.close())


def damaged(frame: Frame, chance: random.Random) -> Frame:
    """The frame with a byte replaced, inserted or left out; inside the base64 where the payload is wrapped in it."""
    wrapped = re.fullmatch(rb'\{"bytes":"(.*?)"(.*)\}', frame.data) if chance.random() < 3 / 4 else None
    data = bytearray(b64decode(wrapped[1]) if wrapped else frame.data)
    at = chance.randrange(len(data))
    data[at : at + chance.randint(0, 1)] = chance.choice(DAMAGE)
    whole = b'{"bytes":"%b"%b}' % (b64encode(data), wrapped[2]) if wrapped else bytes(data)
    return Frame(frame.index, frame.name, whole, frame.at, frame.span, frame.headers)


DAMAGE = [
    b'"',
    b"\\",
    b'\\"',
    b"{",
    b"}",
    b",",
    b"0",
    b"1",
    b" ",
    b"a",
    b"\xc3",
    b"\x00",
    b"\\u00e9",
    b"\\ud800",
    b'","x":"',
    b"",
]


def same_either_way(name: str, frames: list[Frame]) -> None:
    added, extended, in_parts = StreamCollector(name), StreamCollector(name), StreamCollector(name)
    for frame in frames:
        added.add(frame)
    extended.extend(frames)
    for start in range(0, len(frames), 3):
        in_parts.extend(frames[start : start + 3])
    assert added.close() == extended.close() == in_parts.close()


def test_texts_in_a_row_are_not_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = StreamCollector("openai-chat")
    translated = counted(monkeypatch, collector)
    collector.extend(chat(*[delta(content="word ") for _ in range(100)]))
    assert collector.text == "word " * 100
    assert len(translated) < 10


def test_a_translator_need_not_know_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = StreamCollector("openai-chat").dialect.translator

    class Plain:
        def __init__(self, request: object) -> None:
            inner = known(request)
            self.translate, self.close, self.missing = inner.translate, inner.close, inner.missing

    monkeypatch.setattr(type(dialect("openai-chat")), "translator", lambda self, request=None: Plain(request))
    collector = StreamCollector("openai-chat")
    collector.extend(chat(*TEXTS))
    assert collector.text == "one two three four five"


def counted(monkeypatch: pytest.MonkeyPatch, collector: StreamCollector) -> list[Frame]:
    """The frames that the collector's translator translates from now on."""
    translator = collector._translator
    translate: Callable[[Frame], list[object]] = translator.translate
    seen: list[Frame] = []
    monkeypatch.setattr(translator, "translate", lambda frame: seen.append(frame) or translate(frame))
    return seen
