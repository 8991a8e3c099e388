"""Cassette files: what they look like, what vcrpy makes of them, and what is said of damaged ones."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import vcr
import yaml

from harness import cassette as cassettes
from harness.cassette import Cassette, Chunk, Exchange, Headers, Provenance, Request, libyaml, load, load_one, save
from harness.cassette.saving import rendered
from harness.errors import CassetteError, UnsupportedDialectError

URL = "https://api.example.com/v1/chat/completions?v=1"
ASKED = b'{"model":"m","stream":true}'
STREAM = b'data: {"choices": []}\n\ndata: [DONE]\n\n'
ANSWER = b'{"choices": []}'


def pair(**changes: Any) -> Cassette:
    def asking(body: bytes) -> Request:
        headers = Headers([("content-type", "application/json")])
        return Request(host="api.example.com", target="/v1/chat/completions?v=1", headers=headers, body=body)

    stream = Exchange(
        request=asking(ASKED),
        headers=Headers([("content-type", "text/event-stream"), ("x-many", "1"), ("x-many", "2")]),
        chunks=(Chunk(data=STREAM[:23], at=0.412), Chunk(data=STREAM[23:], at=0.431)),
    )
    answer = Exchange(
        request=asking(b'{"model":"m"}'),
        headers=Headers([("content-type", "application/json")]),
        chunks=(Chunk(data=ANSWER),),
    )
    fields: dict[str, Any] = {
        "id": "openai-chat/example/text",
        "dialect": "openai-chat",
        "provider": "example",
        "model": "m",
        "scenario": "text",
        "stream": stream,
        "reference": answer,
        "match": "exact",
        "provenance": Provenance(kind="authored", on="2026-11-30", by="a test", note="nothing"),
    }
    return Cassette(**fields | changes)


WRITTEN = """\
version: 1
interactions:
- request:
    method: POST
    uri: https://api.example.com/v1/chat/completions?v=1
    headers:
      content-type: [application/json]
    body: |2-
      {"model":"m","stream":true}
  response:
    status: {code: 200, message: OK}
    headers:
      content-type: [text/event-stream]
      x-many: ['1', '2']
    body:
      string: |2+
        data: {"choices": []}

        data: [DONE]

- request:
    method: POST
    uri: https://api.example.com/v1/chat/completions?v=1
    headers:
      content-type: [application/json]
    body: |2-
      {"model":"m"}
  response:
    status: {code: 200, message: OK}
    headers:
      content-type: [application/json]
    body:
      string: |2-
        {"choices": []}
metadata:
  streamproof:
    id: openai-chat/example/text
    dialect: openai-chat
    provider: example
    model: m
    scenario: text
    stream: 0
    reference: 1
    match: exact
    provenance: {kind: authored, 'on': 2026-11-30, by: a test, note: nothing}
    chunks:
      0:
      - [0.412, 23]
      - [0.431, 37]
    ending: {0: eof, 1: eof}
