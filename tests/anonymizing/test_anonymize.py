"""A cassette and its other self: what agrees goes on to agree, and what is wrong stays as wrong as it was."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any
from zlib import crc32

import pytest

from harness import cassette as cassettes
from harness.adapters import Ours
from harness.anonymizing import anonymize
from harness.cassette.model import Cassette, Exchange, Provenance
from harness.framing.event_stream import EventStreamFramer
from tests import chat
from tests.exchanges import cassette, completion, document, exchange, sse

CALL = {"index": 0, "id": "call_brest1", "type": "function", "function": {"name": "get_tide", "arguments": ""}}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_tide",
        "description": "When the tide is high",
        "parameters": {
            "type": "object",
            "properties": {"port": {"type": "string", "enum": ["Brest", "Dover"], "description": "A harbour"}},
            "required": ["port"],
            "additionalProperties": False,
        },
    },
}
ASKED = {"model": "tide-1", "stream": True, "tools": [TOOL], "messages": [{"role": "user", "content": "Tides at Brest?"}]}


def arguments(fragment: str) -> dict[str, Any]:
    return chat.calls({"index": 0, "function": {"arguments": fragment}})


def turn() -> Cassette:
    """A text and a call, in fragments, with the twin."""
    pieces = ['{"po', 'rt":"Br', 'est","note":"caf\\u00', 'e9"}']
    body = sse(
        chat.opens("Let me "),
        chat.text("loo"),
        chat.text("k that up."),
        chat.calls(CALL),
        *map(arguments, pieces),
        chat.stops("tool_calls"),
    )
    call = {"id": "call_brest1", "type": "function", "function": {"name": "get_tide", "arguments": "".join(pieces)}}
    twin = document(completion({"content": "Let me look that up.", "tool_calls": [call]}, "tool_calls"))
    return cassette(exchange(body, request=ASKED, pieces=7), twin, model="tide-1")


def seen(side: Exchange | None) -> Any:
    assert side is not None
    return Ours().observe(side, "openai-chat").response


def test_fragments_make_the_text_that_the_twin_has() -> None:
    new = anonymize(turn(), "s")
    stream, twin = seen(new.stream), seen(new.reference)
    assert stream.text == twin.text
    assert len(stream.text) == len("Let me look that up.")
    assert not {"Let", "look", "that"} & set(stream.text.split())
    assert stream.tool_calls[0].arguments == twin.tool_calls[0].arguments
    assert stream.tool_calls[0].id == twin.tool_calls[0].id
    assert stream.tool_calls[0].id.startswith("call_")


def test_names_and_arguments_are_those_of_the_request() -> None:
    new = anonymize(turn(), "s")
    assert new.stream is not None
    tool = new.stream.request.json["tools"][0]["function"]
    schema = tool["parameters"]
    call = seen(new.stream).tool_calls[0]
    given = json.loads(call.arguments)
    assert call.name == tool["name"] != "get_tide"
    assert schema["required"] == list(schema["properties"]) == [next(iter(given))] != ["port"]
    (name,) = schema["required"]
    assert given[name] == schema["properties"][name]["enum"][0] != "Brest"
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


def test_the_wire_stays() -> None:
    old, new = turn(), anonymize(turn(), "s")
    assert old.stream is not None
    assert new.stream is not None
    assert [(c.at, len(c.data)) for c in new.stream.chunks] == [(c.at, len(c.data)) for c in old.stream.chunks]
    for before, after in zip(old.stream.body.split(b"\n"), new.stream.body.split(b"\n"), strict=True):
        assert len(before) == len(after)
        if before.startswith(b"data: {"):
            assert _names(json.loads(before[6:])) == _names(json.loads(after[6:]))


def _names(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _names(field) for name, field in value.items()}
    return [_names(element) for element in value] if isinstance(value, list) else type(value)


def test_one_seed_gives_one_result_and_another_seed_another() -> None:
    assert anonymize(turn(), "s") == anonymize(turn(), b"s")
    assert anonymize(turn(), "s") != anonymize(turn(), "t")


def test_the_seed_alone_opens_nothing() -> None:
    """The key is made of the recording as well: the same word becomes another in another recording."""
    one, other = (
        anonymize(cassette(exchange(sse(chat.opens("Spring tide"), chat.stops("stop"), more))), "s") for more in ({}, {"a": 1})
    )
    assert seen(one.stream).text != seen(other.stream).text


def test_it_says_what_it_is() -> None:
    old = cassette(
        exchange(sse(chat.opens("Hi"), chat.stops())), provenance=Provenance(on="2026-11-30", by="Ann", note="of Bob")
    )
    assert anonymize(old, "s").provenance == Provenance(kind="anonymized", on="2026-11-30", by="streamproof anonymize")


def test_heads_lose_what_is_somebodys_own() -> None:
    side = exchange(
        sse(chat.opens("Hi"), chat.stops()), x_request_id="req_tide7", openai_processing_ms="12", x_org="Harbour Board"
    )
    new = anonymize(cassette(side), "s").stream
    assert new is not None
    assert new.headers["openai-processing-ms"] == "12"
    assert new.headers["content-type"] == "text/event-stream"
    assert new.headers["x-org"] != "Harbour Board"
    assert new.headers["x-request-id"] != "req_tide7"


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"choices":[{"index":0,"delta":{"content":"Spring ti',
        b'data: {"choices": nonsense of somebody}\n\n',
        b"data: Internal failure of Ann\n\ndata: [DONE]\n\n",
        b'{"error": {"message":\n "Ann is not in"}}\n',
        b": a word by Ann\n\nretry: soon\nid: ann-7\nevent: what is this?\ndata: {}\n\n",
        b"\xff\xfe\x00Ann",
        b'data: {"a\xc3\xa9\xff":"\xf0\x9f"}\n\n',
        b"",
        b"data",
    ],
)
def test_damaged_bodies_keep_their_damage(body: bytes) -> None:
    old = cassette(exchange(body))
    new = anonymize(old, "s")
    assert new.stream is not None
    assert len(new.stream.body) == len(body)
    assert b"Ann" not in new.stream.body
    kinds = [
        [finding.kind for finding in Ours().observe(side, "openai-chat").findings] for side in (old.stream, new.stream) if side
    ]
    assert kinds[0] == kinds[1]


def test_log_probabilities_go_with_the_text() -> None:
    def token(said: str) -> dict[str, Any]:
        other = {"token": "flood", "logprob": -2.0, "bytes": list(b"flood")}
        one = {"token": said, "logprob": -0.5, "bytes": list(said.encode())}
        return {**one, "top_logprobs": [one, other]}

    def says(text: str, *said: str, **more: Any) -> dict[str, Any]:
        return chat.chunk(chat.choice({"content": text, **more}, logprobs={"content": list(map(token, said))}))

    body = sse(says("Spring", "Spr", "ing", role="assistant"), says(" tide é", " tide", " é"), chat.stops("stop"))
    old = cassette(exchange(body, request={"stream": True, "logprobs": True}))
    new = anonymize(old, "s")
    assert new.stream is not None
    native = Ours().observe(new.stream, "openai-chat").body["choices"][0]
    tokens = native["logprobs"]["content"]
    assert "".join(t["token"] for t in tokens) == native["message"]["content"] != "Spring tide é"
    assert all(bytes(t["bytes"]).decode() == t["token"] for t in tokens)
    assert all(t["top_logprobs"][0]["token"] == t["token"] for t in tokens)
    assert len(new.stream.body) == len(old.stream.body if old.stream else b"")


def test_checksums_are_right_where_they_were_and_wrong_where_they_were_not() -> None:
    good, bad = _message({"contentBlockIndex": 0, "delta": {"text": "Spring tide"}}), bytearray(_message({"text": "Ann"}))
    bad[-1] ^= 1
    side = exchange(good + bytes(bad), media="application/vnd.amazon.eventstream", path="/model/tide-1/converse-stream")
    new = anonymize(cassette(side, dialect="bedrock-converse"), "s").stream
    assert new is not None
    cutter = EventStreamFramer()
    (frame,) = cutter.feed(new.body)
    assert json.loads(frame.data)["delta"]["text"] != "Spring tide"
    assert [finding.kind for finding in cutter.findings] == ["framing/bad-crc"]
    assert b"Ann" not in new.body


def test_payloads_inside_payloads_are_reached() -> None:
    inner = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Spring tide"}}
    outer = {"bytes": base64.b64encode(json.dumps(inner).encode()).decode(), "p": "abcd"}
    path = "/model/anthropic.claude-v2/invoke-with-response-stream"
    side = exchange(_message(outer, b"chunk"), media="application/vnd.amazon.eventstream", path=path)
    new = anonymize(cassette(side, dialect="bedrock-invoke"), "s").stream
    assert new is not None
    (frame,) = EventStreamFramer().feed(new.body)
    carried = json.loads(base64.b64decode(json.loads(frame.data)["bytes"]))
    assert carried["type"] == "content_block_delta"
    assert carried["delta"]["type"] == "text_delta"
    assert carried["delta"]["text"] != "Spring tide"


def _message(payload: Any, event: bytes = b"contentBlockDelta") -> bytes:
    fields = ((b":message-type", b"event"), (b":event-type", event))
    headers = b"".join(bytes([len(n)]) + n + b"\x07" + struct.pack("!H", len(v)) + v for n, v in fields)
    data = json.dumps(payload).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(data), len(headers))
    whole = prelude + struct.pack("!I", crc32(prelude)) + headers + data
    return whole + struct.pack("!I", crc32(whole))


def test_segments_of_grounding_still_lie_in_the_text() -> None:
    text = "Rømø has a harbour. It is dry at low tide."
    segment = {"startIndex": 22, "endIndex": 44, "text": "It is dry at low tide."}
    content = {"role": "model", "parts": [{"text": text}]}
    grounded = {"groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}]}
    body = {"candidates": [{"content": content, "finishReason": "STOP", "groundingMetadata": grounded}]}
    side = document(body, path="/v1beta/models/tide-1:generateContent")
    new = anonymize(cassette(None, side, dialect="gemini"), "s").reference
    assert new is not None
    (candidate,) = new.json["candidates"]
    said = candidate["content"]["parts"][0]["text"].encode()
    assert said[22:44].decode() == candidate["groundingMetadata"]["groundingSupports"][0]["segment"]["text"]


def test_a_saved_cassette_comes_back(tmp_path: Any) -> None:
    new = anonymize(turn(), "s")
    cassettes.save(new, tmp_path / "new.yaml")
    assert cassettes.load_one(tmp_path / "new.yaml") == new


WORDS = (b"Spring", b"tide", b"harbour")


def damaged() -> list[bytes]:
    """Event streams that are cut anywhere, or damaged anywhere, or none at all."""
    whole = b"".join(
        _message({"contentBlockIndex": 0, "delta": {"text": said}}) for said in ("Spring tide", " at the harbour of the tide")
    )
    cuts = [whole[:end] for end in range(len(whole))]
    flips = [whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :] for at in range(len(whole))]
    return [*cuts, *flips, whole + b"Spring tide behind it", b"Spring tide, and no stream", b"<html>Spring tide</html>"]


def test_nothing_is_left_of_a_damaged_event_stream() -> None:
    for body in damaged():
        side = exchange(body, path="/model/tide-1/converse-stream", media="application/vnd.amazon.eventstream")
        new = anonymize(cassette(side, dialect="bedrock-converse"), "s").stream
        assert new is not None
        assert not [word for word in WORDS if word in new.body], body
        assert len(new.body) == len(body)
        before, after = EventStreamFramer(), EventStreamFramer()
        frames = [
            [(one.span, one.name) for one in (*cut.feed(data), *cut.close())]
            for cut, data in ((before, body), (after, new.body))
        ]
        assert frames[0] == frames[1]
        assert [(one.kind, one.where) for one in before.findings] == [(one.kind, one.where) for one in after.findings]


def test_words_in_the_place_of_a_name() -> None:
    body = b'data: {"choices": [{"index": 0, "delta": {"content"; "Spring tide"}}], "at the harbour": 1}\n\n'
    new = anonymize(cassette(exchange(body)), "s").stream
    assert new is not None
    assert not [word for word in WORDS if word in new.body]
