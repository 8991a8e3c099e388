"""Exchange folders: other people's recordings and our own, read in place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cassette import Cassette, Chunk, load, load_one, save
from harness.errors import CassetteError

Shared = Callable[[str], Path]
ASKED = {"model": "m", "stream": True}


def folder(root: Path, name: str, body: bytes = b"data: [DONE]\n\n", *, asked: Any = ASKED, **files: Any) -> Path:
    """An exchange folder; `files` replace `request`, `response` and `timing`, where None leaves the file out."""
    here = root / name
    here.mkdir(parents=True)
    values = {
        "request": {"method": "POST", "host": "api.openai.com", "path": "/v1/chat/completions", "headers": {}, "body": asked},
        "response": {"status": 200, "headers": {"content-type": "text/event-stream"}},
        "timing": None,
    } | files
    for stem, value in values.items():
        if value is not None:
            (here / f"{stem}.json").write_text(json.dumps(value))
    (here / "body.sse").write_bytes(body)
    return here


def test_one_folder(tmp_path: Path) -> None:
    timing = {"body": [[0.5, 4], [0.75, 14]], "end": "final chunk"}
    case = load_one(folder(tmp_path, "case", timing=timing))
    assert (case.id, case.dialect, case.provider, case.model) == ("case", "openai-chat", "openai", "m")
    assert case.stream is not None
    assert case.stream.chunks == (Chunk(data=b"data", at=0.5), Chunk(data=b": [DONE]\n\n", at=0.75))
    assert case.stream.request.body == b'{"model":"m","stream":true}'
    assert case.stream.content_type == "text/event-stream"
    assert (case.stream.ending, case.stream.wire, case.match, case.reference) == ("eof", "original", "shape", None)


def test_a_head_as_it_came(tmp_path: Path) -> None:
    here = folder(tmp_path, "case", response=None)
    (here / "response.head").write_bytes(
        b"HTTP/1.1 200 OK\r\nX-A: 1\r\nSet-Cookie: a=b\r\nset-cookie: c:\xe9\r\nEmpty:\r\n\r\n"
    )
    case = load_one(here)
    assert case.stream is not None
    assert case.stream.status == 200
    assert case.stream.headers.fields == (("X-A", "1"), ("Set-Cookie", "a=b"), ("set-cookie", "c:é"), ("Empty", ""))


@pytest.mark.parametrize(
    ("end", "headers", "ending"),
    [
        ("final chunk", {"transfer-encoding": "chunked"}, "eof"),
        ("content-length reached", {"content-length": "14"}, "eof"),
        ("connection closed", {}, "eof"),
        ("connection closed", {"Transfer-Encoding": "chunked"}, "reset"),
        ("connection closed", {"content-length": "99"}, "reset"),
        ("ConnectionResetError", {}, "reset"),
        ("client closed after 8 reads", {}, "reset"),
        ("TimeoutError", {}, "timeout"),
    ],
)
def test_how_a_body_ended(end: str, headers: dict[str, str], ending: str, tmp_path: Path) -> None:
    here = folder(tmp_path, "case", response={"status": 200, "headers": headers}, timing={"end": end})
    case = load_one(here)
    assert case.stream is not None
    assert case.stream.ending == ending


def test_a_request_that_is_no_json(tmp_path: Path) -> None:
    request = {"method": "POST", "path": "/v1/chat/completions", "text": '{"messages": [}'}
    case = load_one(folder(tmp_path, "case", request=request, response={"status": 400}))
    assert case.reference is not None
    assert (case.reference.request.body, case.reference.request.json) == (b'{"messages": [}', None)
    assert (case.stream, case.provider) == (None, "unknown")


def test_twins_by_name(tmp_path: Path) -> None:
    plain = {"model": "m"}
    folder(tmp_path, "text-stream")
    folder(tmp_path, "text-plain", b"{}", asked=plain)
    folder(tmp_path, "refused-stream", response={"status": 400})
    folder(tmp_path, "refused-plain", b"{}", asked=plain, response={"status": 400})
    folder(tmp_path, "alone-stream")
    folder(tmp_path, "half-stream")
    folder(tmp_path, "half-plain", b"{}", asked=plain, response={"status": 500})
    cases = {case.id: case for case in load(tmp_path)}
    sides = {name: (case.stream is not None, case.reference is not None) for name, case in cases.items()}
    assert sides == {
        "alone-stream": (True, False),
        "half-plain": (False, True),
        "half-stream": (True, False),
        "refused-plain": (False, True),
        "refused-stream": (False, True),
        "text-stream": (True, True),
    }
    assert list(cases) == sorted(cases)
    assert (cases["text-stream"].scenario, cases["text-stream"].pair_kind) == ("text", "exact")
    assert load_one(tmp_path / "text-stream").reference == cases["text-stream"].reference
    assert load_one(tmp_path / "text-plain").stream is None


def _row(name: str, *twins: str, streaming: bool, **more: Any) -> str:
    kind = "near" if twins else None
    row = {"id": name, "api": "openai-chat", "provider": "groq", "model": "m", "streaming": streaming, "status": 200}
    return json.dumps(row | {"pair_with": twins, "pair_kind": kind, "features": ["text"], "quirks": ["odd"]} | more) + "\n"


def test_a_manifest_tells_what_each_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("s1", "s2", "s3", "p1", "p2", "p3"):
        folder(tmp_path / "openai-chat", name, name.encode())
    plains, streams = ("p1", "p2"), ("s1", "s2", "s3")
    rows = [_row(name, *plains, streaming=True) for name in streams] + [_row(n, *streams, streaming=False) for n in plains]
    rows.append(_row("p3", streaming=False, origin="vendor-test-data", repo="some/repo", notes="by hand"))
    (tmp_path / "MANIFEST.jsonl").write_text("".join(rows) + "\n")
    cases = {case.id: case for case in load(tmp_path)}
    assert {name: case.reference and case.reference.body for name, case in cases.items()} == {
        "openai-chat/p3": b"p3",
        "openai-chat/s1": b"p1",
        "openai-chat/s2": b"p2",
        "openai-chat/s3": b"p1",
    }
    case = cases["openai-chat/s2"]
    assert (case.provider, case.features, case.quirks, case.pair_kind) == ("groq", ("text",), ("odd",), "near")
    alone = cases["openai-chat/p3"]
    assert (alone.pair_kind, alone.provenance.kind, alone.provenance.by, alone.provenance.note) == (
        None,
        "authored",
        "some/repo",
        "by hand",
    )
    below = load_one(tmp_path / "openai-chat" / "s2")
    assert (below.id, below.reference) == ("s2", case.reference)
    assert [case.id for case in load(tmp_path / "openai-chat")] == ["p3", "s1", "s2", "s3"]
    monkeypatch.chdir(tmp_path / "openai-chat")
    assert [case.id for case in load(Path("../openai-chat"))] == ["p3", "s1", "s2", "s3"]


def test_other_apis_are_passed_over_in_a_tree(tmp_path: Path) -> None:
    request = {"method": "GET", "path": "/v1/models", "headers": {}}
    here = folder(tmp_path, "models", request=request)
    assert list(load(tmp_path)) == []
    with pytest.raises(CassetteError, match="no known API"):
        load(here)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"request": {"method": "POST"}}, r"request\.json, path: expected a path, got None"),
        ({"response": None}, "case: there is no response"),
        ({"response": {"status": "fine"}}, r"response\.json, status: expected a status code"),
        ({"response": {"headers": [1]}}, r"response\.json, headers: expected an object"),
        ({"response": {"body_file": "body.json"}}, r"there is no body\.json"),
        ({"response": [1]}, r"response\.json: expected an object, got \[1\]"),
        ({"response": {"chunk_sizes": [4, 11]}}, r"response\.json: the pieces do not fit the body: .* byte 15, .* byte 14"),
        ({"timing": {"body": [[0.1, 13]]}}, r"timing\.json: the pieces do not fit the body"),
        ({"timing": {"body": [[0.1, -1], [0.2, 14]]}}, r"timing\.json: the pieces do not fit the body"),
        ({"timing": {"body": 7}}, r"timing\.json: the pieces do not fit the body"),
        ({"timing": {"body": [[float("inf"), 14]]}}, r"timing\.json: .* a time of the chunks is no finite number"),
        ({"timing": {"body": [[float("nan"), 14]]}}, r"timing\.json: .* a time of the chunks is no finite number"),
        ({"timing": {"body": [[0.1, float("inf")]]}}, r"timing\.json: the pieces do not fit the body"),
    ],
)
def test_damage_is_told_with_its_place(files: dict[str, Any], says: str, tmp_path: Path) -> None:
    here = folder(tmp_path, "case", **files)
    with pytest.raises(CassetteError, match=says):
        load(here)
    with pytest.raises(CassetteError, match=says):
        list(load(tmp_path))


def test_more_damage(tmp_path: Path) -> None:
    here = folder(tmp_path, "case")
    (here / "body.sse").unlink()
    with pytest.raises(CassetteError, match=r"there is no response\.body or body"):
        load(here)
    (here / "request.json").write_text("{")
    with pytest.raises(CassetteError, match=r"request\.json: is not JSON"):
        load(here)
    bad = folder(tmp_path, "head", response=None)
    (bad / "response.head").write_bytes(b"220 ready\r\n")
    with pytest.raises(CassetteError, match=r"response\.head, line 1: expected a status line"):
        load(bad)
    (tmp_path / "MANIFEST.jsonl").write_text('{"api": "openai-chat", "id": "x"}\n[]\n')
    with pytest.raises(CassetteError, match=r"MANIFEST\.jsonl, line 2: is no line of a manifest"):
        load(bad)


def _bodies(cases: list[Cassette]) -> set[bytes]:
    return {side.body for case in cases for side in (case.stream, case.reference) if side is not None}


def test_the_corpus(shared: Shared) -> None:
    corpus = shared("corpus")
    rows = [json.loads(line) for line in (corpus / "MANIFEST.jsonl").read_text().splitlines()]
    cases = list(load(corpus))
    names = [case.id for case in cases]
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert len(set(names)) == len(names)
    streams = [row for row in rows if row["streaming"] and row["status"] < 400]
    assert sum(case.stream is not None for case in cases) == len(streams)
    assert sum(case.reference is not None and case.stream is not None for case in cases) == sum(
        bool(row["pair_with"]) for row in streams
    )
    there = {file.read_bytes() for row in rows for file in (corpus / row["api"] / row["id"]).glob("body.*")}
    assert _bodies(cases) == there  # no exchange is lost
    assert {case.match for case in cases} == {"shape"}
    assert {case.pair_kind for case in cases} == {"exact", "near", None}


def test_our_recordings(shared: Shared, tmp_path: Path) -> None:
    """Each pair is found, and every cassette survives being saved."""
    cases = {case.id: case for case in load(shared("recordings"))}
    assert {case.provider for case in cases.values()} == {
        "cyllama",
        "litellm",
        "llamacpp",
        "ollama-openai-proxy",
        "portkey",
    }
    case = cases["llamacpp/chat-text-stream"]
    assert case.stream is not None
    assert case.reference is not None
    assert len(case.stream.chunks) > 10
    assert case.stream.chunks[0].at > 0
    assert case.stream.headers["content-type"] == "text/event-stream"
    assert "llamacpp/chat-text-plain" not in cases
    cut = cases["llamacpp/chat-client-cut"].stream
    assert cut is not None
    assert cut.ending == "reset"
    for case in cases.values():
        save(case, tmp_path / "case.yaml")
        assert load_one(tmp_path / "case.yaml") == case
