"""What an import makes of a file: names, pairs, provenance; the other harnesses; what is refused."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import cassette, checking, inputs
from harness.cassette.model import Exchange
from harness.errors import HarnessError, UnsupportedDialectError
from harness.importing import Import, Told
from harness.importing.forms import FORMS
from harness.importing.making import check_free, slug
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import completion, document, exchange, sse
from tests.framing.feeding import quick
from tests.importing.making import failed, made, only, side, written

TURN = sse(chat.text("Hello"), chat.stops())
DOCUMENT = chat.encoded(completion({"content": "Hello"})).decode()
URL = "https://api.openai.com/v1/chat/completions"


def interaction(asked: Any, answer: str, url: str = URL, **response: Any) -> dict[str, Any]:
    request = {"method": "POST", "uri": url, "headers": {}, "body": json.dumps(asked)}
    return {"request": request, "response": {"status": {"code": 200}, "headers": {}, "body": {"string": answer}, **response}}


def recorded(*interactions: Any, **more: Any) -> dict[str, Any]:
    return {"interactions": list(interactions), "version": 1, **more}


def asks(number: int, *, stream: bool = True) -> dict[str, Any]:
    return {"model": "tide-1", "n": number, **({"stream": True} if stream else {})}


# pairs and names


def test_a_stream_finds_its_twin_however_far_away(tmp_path: Path) -> None:
    streams = [interaction(asks(n), TURN.decode()) for n in range(30)]
    twins = [interaction(asks(n, stream=False), DOCUMENT.replace("chatcmpl-1", f"chatcmpl-{n}")) for n in reversed(range(30))]
    found = made(written(tmp_path, "many.json", recorded(*streams, *twins)))
    assert [one.cassette.id for one in found] == [f"openai-chat/openai/many-{n:02}" for n in range(1, 31)]
    for number, one in enumerate(found):
        assert one.cassette.stream is not None
        assert one.cassette.reference is not None
        assert one.cassette.stream.request.json["n"] == number
        assert one.cassette.reference.json["id"] == f"chatcmpl-{number}"


def test_the_same_request_twice_is_two_cassettes(tmp_path: Path) -> None:
    found = made(written(tmp_path, "a.json", recorded(*[interaction(asks(0), TURN.decode())] * 2)))
    assert [one.cassette.id for one in found] == ["openai-chat/openai/a-1", "openai-chat/openai/a-2"]


def test_what_is_known_beforehand_wins(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", recorded(interaction(asks(0), TURN.decode(), "https://gw.example.com/any")))
    assert "it is no request to a known API (1)" in failed(path).message
    one = only(path, Told(dialect="openai-chat", provider="Some Gateway", model="tide-9"))
    assert (one.cassette.id, one.cassette.provider, one.cassette.model) == (
        "openai-chat/some-gateway/a",
        "Some Gateway",
        "tide-9",
    )
    with pytest.raises(UnsupportedDialectError):
        made(path, Told(dialect="openai-chatt"))


def test_every_exchange_is_cleaned_before_it_is_put_aside(tmp_path: Path) -> None:
    def clean(given: Exchange) -> Exchange:
        return Exchange(request=given.request, chunks=given.chunks, status=given.status, ending="timeout")

    path = written(tmp_path, "a.json", recorded(interaction(asks(0), TURN.decode())))
    assert side(only(path, clean=clean)).ending == "timeout"
    cassette.save(case_of(exchange(TURN), document(completion({"content": "Hello"}))), tmp_path / "ours.yaml")
    one = only(tmp_path / "ours.yaml", clean=clean)
    assert one.cassette.stream is not None
    assert one.cassette.reference is not None
    assert {one.cassette.stream.ending, one.cassette.reference.ending} == {"timeout"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wann ist Flut?", "wann-ist-flut"),
        ("../..//x", "x"),
        ("", "unnamed"),
        ("…", "unnamed"),
        ("a.b_C", "a.b-c"),
        ("x" * 99, "x" * 60),
    ],
)
def test_names_of_files(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_nothing_is_written_over(tmp_path: Path) -> None:
    check_free([tmp_path / "a", tmp_path / "b"])
    there = written(tmp_path, "a", b"")
    with pytest.raises(HarnessError, match=r"is there already \(--force"):
        check_free([there, tmp_path / "b"])
    check_free([there], force=True)
    with pytest.raises(HarnessError, match="is there already"):
        check_free([there], force=True, written={there})
    with pytest.raises(HarnessError, match="two cassettes would be written there"):
        check_free([tmp_path / "b", tmp_path / "b"], force=True)


def test_names_are_all_different(tmp_path: Path) -> None:
    """Also where one is called as another would be with its number."""
    exchanges = [answered({"sse": ["data: [DONE]\n\n"]})] * 2
    with Import(written(tmp_path, "x.json", fixture(*exchanges, scenario="errors.retry"))) as job:
        assert job.names == ["openai-chat/openai/errors-retry-1", "openai-chat/openai/errors-retry-2"]


# cassettes and exchange folders


def test_a_cassette_of_ours_stays_what_it_is(tmp_path: Path) -> None:
    case = case_of(exchange(TURN, pieces=7), features=("text",))
    cassette.save(case, tmp_path / "case.yaml")
    with Import(tmp_path / "case.yaml") as job:
        assert (job.form, job.names) == ("cassettes", [case.id])
        (one,) = job
    assert one.cassette.features == ("text",)
    assert len(side(one).chunks) > 5
    assert one.lost == ()


def test_exchange_folders(tmp_path: Path) -> None:
    for name, body, asked in (("a-stream", TURN, True), ("a-plain", DOCUMENT.encode(), False)):
        folder = tmp_path / name
        folder.mkdir()
        written(folder, "request.json", {"method": "POST", "path": "/v1/chat/completions", "body": asks(0, stream=asked)})
        written(folder, "response.json", {"status": 200, "headers": {}})
        written(folder, "body.sse", body)
    one = only(tmp_path)
    assert one.cassette.stream is not None
    assert one.cassette.reference is not None


# vcrpy


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a"])
def test_a_version_that_nobody_knows(name: str, packed: bool, tmp_path: Path) -> None:
    data = json.dumps(recorded(interaction(asks(0), TURN.decode()), version=2)).encode()
    error = failed(written(tmp_path, name, gzip.compress(data) if packed else data))
    assert "the format of the cassette has version 2, and 1 is what is known here" in error.message
    assert str(error.where).endswith("version")


def test_a_header_that_is_no_longer_true_is_taken_away(tmp_path: Path) -> None:
    told = {"Content-Encoding": ["gzip"], "x": ["y"]}
    one = only(written(tmp_path, "a.json", recorded(interaction(asks(0), TURN.decode(), headers=told))))
    assert (side(one).wire, dict(side(one).headers)) == ("reconstructed", {"x": "y"})
    assert any("content encoding" in lost for lost in one.lost)


BAD = {
    "cut": (json.dumps(recorded(interaction(asks(0), "x")))[:90], "is no whole cassette: the document ends too early"),
    "cut YAML": ("version: 1\ninteractions:\n- request: {a: b\n", "is not YAML"),
    "no list": ({"version": 1, "interactions": 3}, "is no cassette: it has no interactions"),
    "Ruby": ("http_interactions:\n- request: {}\n", "Ruby's VCR"),
    "old": ("- request: {}\n  response: {}\n", "vcrpy before version 1.0"),
    "no response": (recorded({"request": {"method": "POST", "uri": URL}}), "the response is missing"),
    "no body": (recorded({"request": {"method": "POST", "uri": URL}, "response": {"status": {"code": 200}}}), "has no body"),
    "empty": (recorded(), "there is no exchange in it"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_damaged_cassette_says_where(what: str, tmp_path: Path) -> None:
    value, message = BAD[what]
    assert message in failed(written(tmp_path, "case", value)).message


def test_gzip_that_is_damaged(tmp_path: Path) -> None:
    data = gzip.compress(json.dumps(recorded(*[interaction(asks(n), TURN.decode()) for n in range(20)])).encode())
    assert "the gzip data is damaged" in failed(written(tmp_path, "a.json.gz", data[:-20])).message


# wiretruth and aimock


def fixture(*exchanges: Any, **more: Any) -> dict[str, Any]:
    about = {"format": "wiretruth.fixture/v1", "scenario": "errors.retry", "provider": "openai-chat", "tier": "derived"}
    return {**about, "provenance": {"requested_model": "tide-1"}, "exchanges": list(exchanges), **more}


def answered(body: Any, **more: Any) -> dict[str, Any]:
    return {
        "match": {"method": "POST", "path": "/v1/chat/completions"},
        "response": {"status": 200, "headers": {}, "body": body, **more},
    }


def test_wiretruth_has_several_exchanges(tmp_path: Path) -> None:
    first = answered({"text": "slow down"}, status=429, end="abort")
    second = answered({"sse": ["data: [DONE]\n\n"]})
    with Import(written(tmp_path, "x.json", fixture(first, second))) as job:
        found = list(job)
        assert job.names == ["openai-chat/openai/errors-retry-1", "openai-chat/openai/errors-retry-2"]
    assert [(side(one).status, side(one).ending, side(one).body) for one in found] == [
        (429, "reset", b"slow down"),
        (200, "eof", b"data: [DONE]\n\n"),
    ]
    assert {one.cassette.provenance.kind for one in found} == {"authored"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (fixture(provider="gemini-interactions"), "is of an API that is not known here: 'gemini-interactions'"),
        (fixture(exchanges=3), "has no list of exchanges"),
        (fixture({}), "is no exchange of a fixture"),
        (fixture(answered({"sse": [1]})), "is no exchange of a fixture"),
        (fixture(answered({"chunks_b64": ["?"]})), "is no exchange of a fixture"),
        (fixture(answered({"x": 1})), "is no exchange of a fixture"),
    ],
)
def test_wiretruth_that_is_damaged(value: Any, message: str, tmp_path: Path) -> None:
    assert message in failed(written(tmp_path, "a.json", value)).message


def mocked(response: Any, **more: Any) -> dict[str, Any]:
    return {"fixtures": [{"match": {"userMessage": "tide?"}, "response": response, **more}]}


@pytest.mark.parametrize(
    ("response", "text", "calls"),
    [
        ({"content": "Hello"}, "Hello", []),
        ({"toolCalls": [{"name": "tide", "arguments": {"port": "Brest"}}]}, None, [("tide", {"port": "Brest"})]),
        ({"content": "So: ", "toolCalls": [{"name": "tide", "arguments": "{}", "id": "c"}]}, "So: ", [("tide", {})]),
        (
            {"blocks": [{"type": "toolCall", "name": "tide", "arguments": {}}, {"type": "text", "text": "So"}]},
            "So",
            [("tide", {})],
        ),
        (
            {
                "content": "x" * 99,
                "reasoning": "r" * 41,
                "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
            },
            "x" * 99,
            [],
        ),
    ],
)
def test_aimock_says_the_same_streamed_and_whole(response: Any, text: str | None, calls: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", mocked(response))
    one = only(path)
    case = one.cassette
    assert case.stream is not None
    assert case.reference is not None
    assert (case.id, case.pair_kind) == ("openai-chat/aimock/a", "exact")
    for exchange_of in (case.stream, case.reference):
        given_ = inputs.Input(name="x", dialect=next(inputs.load(path)).dialect, detected=False, exchanges=(exchange_of,))
        told = checking.check(given_).as_dict()["response"]
        assert told["text"] in (text, text or "")
        assert [(call["name"], call["arguments"]) for call in told["tool_calls"]] == calls
        assert told["reasoning"] == response.get("reasoning")


def test_aimock_cuts_texts_as_it_does(tmp_path: Path) -> None:
    sizes = [
        len(side(only(written(tmp_path, "a.json", mocked({"content": "x" * 60}, **more)))).chunks)
        for more in ({}, {"chunkSize": 60})
    ]
    assert sizes == [6, 4]


def test_aimock_recorded_times_are_kept(tmp_path: Path) -> None:
    timings = {"ttftMs": 90, "interChunkDelaysMs": [10, "x", 5]}
    chunks = side(only(written(tmp_path, "a.json", mocked({"content": "Hello"}, recordedTimings=timings)))).chunks
    assert [chunk.at for chunk in chunks] == [0.09, 0.1, 0.105, 0.105]


@pytest.mark.parametrize(
    "response",
    [
        {"content": 5, "toolCalls": 5, "blocks": 5},
        {"content": "\ud800", "toolCalls": [{"name": "tide", "arguments": {"port": "\ud83d"}}, 3]},
        {"error": 5, "status": "x"},
        {"blocks": {"type": "text"}, "usage": [], "finishReason": 3},
    ],
)
def test_aimock_of_odd_values(response: Any, tmp_path: Path) -> None:
    timings = {"ttftMs": 1e999, "interChunkDelaysMs": [-50, 1e300, True]}
    value = {"fixtures": [{"match": {"userMessage": "\ud800"}, "response": response, "recordedTimings": timings}]}
    path = written(tmp_path, "a.json", json.dumps(value))
    cassette.save(only(path).cassette, tmp_path / "saved.yaml")
    value["fixtures"][0]["recordedTimings"] = {"ttftMs": 5, "interChunkDelaysMs": [-50, 1e300]}
    cassette.save(only(written(tmp_path, "a.json", json.dumps(value))).cassette, tmp_path / "saved.yaml")


def test_aimock_fixtures_of_other_kinds_are_counted(tmp_path: Path) -> None:
    value = {"fixtures": [{"match": {}, "response": {"embedding": [1]}}, {"match": {}, "response": {"json": {"choices": []}}}]}
    with Import(written(tmp_path, "a.json", value)) as job:
        assert dict(job.passed) == {"it is no chat turn": 1}
        assert job.names == ["openai-chat/aimock/a"]
    assert "made into openai-chat only" in failed(written(tmp_path, "b.json", value), Told(dialect="gemini")).message
    assert "is no fixture: it has no response" in failed(written(tmp_path, "c.json", {"fixtures": [1]})).message


# what is refused


def test_a_binary_file_that_is_named_as_a_stream(tmp_path: Path) -> None:
    error = failed(written(tmp_path, "a.sse", bytes(range(256)) * 9))
    assert "nothing in it looks like a stream of a known API: it begins" in error.message
    assert "--dialect" in (error.hint or "")


def test_a_format_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"no format is called 'harr' \(there are vcrpy, har, curl"):
        made(written(tmp_path, "a", b"x"), form="harr")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    error = failed(tmp_path / "nowhere.har")
    assert (error.message, error.hint) == ("cannot be read: No such file or directory", "give a file or a folder that is there")


@quick
@given(
    st.binary(max_size=200),
    st.sampled_from([None, *FORMS]),
    st.sampled_from(
        [
            b"",
            b"HTTP/1.1 200 OK\r\n",
            b'{"log":{"entries":[',
            b"12:00:00.000000 => Send header, 9 bytes (0x9)\n0000: ",
            b"interactions:\n- ",
            b"20:5:hello,",
        ]
    ),
)
def test_any_bytes_are_an_import_or_an_error_of_ours(
    tmp_path_factory: Any, data: bytes, form: str | None, start: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(start + data)
    with suppress(HarnessError), Import(path, form=form) as job:
        list(job)
