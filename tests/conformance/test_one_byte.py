"""The promise of the program: one byte of one tool argument is changed in a copy of a cassette, and the run points at it."""

from __future__ import annotations

import base64
import json
import random
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from harness import cassette, cli, dialects
from harness.adapters import Ours
from harness.adapters.ours import framing_of
from harness.cassette.model import Chunk
from harness.conformance.known import FILE
from harness.framing import Frame
from tests.laws.cases import SHIPPED, Stream

_ARGUMENTS = re.compile(rb'"(?:arguments|partial_json|input|args|stringValue)"\s*:\s*|arguments\.delta","delta"\s*:\s*')
_LETTER = re.compile(rb"(?<![\\\w])[A-Za-z](?=[A-Za-z])")


def _calls(stream: Stream) -> int:
    seen = Ours().observe(stream.exchange, stream.dialect)
    return len(seen.response.tool_calls) if seen.response else 0


def _has_a_like_twin(stream: Stream) -> bool:
    """Whether both sides are one turn: the twins of gateways and of other people are as often two turns of one form."""
    return stream.case.reference is not None and stream.case.match == "exact" and stream.case.provenance.kind != "anonymized"


def _is_about_its_arguments(stream: Stream) -> bool:
    return stream.case.id == "anthropic-messages/llamacpp/tool-call-cut-in-arguments"


WITH_CALLS = [s for s in SHIPPED if _has_a_like_twin(s) and _calls(s) and not _is_about_its_arguments(s)]
"""One is left out: its known deviation says that the twin has nothing in the place of these arguments."""


def _letters(stream: Stream) -> Iterator[tuple[Frame, bytes, int]]:
    """(frame, payload, offset) of the first letters of the words in arguments, found in the bytes alone."""
    for frame in stream.frames:
        data = _payload(stream, frame)
        for found in _ARGUMENTS.finditer(data):
            end = _end(data, found.end())
            yield from ((frame, data, letter.start()) for letter in _LETTER.finditer(data, found.end(), end))


def _payload(stream: Stream, frame: Frame) -> bytes:
    if stream.case.dialect != "bedrock-invoke" or frame.name != "chunk":
        return frame.data
    return base64.b64decode(json.loads(frame.data)["bytes"])


def _end(data: bytes, start: int) -> int:
    """Where the JSON value ends that begins at `start`, as Python's decoder sees it."""
    _, length = json.JSONDecoder().raw_decode(data[start:].decode())
    return start + len(data[start:].decode()[:length].encode())


def _changed(stream: Stream, frame: Frame, payload: bytes, offset: int) -> tuple[bytes, tuple[int, int]]:
    """The body with that letter turned into another one, and the bytes that are not as they were."""
    other = b"q" if payload[offset : offset + 1] != b"q" else b"z"
    after = payload[:offset] + other + payload[offset + 1 :]
    data = after if payload == frame.data else frame.data.replace(base64.b64encode(payload), base64.b64encode(after))
    start, end = frame.span
    at = stream.body.index(frame.data, start, end)
    body = stream.body[:at] + data + stream.body[at + len(frame.data) :]
    if framing_of(stream.dialect, body) == "event-stream":
        body = body[: end - 4] + struct.pack("!I", crc32(body[start : end - 4])) + body[end:]
    unlike = [n for n in range(at, at + len(data)) if body[n] != stream.body[n]]
    return body, (unlike[0], unlike[-1] + 1)


def _copy(stream: Stream, body: bytes, folder: Path) -> Path:
    """A cassette file with this body, where its known deviations stand beside it."""
    path = (folder / stream.case.id).with_suffix(".yaml")
    ends = [sum(len(c.data) for c in stream.exchange.chunks[: n + 1]) for n in range(len(stream.exchange.chunks))]
    starts = [0, *ends[:-1]]
    chunks = (
        Chunk(data=body[start:end], at=chunk.at) for chunk, start, end in zip(stream.exchange.chunks, starts, ends, strict=True)
    )
    cassette.save(replace(stream.case, stream=replace(stream.exchange, chunks=tuple(chunks))), path)
    known = (cassette.shipped() / stream.case.id).parent / FILE
    if known.is_file():
        shutil.copy(known, path.parent / FILE)
    return path


def _run(
    path: Path, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[Any]]:
    """The exit status of a run, and its verdicts."""
    monkeypatch.setattr("sys.argv", ["streamproof", "run", str(path), "--reports", str(folder / "reports"), "--json"])
    with pytest.raises(SystemExit) as done:
        cli.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return int(done.value.code or 0), [line for line in lines if line["type"] == "verdict"]


@pytest.mark.parametrize("stream", WITH_CALLS, ids=repr)
def test_one_byte_of_one_argument(
    stream: Stream, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(_copy(stream, stream.body, tmp_path), tmp_path, capsys, monkeypatch)[0] == 0, (
        "the copy is as good as the cassette"
    )
    letters = list(_letters(stream))
    for frame, payload, offset in random.Random(stream.case.id).sample(letters, min(2, len(letters))):
        body, changed = _changed(stream, frame, payload, offset)
        status, verdicts = _run(_copy(stream, body, tmp_path), tmp_path, capsys, monkeypatch)
        assert status == 1
        findings = [f for v in verdicts for f in v["findings"] if f["level"] == "must" and "known" not in f]
        spans = [f["where"]["span"] for f in findings if "span" in f["where"]]
        assert any(start <= changed[0] and changed[1] <= end for start, end in spans), (changed, findings)


def test_there_are_such_cassettes_of_every_dialect() -> None:
    assert {s.case.dialect for s in WITH_CALLS} == set(dialects.names())
    letters = {s.case.id: sum(1 for _ in _letters(s)) for s in WITH_CALLS}
    silent = {name for name, count in letters.items() if not count}
    assert {name for name in silent if not name.startswith("gemini/vertex/")} <= {
        "bedrock-converse/bedrock/tool-call-no-arguments"
    }