"""


def test_a_file_can_be_read_by_people() -> None:
    assert rendered(pair()).decode() == WRITTEN


def test_a_stream_with_crlf_has_a_line_for_each_of_its_own() -> None:
    body = b'data: {"a": "\xc3\xa9"}\r\n\r\n'
    text = rendered(pair(stream=Exchange(chunks=(Chunk(data=body),)))).decode()
    assert '      string: "data: {\\"a\\": \\"é\\"}\\r\\n\\\n        \\r\\n"\n' in text


def test_the_example_of_the_contract_loads(tmp_path: Path) -> None:
    """With `on` and a date bare, which YAML 1.1 reads as true and as a date, and chunks in one line."""
    text = WRITTEN.replace("'on'", "on").replace("    chunks:\n      0:\n      - [0.412, 23]\n      - [0.431, 37]\n", "")
    text += "    chunks: {0: [[0.412, 23], [0.431, 37]]}\n"
    (tmp_path / "a.yaml").write_text(text)
    assert load_one(tmp_path / "a.yaml") == pair()


def test_an_alias_of_a_dialect_is_read_as_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(WRITTEN.replace("dialect: openai-chat", "dialect: open_router"))
    assert load_one(tmp_path / "a.yaml").dialect == "openai-chat"


def test_saving_replaces_the_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deep" / "er" / "a.yaml"
    save(pair(), file)
    save(pair(model="n"), file)
    assert load_one(file).model == "n"
    before = file.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.cassette.saving.os.fsync", full_disk)
    with pytest.raises(CassetteError, match=r"a\.yaml: cannot be written: No space left on device"):
        save(pair(model="o"), file)
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stream": None, "reference": None}, "needs a stream or a reference"),
        ({"stream": Exchange(chunks=(Chunk(data=b"a", at=float("nan")),))}, "/chunks/0/0/0"),
        ({"provenance": Provenance(on="yesterday")}, "valid date"),
        ({"model": "\ud800"}, "cannot be written as YAML"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=says):
        save(pair(**changes), tmp_path / "a.yaml")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_dialect_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedDialectError, match="openai-chad"):
        save(pair(dialect="openai-chad"), tmp_path / "a.yaml")


def test_vcrpy_replays_both_interactions(tmp_path: Path) -> None:
    zipped = gzip.compress(ANSWER, mtime=0)
    answer = Exchange(
        request=pair().reference.request,  # type: ignore[union-attr]
        headers=Headers([("content-type", "application/json"), ("content-encoding", "gzip")]),
        chunks=(Chunk(data=zipped),),
    )
    crlf = 'data: {"a": "é🙂\u2028\x85"}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()
    stream = Exchange(
        request=pair().stream.request,  # type: ignore[union-attr]
        headers=Headers([("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]),
        chunks=(Chunk(data=crlf),),
    )
    save(pair(stream=stream, reference=answer), tmp_path / "a.yaml")
    with vcr.use_cassette(str(tmp_path / "a.yaml"), record_mode="none") as tape, httpx.Client() as client:
        with client.stream("POST", URL, content=ASKED) as streamed:
            assert (streamed.status_code, streamed.reason_phrase) == (200, "OK")
            assert streamed.headers["content-type"] == "text/event-stream"
            assert b"".join(streamed.iter_raw()) == crlf
        plain = client.post(URL, content=b'{"model":"m"}')
        assert plain.content == ANSWER
        assert tape.all_played


@pytest.mark.parametrize("body", [b"\xff\x00\xfe", b"", b" \n"], ids=["binary", "empty", "white"])
def test_vcrpy_reads_any_body(body: bytes, tmp_path: Path) -> None:
    save(
        pair(stream=Exchange(request=Request(host="h", target="/v1/chat/completions"), chunks=(Chunk(data=body),))),
        tmp_path / "a.yaml",
    )
    with vcr.use_cassette(str(tmp_path / "a.yaml"), record_mode="none"), httpx.Client() as client:
        assert client.post("https://h/v1/chat/completions").content == body


def test_a_host_that_was_not_recorded(tmp_path: Path) -> None:
    case = pair(stream=Exchange(request=Request(target="/v1/chat/completions"), chunks=(Chunk(data=b"x"),)), reference=None)
    save(case, tmp_path / "a.yaml")
    assert "uri: https://unknown.invalid/v1/chat/completions" in (tmp_path / "a.yaml").read_text()
    assert load_one(tmp_path / "a.yaml") == case


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("interactions:", "interactions: [", r"a\.yaml, line \d+, column \d+: is not YAML"),
        ("version: 1", "version: 2", r"a\.yaml · /version: the format has version 2.*update streamproof"),
        ("version: 1", "version: one", r"· /version: the version 'one' is none"),
        ("interactions:", "interaction:", "is no cassette"),
        (
            "    body:\n      string: |2+",
            "    nobody:\n      string: |2+",
            "/interactions/0/response: the response has no body",
        ),
        ("      string: |2+", "      strings: |2+", "/interactions/0/response/body: expected a body"),
        ("code: 200", "code: fine", "/interactions/0/response/status: expected a status code, got 'fine'"),
        ("    uri: https", "    url: https", "/interactions/0/request/uri: expected a URI"),
        ("  response:", "  respond:", "/interactions/0/response: the response is missing"),
        ("stream: 0", "stream: 7", "/metadata/streamproof/stream: there is no interaction 7; the file has 2"),
        ("reference: 1", "reference: 0", "the stream and its reference are one interaction"),
        ("stream: 0\n    reference: 1", "stream: null", "neither a stream nor a reference"),
        ("stream: 0", "stream: -1", "/metadata/streamproof/stream: .*greater than or equal to 0"),
        ("stream: 0", "stream: true", "/metadata/streamproof/stream: .*valid integer, got True"),
        ("ending: {0: eof", "ending: {2: eof", "/metadata/streamproof/ending: there is no interaction 2"),
        ("ending: {0: eof", "ending: {0: crash", "/metadata/streamproof/ending/0: "),
        ("[0.431, 37]", "[0.431, 36]", "/metadata/streamproof/chunks/0: the chunks end at byte 36, the body at byte 37"),
        ("[0.412, 23]", "[0.412, 39]", "/metadata/streamproof/chunks/0: .*go back"),
        ("[0.412, 23]", "[soon, 23]", "/metadata/streamproof/chunks/0/0/0: .*got 'soon'"),
        ("match: exact", "match: roughly", "/metadata/streamproof/match: "),
        ("scenario: text", "scene: text", "/metadata/streamproof/scene: Extra inputs"),
        ("kind: authored", "kind: dreamt", "/metadata/streamproof/provenance/kind: "),
        ("    id: openai-chat/example/text\n", "", "/metadata/streamproof/id: Field required"),
        (WRITTEN, "\x00", "is not YAML"),
        (WRITTEN, "[" * 100_000, "is not YAML"),
        (WRITTEN, "version: 2026-99-99", "is not YAML"),
        (WRITTEN, "", "is no cassette"),
        (WRITTEN, "- request: {}\n", "before version 1.0"),
        (WRITTEN, "http_interactions: []", "Ruby"),
        (WRITTEN, "version: 1\ninteractions: []\n", "no interaction is a request to a known API"),
    ],
)
def test_damage_is_told_with_its_place(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in WRITTEN
    (tmp_path / "a.yaml").write_text(WRITTEN.replace(old, new, 1))
    with pytest.raises(CassetteError, match=says) as raised:
        list(load(tmp_path / "a.yaml"))
    assert "a.yaml" in str(raised.value)


def test_damaged_json_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"version": 1,\n "interactions": [}')
    with pytest.raises(CassetteError, match=r"a\.json, line 2, column 19: is not JSON"):
        load(tmp_path / "a.json")


def test_an_unknown_dialect_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(WRITTEN.replace("dialect: openai-chat", "dialect: openai-chad"))
    with pytest.raises(UnsupportedDialectError, match=r"a\.yaml · /metadata/streamproof/dialect: .*did you mean 'openai-chat'"):
        load(tmp_path / "a.yaml")


def test_a_missing_libyaml_is_told_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader")
    monkeypatch.delattr(yaml, "CSafeDumper")
    for cached in (libyaml._base, libyaml.loader, libyaml._dumper):
        cached.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="libyaml"):
            save(pair(), tmp_path / "a.yaml")
        with pytest.warns(RuntimeWarning, match="libyaml"):
            assert load_one(tmp_path / "a.yaml") == pair()
    finally:
        for cached in (libyaml._base, libyaml.loader, libyaml._dumper):
            cached.cache_clear()


def test_shipped_cassettes_lie_beside_the_code() -> None:
    root = Path(cassettes.__file__).parents[1]
    assert cassettes.shipped() in (root / "_cassettes", root.parent / "cassettes")


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys, harness; print([m for m in ('vcr', 'yaml', 'pydantic', 'httpx', 'harness.cassette') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_loading_needs_no_vcr(tmp_path: Path) -> None:
    save(pair(), tmp_path / "a.yaml")
    file = str(tmp_path / "a.yaml")
    code = f"import sys; from harness.cassette import load_one; load_one({file!r}); print('vcr' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def _interaction(body: Any, answer: Any, **response: Any) -> dict[str, Any]:
    request = {"method": "POST", "uri": URL, "headers": {"Accept": ["*/*"]}, "body": body}
    return {
        "request": request,
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": answer} | response,
    }


def _write(folder: Path, *recorded: dict[str, Any], name: str = "b.yaml") -> Path:
    value = {"version": 1, "interactions": list(recorded)}
    (folder / name).write_text(json.dumps(value) if name.endswith(".json") else yaml.dump(value))
    return folder / name


@pytest.mark.parametrize("name", ["b.yaml", "b.json"])
def test_a_plain_cassette_of_vcrpy(name: str, tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        _interaction('{"model": "m", "a": 1}', {"string": ANSWER.decode()}),
        _interaction('{"model": "m", "a": 1, "stream": true, "stream_options": {}}', {"string": STREAM.decode()}),
        name=name,
    )
    case = load_one(path)
    assert (case.id, case.dialect, case.provider, case.model) == ("b", "openai-chat", "api.example.com", "m")
    assert case.stream is not None
    assert case.reference is not None
    assert (case.stream.body, case.reference.body) == (STREAM, ANSWER)
    assert (case.match, case.pair_kind, case.stream.ending) == ("shape", "exact", "eof")
    assert case.stream.request.headers["accept"] == "*/*"


def test_what_belongs_together_in_a_plain_cassette(tmp_path: Path) -> None:
    """Equal requests apart from the stream are twins, in their order; the rest stands alone; other APIs are passed over."""
    stream, plain = '{"q": 1, "stream": true}', '{"stream": false, "q": 1}'
    elsewhere = _interaction("{}", {"string": "x"})
    elsewhere["request"]["uri"] = "https://api.example.com/v1/embeddings"
    path = _write(
        tmp_path,
        elsewhere,
        _interaction(stream, {"string": "s1"}),
        _interaction(plain, {"string": "p1"}),
        _interaction('{"q": 2}', {"string": "alone"}),
        _interaction(stream, {"string": "s2"}),
        _interaction(plain, {"string": "p2"}),
        _interaction(stream, {"string": "s3"}),
        _interaction(stream, {"string": "refused"}, status={"code": 429, "message": ""}),
        _interaction(None, {"string": "nobody knows"}),
    )
    found = [(c.id, c.stream and c.stream.body, c.reference and c.reference.body) for c in load(path)]
    assert found == [
        ("b#1", b"s1", b"p1"),
        ("b#3", None, b"alone"),
        ("b#4", b"s2", b"p2"),
        ("b#6", b"s3", None),
        ("b#7", None, b"refused"),
        ("b#8", None, b"nobody knows"),
    ]


def test_a_stream_asked_for_by_a_word_in_the_path(tmp_path: Path) -> None:
    one, other = (_interaction('{"model": "m"}', {"string": text}) for text in ("s", "p"))
    one["request"]["uri"] = "http://127.0.0.1:11434/api/chat"
    other["request"]["uri"] = "http://127.0.0.1:11434/api/chat?x=1"
    other["request"]["body"] = '{"model": "m", "stream": false}'
    case = load_one(_write(tmp_path, one, other))
    assert (case.dialect, case.provider) == ("ollama-chat", "ollama")
    assert case.reference is not None
    assert (case.reference.request.scheme, case.reference.request.host) == ("http", "127.0.0.1:11434")


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ({"string": "text é"}, "text é".encode()),
        ({"string": b"\xff\x00"}, b"\xff\x00"),
        ({"base64_string": base64.b64encode(b"\xff\x00").decode()}, b"\xff\x00"),
        ({"string": None}, b""),
        ("bare", b"bare"),
        (b"\xff", b"\xff"),
    ],
)
def test_every_form_of_a_body(answer: Any, body: bytes, tmp_path: Path) -> None:
    case = load_one(_write(tmp_path, _interaction("{}", answer)))
    assert case.reference is not None
    assert case.reference.body == body


def test_a_lone_surrogate_in_json(tmp_path: Path) -> None:
    case = load_one(_write(tmp_path, _interaction("{}", {"string": "\ud83d"}), name="b.json"))
    assert case.reference is not None
    assert case.reference.body == b"\xed\xa0\xbd"


def test_a_gzip_body_is_kept_as_it_is(tmp_path: Path) -> None:
    zipped = gzip.compress(STREAM)
    headers = {"Content-Encoding": ["gzip"]}
    case = load_one(_write(tmp_path, _interaction('{"stream": true}', {"string": zipped}, headers=headers)))
    assert case.stream is not None
    assert case.stream.body == zipped
    assert case.stream.headers["content-encoding"] == "gzip"


def test_forms_of_older_versions(tmp_path: Path) -> None:
    """`status_code` and `content` of httpx before vcrpy 6, bare header values, and Python objects, none of which is made."""
    (tmp_path / "b.yaml").write_text(
        """
