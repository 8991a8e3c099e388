"""Recording a live server: the scenarios, each with and without streaming, as cassettes without secrets."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import cassette, dialects
from harness.cassette.model import Cassette, Exchange, Request
from harness.cli import record as command
from harness.errors import CassetteError, InputError, UnsupportedRequestError
from harness.recording import Recorder
from harness.recording.live import Live, chosen
from harness.recording.live import Server as Target
from harness.recording.scenarios import SCENARIOS, Scenario
from tests import chat
from tests.exchanges import completion, sse
from tests.loop.running import run
from tests.recording.server import Answer, Asked, Server, serving
from tests.test_cli import Command, streamproof  # noqa: F401  # a fixture

KEY = "breakwater-of-the-old-harbour"
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_tide", "arguments": '{"port":"Brest"}'}}


def chat_server(asked: Asked) -> Answer:
    """A provider of Chat Completions that can do little."""
    body = asked.json
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        refusal = {"error": {"message": f"no such key: {asked.headers.get('authorization')}"}}
        return Answer(pieces=(json.dumps(refusal).encode(),), status=401, media="application/json")
    if not isinstance(body["messages"], list) or body["model"] != "tide-1":
        return Answer(pieces=(b'{"error":{"message":"no"}}',), status=400, media="application/json")
    called = "tools" in body and body["messages"][-1]["role"] == "user"
    message = {"content": None, "tool_calls": [CALL]} if called else {"content": "Ebb"}
    finish = "tool_calls" if called else "stop"
    if not body.get("stream"):
        return Answer(pieces=(chat.encoded(completion(message, finish)),), media="application/json")
    deltas = [chat.calls({"index": 0, **CALL})] if called else [chat.text("E"), chat.text("bb")]
    return Answer(pieces=(sse(*deltas, chat.stops(finish)),))


def recorded(name: str, answer: Any = chat_server, key: str | None = KEY, **more: Any) -> tuple[Cassette, Server]:
    async def scenario() -> tuple[Cassette, Server]:
        async with serving(answer) as server:
            target = Target(base_url=f"{server.url}/v1/", dialect="openai-chat", model="tide-1", key=key, **more)
            return await Live(target, by="a test").record(SCENARIOS[name]), server

    return run(scenario())


def test_both_sides_are_asked() -> None:
    case, server = recorded("text", provider="tide")
    assert [asked.json.get("stream", False) for asked in server.asked] == [True, False]
    assert [asked.target for asked in server.asked] == ["/v1/chat/completions"] * 2
    assert (case.id, case.scenario, case.pair_kind, case.match) == ("openai-chat/tide/text", "text", "exact", "shape")
    assert case.stream is not None
    assert case.reference is not None
    assert case.stream.body == sse(chat.text("E"), chat.text("bb"), chat.stops())
    assert (case.provenance.kind, case.provenance.by) == ("recorded", "a test")
    assert KEY not in repr(case)


def test_the_result_of_a_call_is_sent_back() -> None:
    case, server = recorded("tool-result")
    assert len(server.asked) == 3  # the call is asked for first, and not kept
    assert case.stream is not None
    said = case.stream.request.json["messages"]
    assert [turn["role"] for turn in said] == ["user", "assistant", "tool"]
    assert said[2]["tool_call_id"] == "call_1"


def test_a_model_that_does_not_call() -> None:
    plain = Answer(pieces=(chat.encoded(completion({"content": "No."})),), media="application/json")
    with pytest.raises(UnsupportedRequestError, match="did not lead to the turn after the result"):
        recorded("tool-result", plain)


@pytest.mark.parametrize("name", ["error-before-stream", "unknown-model"])
def test_refusals_are_kept_on_both_sides(name: str) -> None:
    case, server = recorded(name)
    assert case.stream is not None
    assert case.reference is not None
    assert (case.stream.status, case.reference.status) == (400, 400)
    assert server.asked[0].json["model"] == ("no-such-model" if name == "unknown-model" else "tide-1")


def test_a_key_that_the_server_repeats() -> None:
    case, _ = recorded("text", key="another-key-of-the-harbour")
    assert case.stream is not None
    assert case.stream.json == {"error": {"message": "no such key: Bearer xxxxxxx-xxx-xx-xxx-xxxxxxx"}}
    assert "another-key" not in repr(case)


def test_a_server_that_does_not_answer() -> None:
    target = Target(base_url="http://127.0.0.1:1", dialect="openai-chat", model="m")
    with pytest.raises(InputError, match=r"http://127\.0\.0\.1:1: does not answer: .*--base-url"):
        run(Live(target).record(SCENARIOS["text"]))


def test_what_an_api_has_no_words_for() -> None:
    target = Target(base_url="http://127.0.0.1:1", dialect="anthropic-messages", model="m")
    with pytest.raises(UnsupportedRequestError, match="anthropic-messages cannot be asked for two answers"):
        run(Live(target).record(SCENARIOS["several-choices"]))


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
@pytest.mark.parametrize("api", dialects.names())
def test_every_api_can_be_asked_for_every_scenario_or_says_no(api: str, scenario: Scenario) -> None:
    model = "anthropic.claude-tide" if api == "bedrock-invoke" else "tide-1"
    dialect = dialects.dialect(api)
    try:
        stream, plain = (dialect.build_request(replace(scenario.request, model=model), stream=s) for s in (True, False))
    except UnsupportedRequestError:
        assert scenario.name in ("json-schema", "reasoning", "stop-sequence")
        return
    assert dialect.matches("POST", stream.path, stream.body)
    assert (dialect.streams(stream.path, stream.body), dialect.streams(plain.path, plain.body)) == (True, False)


def test_scenarios_are_chosen_by_name() -> None:
    assert [scenario.name for scenario in chosen(["text", "logprobs"], SCENARIOS)] == ["text", "logprobs"]
    assert len(chosen([], SCENARIOS)) == len(SCENARIOS) >= 13
    with pytest.raises(InputError, match="no scenario is called 'tide'"):
        chosen(["tide"], SCENARIOS)


# the command


@contextmanager
def in_a_thread() -> Iterator[str]:
    """The address of a server that runs beside the test."""
    ready, over, urls = threading.Event(), threading.Event(), list[str]()

    async def serve() -> None:
        async with serving(chat_server) as server:
            urls.append(server.url)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(5)
        yield urls[0]
    finally:
        over.set()
        thread.join()


def test_the_command(streamproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("STREAMPROOF_API_KEY", KEY)
    told = ("--dialect", "openai-chat", "--model", "tide-1", "--provider", "tide", "--to", "kept")
    with in_a_thread() as url:
        done = streamproof("record", "--base-url", f"{url}/v1", *told, "text", "tool-call", "tool-result", "--json")
        assert (done.status, done.err) == (0, "")
        assert [row["id"].rpartition("/")[2] for row in done.lines] == ["text", "tool-call", "tool-result"]
        refused = streamproof("record", "--base-url", f"{url}/v1", *told, "text")
        assert refused.status == 2
        assert "is there already" in refused.err
        assert streamproof("record", "--base-url", f"{url}/v1", *told, "text", "--force").status == 0
    assert streamproof("cassettes", "--lint", "kept").status == 0
    for file in (tmp_path / "kept").rglob("*.yaml"):
        assert KEY not in file.read_text()


def test_a_full_disk(streamproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """It is said, and what was there before is there still."""
    monkeypatch.setenv("STREAMPROOF_API_KEY", KEY)
    told = ("--dialect", "openai-chat", "--model", "tide-1", "--provider", "tide", "--to", "kept", "--force", "text")
    file = tmp_path / "kept" / "openai-chat" / "tide" / "text.yaml"
    with in_a_thread() as url:
        assert streamproof("record", "--base-url", f"{url}/v1", *told).status == 0
        before = file.read_bytes()

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        done = streamproof("record", "--base-url", f"{url}/v1", *told)
    assert done.status == 2
    assert "No space left on device" in done.err
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["text.yaml"]
    assert cassette.load_one(file).stream is not None


def test_a_command_line_that_says_too_little(streamproof: Command) -> None:  # noqa: F811
    done = streamproof("record", "text")
    assert done.status == 2
    assert "--base-url, --dialect and --model" in done.err
    done = streamproof(
        "record", "--base-url", "http://x", "--dialect", "openai-chat", "--model", "m", "--key-env", "TIDE_NO_KEY"
    )
    assert (done.status, "$TIDE_NO_KEY" in done.err) == (2, True)
    listed = streamproof("record", "--list")
    assert [line.split()[0] for line in listed.out.splitlines()] == list(SCENARIOS)


@pytest.mark.parametrize("address", ["", "not a url", "foo://tide", "http://[::1", "http://"])
@pytest.mark.parametrize("what", [("text",), ("--", sys.executable, "-c", "print('ran')")])
def test_an_address_that_is_none(address: str, what: tuple[str, ...], streamproof: Command) -> None:  # noqa: F811
    told = ("--dialect", "openai-chat", "--model", "m") if what == ("text",) else ()
    done = streamproof("record", "--base-url", address, *told, *what)
    assert (done.status, done.out) == (2, "")
    assert "is no address of a server" in done.err


@pytest.mark.parametrize("key", ["low\nwater-mark", "låg-water-mark"])
def test_a_key_that_is_none_is_not_shown(key: str, streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("STREAMPROOF_API_KEY", key)
    done = streamproof("record", "--base-url", "http://127.0.0.1:1", "--dialect", "openai-chat", "--model", "m", "text")
    assert done.status == 2
    assert "$STREAMPROOF_API_KEY: holds no key" in done.err
    assert "water-mark" not in done.err


def test_a_key_with_a_line_end(streamproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("STREAMPROOF_API_KEY", f"{KEY}\n")
    with in_a_thread() as url:
        told = ("--dialect", "openai-chat", "--model", "tide-1", "--to", "kept", "text")
        assert streamproof("record", "--base-url", f"{url}/v1", *told).status == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_asked(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "file").write_text("a file")
    done = streamproof("record", "--to", str(tmp_path / "file"), "--", sys.executable, "-c", "print('ran')")
    assert (done.status, done.out) == (2, "")
    assert "cannot be written to" in done.err


def test_a_signal_that_ends_the_command(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = streamproof("record", "--to", str(tmp_path), "--", sys.executable, "-c", program)
    assert done.status == 128 + 9


def test_a_cassette_that_cannot_be_written_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded(*_: object, **__: object) -> list[Cassette]:
        case = Cassette(id="tide", dialect="openai-chat", stream=Exchange(request=Request(body=b"{}")))
        return [replace(case, model="\ud800"), replace(case, id="tide#2")]

    recorder = Recorder()
    monkeypatch.setattr(recorder, "cassettes", recorded)
    with pytest.raises(CassetteError, match="cannot be written"):
        command._keep(recorder, command._Files(tmp_path, force=False, as_json=False), "tide", None, None)
    assert [file.name for file in tmp_path.rglob("*.yaml")] == ["tide-2.yaml"]
