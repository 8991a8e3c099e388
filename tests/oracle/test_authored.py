"""The authored cassettes are what the vendors send: their own SDKs ask for them, and read stream and twin alike.

Where an SDK's accumulator is known to be wrong it is not asked; the pieces that it gives are joined here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest

from harness.adapters import Ours
from harness.api_error import ErrorKind
from harness.cassette import Cassette, Exchange, load, shipped
from tests.oracle.replay_server import ReplayServer
from tests.oracle.said import Said, flat

anthropic = pytest.importorskip("anthropic")
botocore_errors = pytest.importorskip("botocore.exceptions")
genai_errors = pytest.importorskip("google.genai.errors")
httpx = pytest.importorskip("httpx")
httpx2 = pytest.importorskip("httpx2")
ollama = pytest.importorskip("ollama")
openai = pytest.importorskip("openai")
urllib3_errors = pytest.importorskip("urllib3.exceptions")

pytestmark = pytest.mark.oracle

AUTHORED = [case for case in load(shipped()) if case.provenance.kind == "authored"]
SILENT = {"gemini/google/prompt-blocked"}
"""Turns that failed, and of which the SDK says so only in a field."""
UNREADABLE = {"ollama-chat/ollama/unicode-next-line"}
"""Streams that the SDK breaks: ollama takes U+0085 for the end of a line (wire/ollama-chat.md section 7)."""
TOLD_BY_ENVIRONMENT = ("AWS_", "GOOGLE_", "GEMINI_", "OLLAMA_", "OPENAI_", "ANTHROPIC_")


def _failed(case: Cassette) -> bool:
    assert case.stream is not None
    return Ours().observe(case.stream, case.dialect).error is not None


FAILED = [case for case in AUTHORED if _failed(case) and case.id not in SILENT]
TURNS = [case for case in AUTHORED if case not in FAILED]
PAIRS = [case for case in TURNS if case.id not in UNREADABLE | SILENT]
CUT = [case for case in FAILED if case.stream is not None and case.stream.ending == "reset"]


def named(cases: list[Cassette]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.id)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    """A server, in an environment that tells the SDKs nothing: no proxy, no keys, no profile."""
    with pytest.MonkeyPatch.context() as patch, ReplayServer().running() as server:
        for name in [name for name in os.environ if name.startswith(TOLD_BY_ENVIRONMENT)]:
            patch.delenv(name)
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield server


@pytest.fixture(scope="module")
def sdks(server: ReplayServer) -> Iterator[dict[str, Any]]:
    from tests.oracle.bedrock_reader import Bedrock
    from tests.oracle.broken_reader import Broken
    from tests.oracle.gemini_reader import Gemini
    from tests.oracle.ollama_reader import Ollama
    from tests.oracle.responses_reader import Responses

    bedrock, others = Bedrock(server), Broken(server)
    found = {"gemini": Gemini(server), "bedrock-converse": bedrock, "bedrock-invoke": bedrock, "ollama-chat": Ollama(server)}
    found |= {"openai-responses": Responses(server), "anthropic-messages": others}
    yield found
    for sdk in {id(sdk): sdk for sdk in found.values()}.values():
        sdk.close()


@named(PAIRS)
def test_sdk_reads_stream_and_twin_alike(case: Cassette, sdks: dict[str, Any], server: ReplayServer) -> None:
    sdk = sdks[case.dialect]
    streamed = sdk.stream(case)
    _assert_asked(server, case.stream)
    plain = sdk.plain(case)
    _assert_asked(server, case.reference)
    assert streamed == plain
    assert isinstance(plain, Said)
    assert plain.finish is not None


@named(PAIRS)
def test_sdk_and_our_collector_read_the_same_turn(case: Cassette, sdks: dict[str, Any]) -> None:
    assert case.stream is not None
    ours = Ours().observe(case.stream, case.dialect)
    theirs = sdks[case.dialect].stream(case)
    assert flat(ours.response) == theirs.flat
    usage = ours.response.usage if ours.response else None
    counts = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
    assert theirs.counts in (counts, (None, None))


@named([case for case in AUTHORED if case.id in SILENT])
def test_sdk_tells_a_blocked_prompt_in_a_field_only(case: Cassette, sdks: dict[str, Any]) -> None:
    """google-genai raises nothing: the turn has no candidate, and the reason stands in `prompt_feedback`."""
    for told in (sdks[case.dialect].stream(case), sdks[case.dialect].plain(case)):
        assert told.flat == ("", "", [], None)
        assert told.others[1]["feedback"]["block_reason"] == "PROHIBITED_CONTENT"


@named([case for case in AUTHORED if case.id in UNREADABLE])
def test_sdk_breaks_a_line_at_a_character_that_ends_none(case: Cassette, sdks: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Unterminated string"):
        sdks[case.dialect].stream(case)
    assert sdks[case.dialect].plain(case).text == "one\u0085two"


@named([case for case in FAILED if case not in CUT])
def test_sdk_raises_what_we_report(case: Cassette, sdks: dict[str, Any], server: ReplayServer) -> None:
    """A refusal on either side, and an error inside the stream."""
    assert case.stream is not None
    ours = Ours().observe(case.stream, case.dialect).error
    assert ours is not None
    with pytest.raises(REFUSALS[case.dialect]) as raised:
        sdks[case.dialect].stream(case)
    _assert_asked(server, case.stream)
    assert ours.message in str(raised.value)
    if case.reference is not None:
        with pytest.raises(REFUSALS[case.dialect]) as raised:
            sdks[case.dialect].plain(case)
        assert ours.message in str(raised.value)


@named(CUT)
def test_sdk_raises_where_the_connection_breaks(case: Cassette, sdks: dict[str, Any]) -> None:
    with pytest.raises(BREAKS[case.dialect]):
        sdks[case.dialect].stream(case)


@named([case for case in CUT if case.dialect in ("gemini", "bedrock-converse", "ollama-chat") and "in-" not in case.id])
def test_sdk_is_silent_where_a_cut_stream_ends_cleanly(case: Cassette, sdks: dict[str, Any]) -> None:
    """Why law 6 is ours to keep: the turn has no end, no SDK says so, and only the missing finish reason tells."""
    assert case.stream is not None
    ended = replace(case, stream=replace(case.stream, ending="eof"))
    told = sdks[case.dialect].stream(ended)
    assert told.text
    assert told.finish is None
    assert ended.stream is not None
    ours = Ours().observe(ended.stream, case.dialect)
    assert ours.error is not None
    assert ours.error.kind is ErrorKind.TRUNCATED


REFUSALS = {
    "gemini": genai_errors.APIError,
    "bedrock-converse": botocore_errors.ClientError,  # EventStreamError, of frames, is one
    "bedrock-invoke": botocore_errors.ClientError,
    "ollama-chat": ollama.ResponseError,
    "openai-responses": openai.APIError,
    "anthropic-messages": anthropic.APIError,
}
BREAKS = {
    "gemini": httpx2.RemoteProtocolError,
    "bedrock-converse": urllib3_errors.ProtocolError,
    "bedrock-invoke": urllib3_errors.ProtocolError,
    "ollama-chat": httpx.RemoteProtocolError,
    "openai-responses": openai.APIConnectionError,
    "anthropic-messages": httpx2.RemoteProtocolError,
}


def _assert_asked(server: ReplayServer, side: Exchange | None) -> None:
    """The SDK's own request is the recorded one."""
    assert side is not None
    target, body = server.asked
    assert unquote(target).partition("?")[0] == unquote(side.request.target).partition("?")[0]
    assert _spelled(body) == _spelled(side.request.json)


def _spelled(value: Any) -> Any:
    """A request with one spelling of its names, and without an empty configuration: google-genai writes
    `include_thoughts` beside `maxOutputTokens`, and Google takes both."""
    if isinstance(value, dict):
        return {_camel(name): _spelled(field) for name, field in value.items() if (name, field) != ("generationConfig", {})}
    return [_spelled(element) for element in value] if isinstance(value, list) else value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)
