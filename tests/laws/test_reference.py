"""Law 3: the collected turn is the reference turn, outside path sets that are cited, used, and cover nothing that matters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness import dialects
from harness.adapters import Ours
from harness.cassette.model import Cassette
from harness.conformance.compare import compare
from harness.conformance.judge import judge
from harness.conformance.verdict import Check
from harness.dialects import Dialect, PathSet
from harness.edits import Op
from harness.framing import Frame
from harness.response import Response
from tests import corpus
from tests.laws.cases import CORPUS, SHIPPED, Stream, each_dialect, each_stream, generic, of

needs_corpus = pytest.mark.skipif(not CORPUS, reason="the corpus is not here")
SETS = ("volatile", "unsent", "padding")


def _entries() -> Iterator[tuple[str, str, str, str]]:
    for dialect in dialects.registered():
        for name in (*SETS, "restated"):
            places: PathSet = getattr(dialect, name)
            for place, evidence in places.evidence.items():
                yield dialect.name, name, place, evidence


ENTRIES = list(_entries())


@needs_corpus
@pytest.mark.parametrize(("dialect", "name", "place", "evidence"), ENTRIES, ids=lambda v: str(v)[:60])
def test_every_entry_cites_a_recording(dialect: str, name: str, place: str, evidence: str) -> None:
    recording = evidence.rpartition(": ")[2]
    assert (corpus.CORPUS / dialect / recording).is_dir(), f"{name} {place} cites {recording!r}"


@needs_corpus
@each_dialect
def test_every_entry_excuses_something(dialect: str) -> None:
    api = dialects.dialect(dialect)
    used = {excuse for case in _pairs(dialect) for excuse in _excuses(case, api)}
    wanted = {f"{name}: {place}" for d, name, place, _ in ENTRIES if d == dialect and name in SETS}
    assert wanted - used == set()


@each_dialect
def test_no_entry_covers_what_matters(dialect: str) -> None:
    """Changing what stands at a place of a path set never changes text, reasoning, calls, finish reason or usage."""
    api = dialects.dialect(dialect)
    for stream in of(dialect)[:60]:
        body = stream.collected().body
        for name in SETS:
            for place in getattr(api, name):
                changed = json.loads(json.dumps(body))
                _blank(changed, place.split("/"))
                assert _matters(api.read(changed)) == _matters(api.read(body)), f"{name} {place}"


@needs_corpus
@each_dialect
def test_every_leaf_that_is_dropped_renamed_or_retyped_is_reported(dialect: str) -> None:
    """In shape mode; once for each place of a body, the first and the last of a list."""
    api = dialects.dialect(dialect)
    seen: set[str] = set()
    missed = []
    for stream in of(dialect, first_party=True):
        body = stream.collected().body
        for path in _leaves(body):
            place = generic("/" + "/".join(map(str, path)))
            if (kind := f"{_kinds_on(body, path)}{place}") in seen:
                continue
            seen.add(kind)
            for damage in (_dropped, _renamed, _retyped):
                found = [d for d in compare(body, damage(body, path), api, "shape") if not _excused(api, d)]
                if not found and not _excused_anyway(api, body, path, damage):
                    missed.append((stream.case.id, place, damage.__name__))
    assert missed == []


@pytest.mark.parametrize("how", ["emptied", "removed"])
@pytest.mark.parametrize("stream", [s for s in (*SHIPPED, *CORPUS) if s.case.dialect == "openai-responses"], ids=repr)
def test_responses_stand_without_their_repetitions(stream: Stream, how: str) -> None:
    """With the terminal output emptied and every done text taken away, what the deltas gave still is the turn."""
    collected = stream.collected()
    if not collected.complete or stream.case.id in NOT_STREAMED:
        return
    bare = stream.collected([_without_repetitions(frame, how) for frame in stream.frames])
    assert _matters(bare.response) == _matters(collected.response)


NOT_STREAMED = {
    "openai-responses/ai__openai-responses-openai-phase-1-0-6971": "its keepers cut deltas out of the fixture",
    "openai-responses/ai__openai-responses-openai-shell-container-1-0-75b8": "its keepers cut deltas out of the fixture",
    "openai-responses/ai__open-responses-responses-lmstudio-basic-1-0-42cf": "LM Studio sends arguments in done events only",
    "openai-responses/openai/text-sequence-gap-or-duplicate": "its keepers cut deltas out of the fixture",
    "openai-responses/openai/text-shell-call-command": "its keepers cut deltas out of the fixture",
    "openai-responses/lmstudio/reasoning": "LM Studio sends arguments in done events only",
    "openai-responses/litellm/from-ollama-tools": "LiteLLM adds the deltas of two calls to one, and repeats something else",
}


@each_stream
def test_first_party_streams_equal_their_twins(stream: Stream) -> None:
    """Shipped cassettes and corpus alike; what is known stands in known.toml, which the main job applies."""
    if stream.case.reference is None or stream.case.provider not in stream.dialect.vendors:
        return
    ours = Ours()
    sides = ours.observe(stream.exchange, stream.dialect), ours.observe(stream.case.reference, stream.dialect)
    verdicts = {v.check: v for v in judge(stream.case, *sides)}
    if Check.REFERENCE in verdicts and stream.case in SHIPPED:
        assert verdicts[Check.REFERENCE].findings == ()


def _pairs(dialect: str) -> list[Cassette]:
    return [s.case for s in of(dialect) if s.case.reference is not None and s.case.reference.status == 200]


def _excuses(case: Cassette, api: Dialect) -> Iterator[str]:
    assert case.stream is not None
    assert case.reference is not None
    ours = Ours()
    stream, reference = ours.observe(case.stream, api), ours.observe(case.reference, api)
    if isinstance(reference.body, dict) and isinstance(stream.body, dict):
        for match in ("exact", "shape"):
            for difference in compare(reference.body, stream.body, api, match):  # type: ignore[arg-type]
                if difference.excuse is not None:
                    yield difference.excuse


def _matters(turn: Response) -> Any:
    calls = [(call.name, call.shown_arguments()) for call in turn.tool_calls]
    return turn.text, turn.reasoning, calls, turn.finish_reason, turn.raw_finish_reason, turn.usage


def _blank(value: Any, steps: list[str]) -> None:
    step, rest = steps[0], steps[1:]
    inner = value if step == "*" and isinstance(value, list) else [value] if isinstance(value, dict) else []
    for position, element in enumerate(inner):
        if step == "*":
            if rest:
                _blank(element, rest)
            else:
                value[position] = None
        elif step in element:
            if rest:
                _blank(element[step], rest)
            else:
                element[step] = None


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for name, field in value.items():
            yield from _leaves(field, (*path, name))
    elif isinstance(value, list) and value:
        for position in sorted({0, len(value) - 1}):
            yield from _leaves(value[position], (*path, position))
    elif path:  # a body without anything has no leaf
        yield path


def _kinds_on(body: Any, path: tuple[Any, ...]) -> str:
    kinds = []
    for step in path:
        body = body[step]
        if isinstance(body, dict):
            kinds.append(str(body.get("type", sorted(body)[:1])))
    return "/".join(kinds)


def _holder(body: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    copy = holder = json.loads(json.dumps(body))
    for step in path[:-1]:
        holder = holder[step]
    return copy, holder


def _dropped(body: Any, path: tuple[Any, ...]) -> Any:
    copy, holder = _holder(body, path)
    if isinstance(holder, dict):
        del holder[path[-1]]
    return copy


def _renamed(body: Any, path: tuple[Any, ...]) -> Any:
    copy, holder = _holder(body, path)
    if isinstance(holder, dict):
        holder[f"{path[-1]}_"] = holder.pop(path[-1])
    return copy


def _retyped(body: Any, path: tuple[Any, ...]) -> Any:
    copy, holder = _holder(body, path)
    old = holder[path[-1]]
    holder[path[-1]] = 7 if isinstance(old, str) else "seven"
    return copy


def _excused(api: Dialect, difference: Any) -> bool:
    return difference.excuse is not None


def _excused_anyway(api: Dialect, body: Any, path: tuple[Any, ...], damage: Any) -> bool:
    """What the path sets excuse by their entries; an element of a list that is no object has no name to lose."""
    if damage is _retyped:
        return path in api.nullable and _value(body, path) is None
    if isinstance(path[-1], int) or any(getattr(api, name).covers(path) for name in ("unsent", "padding")):
        return True
    if damage is _dropped and path in api.parts:
        return True  # a turn without this part
    if path[-1] == "thought":
        return True  # without it a thought of Gemini's is a text, and a kind of part that one side lacks is not compared
    return not _everywhere(body, path)


def _value(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body


def _everywhere(body: Any, path: tuple[Any, ...]) -> bool:
    """Whether every element of its list has the field: of one that only some have, nobody can say where it belongs."""
    lists = [n for n, step in enumerate(path) if isinstance(step, int)]
    if not lists:
        return True
    elements = _value(body, path[: lists[-1]])
    return all(_has(element, path[lists[-1] + 1 :]) for element in elements)


def _has(value: Any, path: tuple[Any, ...]) -> bool:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True


def _without_repetitions(frame: Frame, how: str) -> Frame:
    payload = json.loads(frame.data) if frame.data.startswith(b"{") else None
    kind = payload.get("type", "") if isinstance(payload, dict) else ""
    if kind in ("response.completed", "response.incomplete", "response.failed"):
        payload["response"]["output"] = []
    elif kind.endswith(".done"):
        _take_texts(payload, how)
    else:
        return frame
    return Frame(frame.index, frame.name, json.dumps(payload).encode(), frame.at, frame.span)


_REPEATED = ("text", "arguments", "refusal", "input", "code", "transcript")


def _take_texts(value: Any, how: str) -> None:
    if isinstance(value, dict):
        for name in list(value):
            if name in _REPEATED and isinstance(value[name], str):
                if how == "emptied":
                    value[name] = ""
                else:
                    del value[name]
            else:
                _take_texts(value[name], how)
    elif isinstance(value, list):
        for element in value:
            _take_texts(element, how)


def test_the_text_of_an_edit_is_no_repetition() -> None:
    """The test above takes repetitions away and nothing else: deltas are untouched."""
    frame = Frame(0, None, b'{"type":"response.output_text.delta","delta":"x"}')
    assert _without_repetitions(frame, "removed") is frame
    assert Op.CONCAT