version: 1
interactions:
- request:
    method: POST
    uri: https://api.example.com/v1/chat/completions
    headers: {Accept: '*/*', n: [!!python/unicode '1']}
    body: !!python/object/new:_io.BytesIO
      state: !!python/tuple [!!binary eyJhIjogMX0=, 0, null]
  response: {status_code: 200, content: hello, headers: {content-length: [5]}, http_version: HTTP/1.1}
"""
    )
    case = load_one(tmp_path / "b.yaml")
    assert case.reference is not None
    assert case.reference.body == b"hello"
    assert case.reference.request.json == {"a": 1}
    assert case.reference.request.headers.fields == (("Accept", "*/*"), ("n", "1"))
    assert case.reference.headers["content-length"] == "5"


def test_what_vcrpy_records_loads(tmp_path: Path) -> None:
    """Not our idea of the format: vcrpy's own writer."""
    from vcr.request import Request as VcrRequest
    from vcr.serialize import serialize
    from vcr.serializers import yamlserializer

    def recorded(body: bytes, answer: bytes) -> tuple[VcrRequest, dict[str, Any]]:
        request = VcrRequest("POST", URL, body, {"content-type": "application/json"})
        response = {"status": {"code": 200, "message": "OK"}, "headers": {"x": ["1"]}, "body": {"string": answer}}
        return request, response

    awkward = "data: é🙂 \u2028 \x85\r\n\r\n".encode()
    sides = [recorded(ASKED, awkward), recorded(b'{"model":"m"}', b"\xff\x00")]
    text = serialize({"requests": [r for r, _ in sides], "responses": [r for _, r in sides]}, yamlserializer)
    (tmp_path / "c.yaml").write_text(text)
    case = load_one(tmp_path / "c.yaml")
    assert case.stream is not None
    assert case.reference is not None
    assert (case.stream.body, case.reference.body) == (awkward, b"\xff\x00")


