"""What `check` takes: captures, documents, scenarios, exchange folders, cassettes; and what it says of anything else."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from harness import cassette, checking, inputs
from harness.checking import Outcome
from harness.errors import InputError, UnsupportedDialectError
from harness.inputs import Input
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import completion, document, exchange, sse
from tests.framing.feeding import event

TURN = sse(chat.opens("Hello"), chat.stops())
TWIN = completion({"content": "Hello"})
FRAMES = (
    event("messageStart", b'{"role":"assistant"}')
    + event("messageStop", b'{"stopReason":"end_turn"}')
    + event("metadata", b'{"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3},"metrics":{"latencyMs":4}}')
)


def written(folder: Path, name: str, body: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(body.encode() if isinstance(body, str) else body)
    return path


def only(path: Path, dialect: str | None = None) -> Input:
    (given,) = inputs.load(path, dialect)
    return given


def failed(path: Path, dialect: str | None = None) -> InputError:
    with pytest.raises(InputError) as error:
        list(inputs.load(path, dialect))
    return error.value


# bodies


@pytest.mark.parametrize(
    ("name", "body", "dialect"),
    [
        ("a.sse", TURN, "openai-chat"),
        ("a.txt", TURN, "openai-chat"),
        ("capture", TURN, "openai-chat"),
        (
            "a.ndjson",
            chat.encoded({"model": "m", "message": {"role": "assistant", "content": "a"}, "done": True}),
            "ollama-chat",
        ),
        ("a.bin", FRAMES, "bedrock-converse"),
        ("a.hex", FRAMES.hex(), "bedrock-converse"),
        ("a.hex", FRAMES.hex(" ", 4).upper() + "\n", "bedrock-converse"),
        ("a.json", b'[{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}]', "gemini"),
        ("a.sse", gzip.compress(TURN), "openai-chat"),
    ],
)
def test_a_body_is_taken_as_it_is(name: str, body: bytes | str, dialect: str, tmp_path: Path) -> None:
    given = only(written(tmp_path, name, body))
    assert (given.name, given.dialect.name, given.detected) == (name, dialect, True)
    (side,) = given.exchanges
    assert side.body == (FRAMES if name.endswith(".hex") else body)
    assert (side.status, len(side.headers), side.ending) == (200, 0, "eof")


@pytest.mark.parametrize("dialect", ["gemini", "google", "openai-chat"])
def test_a_dialect_that_is_told_is_not_detected(dialect: str, tmp_path: Path) -> None:
    given = only(written(tmp_path, "a.sse", TURN), dialect)
    assert (given.dialect.name, given.detected) == ("gemini" if dialect == "google" else dialect, False)


def test_a_dialect_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedDialectError):
        list(inputs.load(written(tmp_path, "a.sse", TURN), "openai-chatt"))


def test_a_document_is_a_turn_that_was_not_streamed(tmp_path: Path) -> None:
    """It answers a request that asked for no stream; under the name of a stream it is what it should not be."""
    plain = checking.check(only(written(tmp_path, "a.json", chat.encoded(TWIN))))
    assert (plain.outcome, plain.findings, plain.seen.complete) == (Outcome.OK, (), True)
    streamed = checking.check(only(written(tmp_path, "a.sse", chat.encoded(TWIN))))
    assert (streamed.outcome, [f.kind for f in streamed.findings]) == (Outcome.VIOLATION, ["http/content-type"])


@pytest.mark.parametrize("name", ["a.sse", "a.json", "a.ndjson", "a.bin", "a.hex", "a"])
@pytest.mark.parametrize("body", [b"", b"\n", b"7b7d", b"00"])
def test_a_body_of_no_api_is_an_error_with_a_place_and_a_hint(name: str, body: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, name, body)
    error = failed(path)
    assert error.where == str(path)
    assert "nothing in it looks like a stream of a known API" in error.message
    assert "--dialect (openai-chat, openai-responses, gemini," in (error.hint or "")


def test_the_error_quotes_what_is_there(tmp_path: Path) -> None:
    assert "it is empty" in failed(written(tmp_path, "a.sse", b"")).message
    page = b"<!DOCTYPE html><html>" + b"x" * 5_000
    assert "it begins '<!DOCTYPE html><html>xxx" in failed(written(tmp_path, "a.sse", page)).message
    assert len(failed(written(tmp_path, "a.sse", page)).message) < 200


@pytest.mark.parametrize("body", ["zz", "abc", "00 0", "é", "0x00"])
def test_hexadecimal_text_that_is_none(body: str, tmp_path: Path) -> None:
    error = failed(written(tmp_path, "a.hex", body))
    assert "is no hexadecimal text" in error.message
    assert "pairs of hexadecimal digits" in (error.hint or "")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    error = failed(tmp_path / "nowhere.sse")
    assert (error.where, error.message) == (str(tmp_path / "nowhere.sse"), "cannot be read: No such file or directory")
    assert error.hint == "give a file or a folder that is there"


# cassettes and folders


def test_a_cassette_is_its_stream(tmp_path: Path) -> None:
    cassette.save(case_of(exchange(TURN), document(TWIN)), tmp_path / "case.yaml")
    given = only(tmp_path / "case.yaml")
    assert (given.name, given.dialect.name, given.detected) == ("openai-chat/here/case", "openai-chat", False)
    assert [side.body for side in given.exchanges] == [TURN]


def test_a_cassette_without_a_stream_is_its_plain_answer(tmp_path: Path) -> None:
    cassette.save(case_of(None, document(TWIN)), tmp_path / "case.yaml")
    assert checking.check(only(tmp_path / "case.yaml")).outcome is Outcome.OK


def test_a_cassette_in_json_is_told_by_what_it_holds(tmp_path: Path) -> None:
    request = {"method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "body": '{"stream":true}', "headers": {}}
    response = {"status": {"code": 200}, "headers": {}, "body": {"string": TURN.decode()}}
    value = {"version": 1, "interactions": [{"request": request, "response": response}]}
    given = only(written(tmp_path, "case.json", chat.encoded(value)))
    assert (given.name, given.dialect.name) == ("case", "openai-chat")


def test_a_folder_holds_several(tmp_path: Path) -> None:
    for name in ("a", "b"):
        cassette.save(case_of(exchange(TURN), id=f"openai-chat/here/{name}"), tmp_path / f"{name}.yaml")
    assert [given.name for given in inputs.load(tmp_path)] == ["openai-chat/here/a", "openai-chat/here/b"]


def test_a_folder_of_nothing_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, "notes.txt", "hello")
    error = failed(tmp_path)
    assert (error.where, error.message) == (str(tmp_path), "nothing there can be checked")
    assert error.hint


def test_an_exchange_folder(tmp_path: Path) -> None:
    written(tmp_path, "request.json", '{"method":"POST","path":"/v1/chat/completions","body":{"stream":true}}')
    written(tmp_path, "response.json", '{"status":200,"headers":{"content-type":"text/event-stream"}}')
    written(tmp_path, "body.sse", TURN)
    assert checking.check(only(tmp_path)).outcome is Outcome.OK


BAD_CASSETTES = {
    "not YAML": ("interactions: [\n  {a: b\n", "is not YAML"),
    "a tab": ("interactions:\n\t- x\n", "is not YAML"),
    "not a cassette": ("hello: 1\n", "is no cassette"),
    "a list": ("- 1\n", "is no cassette"),
    "empty": ("", "is no cassette"),
    "of a newer version": ("version: 2\ninteractions: []\n", "the format has version 2"),
    "of no version": ("version: one\ninteractions: []\n", "the version 'one' is none"),
    "no interactions": ("version: 1\ninteractions: []\n", "no interaction is a request to a known API"),
    "no body": (
        "version: 1\ninteractions:\n- request: {method: POST, uri: 'https://api.openai.com/v1/chat/completions'}\n"
        "  response: {status: {code: 200}}\n",
        "the response has no body",
    ),
    "no response": (
        "version: 1\ninteractions:\n- request: {method: POST, uri: 'https://api.openai.com/v1/chat/completions'}\n",
        "the response is missing",
    ),
    "binary": (b"\xff\xfe\x00", "is not YAML"),
}


@pytest.mark.parametrize("what", BAD_CASSETTES)
def test_a_damaged_cassette_says_what_and_where_and_what_to_do(what: str, tmp_path: Path) -> None:
    text, message = BAD_CASSETTES[what]
    path = written(tmp_path, "case.yaml", text)
    error = failed(path)
    assert message in error.message
    assert str(error.where).startswith(str(path))
    assert error.hint


# scenarios


def scenario(*exchanges: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": "scenario/1", "api": "openai-chat", "exchanges": list(exchanges), **more}


def of(value: Any, folder: Path) -> Input:
    return only(written(folder, "BR.json", json.dumps(value)))


def test_a_scenario_says_what_a_client_reads(tmp_path: Path) -> None:
    reads = [{"text": "é"}, {"hex": "00 ff"}, {"wait_s": 2}, {"hex_each_byte": "0a0b"}, {"repeat": {"text": "ab", "times": 2}}]
    given = of(scenario({"status": 201, "headers": {"X-Y": "z"}, "reads": reads, "end": "reset"}), tmp_path)
    (side,) = given.exchanges
    assert [(c.data, c.at) for c in side.chunks] == [
        ("é".encode(), 0.0),
        (b"\x00\xff", 0.0),
        (b"\x0a", 2.0),
        (b"\x0b", 2.0),
        (b"abab", 2.0),
    ]
    assert (side.status, side.headers["x-y"], side.ending) == (201, "z", "reset")
    assert (given.name, given.dialect.name, given.detected) == ("BR.json", "openai-chat", False)


@pytest.mark.parametrize(("end", "ending"), [("eof", "eof"), ("reset", "reset"), ("stall", "timeout")])
def test_how_a_scenario_ends(end: str, ending: str, tmp_path: Path) -> None:
    assert of(scenario({"end": end}), tmp_path).exchanges[0].ending == ending


def test_an_attempt_that_is_made_again_is_information(tmp_path: Path) -> None:
    """And its bytes are shown from its own body."""
    refused = {
        "status": 503,
        "headers": {"content-type": "application/json"},
        "reads": [{"text": '{"error":{"message":"busy"}}'}],
    }
    broken = {"reads": [{"text": 'data: {"broken\n\n'}]}
    answered = {"headers": {"content-type": "text/event-stream"}, "reads": [{"text": TURN.decode()}]}
    checked = checking.check(of(scenario(refused, broken, answered), tmp_path))
    assert checked.outcome is Outcome.OK
    assert {(f.where.exchange, f.level.value) for f in checked.findings} == {(0, "info"), (1, "info")}
    (damage,) = [f for f in checked.findings if f.kind.startswith("framing/")]
    body = checked.body_of(damage.where)
    assert body is not None
    assert damage.where.span is not None
    assert b"broken" in body[slice(*damage.where.span)]
    assert checked.seen.response is not None
    assert checked.seen.response.text == "Hello"


def test_an_attempt_is_the_last_where_something_was_shown(tmp_path: Path) -> None:
    begun = {"reads": [{"text": sse(chat.opens("Hel"), end=False).decode()}], "end": "reset"}
    checked = checking.check(of(scenario(begun, {"reads": [{"text": TURN.decode()}]}), tmp_path))
    assert checked.outcome is Outcome.ERROR
    assert checked.seen.response is not None
    assert checked.seen.response.text == "Hel"
    assert {f.where.exchange for f in checked.findings} == {0}


@pytest.mark.parametrize(
    ("value", "where", "message"),
    [
        ({"format": "scenario/1"}, "", "api: Field required"),
        ({"format": "scenario/1", "api": "openai-chat"}, "", "exchanges: Field required"),
        (scenario(), "", "the scenario has no exchange"),
        (scenario({}, format="scenario/2"), "", "scenario format 'scenario/2' is not known"),
        (scenario({"end": "never"}), "", "exchanges.0.end: Input should be 'eof', 'reset' or 'stall'"),
        (scenario({"reads": [{"text": 1}]}), "", "exchanges.0.reads.0.text: Input should be a valid string"),
        (scenario({"reads": [{"txt": ""}]}), "", "exchanges.0.reads.0.txt: Extra inputs are not permitted"),
        (scenario({"reads": [{"hex": "zz"}]}), "", "a read of the scenario cannot be understood"),
        (scenario({"reads": [{"repeat": {"text": "x"}}]}), "", "a read of the scenario cannot be understood"),
        (scenario({"reads": [{"repeat": {"text": "x", "times": "y"}}]}), "", "a read of the scenario cannot be understood"),
        (scenario({}, api="openai-chatt"), ", api", "unsupported dialect 'openai-chatt'"),
    ],
)
def test_a_scenario_that_is_none(value: Any, where: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "BR.json", json.dumps(value))
    error = failed(path)
    assert error.message.startswith(message)
    assert error.where == f"{path}{where}"
    assert error.hint


# what `check` says of damaged bodies (the contract's list); each has a place


def wrong_crc() -> bytes:
    return FRAMES[:-1] + bytes([FRAMES[-1] ^ 1])


@pytest.mark.parametrize(
    ("name", "body", "dialect", "kind", "outcome"),
    [
        ("empty.sse", b"", "openai-chat", "stream/empty", Outcome.ERROR),
        ("page.sse", b"<html>502</html>", "openai-chat", "framing/outside-syntax", Outcome.ERROR),
        ("cut.bin", FRAMES[:-40], "bedrock-converse", "framing/frame-truncated", Outcome.VIOLATION),
        ("cut.bin", FRAMES[:40], "bedrock-converse", "framing/frame-truncated", Outcome.ERROR),
        ("crc.bin", wrong_crc(), "bedrock-converse", "framing/bad-crc", Outcome.VIOLATION),
        ("gzip.sse", gzip.compress(TURN), "openai-chat", "http/content-encoding", Outcome.VIOLATION),
        ("json.sse", sse(b'{"broken'), "openai-chat", "framing/invalid-json", Outcome.ERROR),
    ],
)
def test_a_damaged_body_is_a_finding(name: str, body: bytes, dialect: str, kind: str, outcome: Outcome, tmp_path: Path) -> None:
    checked = checking.check(only(written(tmp_path, name, body), dialect))
    assert checked.outcome is outcome
    found = [f for f in checked.findings if f.kind == kind]
    assert found
    assert all(f.where.exchange == 0 for f in found)
    assert not kind.startswith("framing/") or all(f.where.span is not None for f in found)


@pytest.mark.parametrize(
    ("name", "dialect", "head", "tail"),
    [
        ("one.sse", "openai-chat", b'data: {"choices":[{"index":0,"delta":{"content":"', b'"},"finish_reason":null}]}\n\n'),
        ("one.ndjson", "ollama-chat", b'{"model":"m","message":{"role":"assistant","content":"', b'"},"done":false}\n'),
        ("none.sse", "openai-chat", b"", b""),
        ("open.sse", "openai-chat", b"data: {", b""),
    ],
)
def test_64_megabytes_in_one_line(name: str, dialect: str, head: bytes, tail: bytes, tmp_path: Path) -> None:
    """Bounded, and no slower than reading it takes (a hang would be a minute and more)."""
    started = time.process_time()
    checked = checking.check(only(written(tmp_path, name, head + b"a" * (64 << 20) + tail), dialect))
    assert checked.outcome is Outcome.ERROR
    assert time.process_time() - started < 15