def test_a_tree_of_files(tmp_path: Path) -> None:
    """In the order of their paths; what is no cassette, or none of a known API, is passed over, damage is not."""
    save(pair(id="mine"), tmp_path / "b" / "x.yaml")
    (tmp_path / "a").mkdir()
    _write(tmp_path / "a", _interaction("{}", {"string": "1"}), name="p.json")
    _write(tmp_path / "a", _interaction("{}", {"string": "1"}), _interaction("{}", {"string": "2"}), name="q.yml")
    other = _interaction("{}", {"string": "1"})
    other["request"]["uri"] = "https://example.com/"
    _write(tmp_path, other, name="other.yaml")
    (tmp_path / "config.yaml").write_text("not: [a cassette")
    (tmp_path / "known.toml").write_text("interactions:")
    (tmp_path / ".hidden").mkdir()
    _write(tmp_path / ".hidden", _interaction("{}", {"string": "1"}))
    assert [case.id for case in load(tmp_path)] == ["a/p", "a/q#0", "a/q#1", "mine"]
    (tmp_path / "z.yaml").write_text("version: 1\ninteractions:\n<<<<<<< ours\n")
    with pytest.raises(CassetteError, match=r"z\.yaml, line 4"):
        list(load(tmp_path))


def test_load_one_takes_one(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="no cassette there"):
        load_one(tmp_path)
    path = _write(tmp_path, *(_interaction("{}", {"string": str(n)}) for n in range(5)))
    with pytest.raises(CassetteError, match=r"5 cassettes there, where one was asked for: b#0, b#1, b#2, …"):
        load_one(path)
    with pytest.raises(CassetteError, match="no such file or folder"):
        load(tmp_path / "nowhere")
