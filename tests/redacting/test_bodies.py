"""Redacting bodies: no secret is left, whatever it lies in; everything else is as it was, at its place."""

from __future__ import annotations

import base64
import json
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.model import Chunk
from harness.framing import framer
from harness.redacting import redacted_chunks
from harness.redacting.bodies import redacted_body, spots
from tests import chat
from tests.chat import encoded
from tests.exchanges import completion, sse
from tests.framing.feeding import event, feed, quick
from tests.redacting.secrets import ALL, BODIES, CORES, SECRETS, carried, converse, core, fragments, said


def texts(body: bytes) -> str:
    """Everything that a body says, fragments joined, base64 and escapes undone."""
    cut = framer("event-stream" if body[:1] == b"\0" else "sse" if body.startswith(b"data") else "ndjson")
    out = []
    for frame in (*cut.feed(body), *cut.close()):
        if frame.data.startswith(b"{"):
            value = json.loads(frame.data)
            if "bytes" in value:
                value = json.loads(base64.b64decode(value["bytes"]))
            out.append(said_by(value))
    assert not cut.findings
    return "".join(out)


def said_by(value: object, name: str = "") -> str:
    if isinstance(value, dict):
        return "".join(said_by(inner, name) for name, inner in value.items())
    if isinstance(value, list):
        return "".join(map(said_by, value))
    return str(value) if name in ("content", "arguments", "text", "note") and value else ""


@pytest.mark.parametrize("way", BODIES)
@pytest.mark.parametrize("kind", ALL)
def test_no_secret_is_left(kind: str, way: str) -> None:
    body = BODIES[way](ALL[kind])
    clean = redacted_body(body)
    before, after = texts(body), texts(clean)
    unquoted = before.replace("\\", "")
    assert core(kind) in unquoted
    assert core(kind) not in after.replace("\\", "")
    assert core(kind).encode() not in clean
    assert (len(clean), len(after)) == (len(body), len(before))
    assert re.sub(r"\w", "", before) == re.sub(r"\w", "", after)  # marks stay
    assert redacted_body(clean) == clean
    assert spots(body)
    assert not spots(clean)


@pytest.mark.parametrize("kind", SECRETS)
def test_cuts_do_not_matter(kind: str) -> None:
    body = said(SECRETS[kind])
    place = body.index(core(kind).encode()) + 3
    (whole,) = redacted_chunks([Chunk(data=body)])
    pieces = redacted_chunks([Chunk(data=body[:place], at=0.25), Chunk(data=b"", at=0.3), Chunk(data=body[place:], at=0.5)])
    assert b"".join(piece.data for piece in pieces) == whole.data
    assert [(piece.at, len(piece.data)) for piece in pieces] == [(0.25, place), (0.3, 0), (0.5, len(body) - place)]


def test_the_rest_is_untouched() -> None:
    body = sse(chat.text("mail harbour.master@tide-table.example now"), chat.stops())
    assert redacted_body(body) == body.replace(b"harbour.master@tide-table.example", b"xxxxxxx.xxxxxx@xxxx-xxxxx.xxxxxxx")


def test_checksums_stay_right_and_stay_wrong() -> None:
    good = converse(SECRETS["OpenAI key"])
    clean = redacted_body(good)
    assert not feed("event-stream", [clean]).findings
    broken = converse("nothing")[:-1] + b"\0" + good  # a wrong sum at the end of the first stream
    sums = [frame.span for frame in feed("event-stream", [redacted_body(broken)]).frames]
    assert sums == [frame.span for frame in feed("event-stream", [broken]).frames]
    assert SECRETS["OpenAI key"].encode() not in redacted_body(broken)
    assert feed("event-stream", [redacted_body(broken)]).findings == feed("event-stream", [broken]).findings


def test_a_stream_and_what_it_repeats_agree() -> None:
    """A text in fragments, and once more as a whole, is covered alike."""
    secret = SECRETS["OpenAI key"]
    deltas = [{"type": "response.output_text.delta", "item_id": "m", "delta": secret[at : at + 4]} for at in range(0, 28, 4)]
    done = {"type": "response.output_text.done", "item_id": "m", "text": secret}
    values = [json.loads(line[6:]) for line in redacted_body(sse(*deltas, done, end=False)).splitlines() if line]
    assert "".join(value["delta"] for value in values[:-1]) == values[-1]["text"] == "sk-xxxx-X0xxXxx0xXxx0xX0xx00"


def test_choices_that_come_in_turns_are_kept_apart() -> None:
    secret, other = SECRETS["OpenAI key"], "nothing to see in this one here"
    pairs = zip(range(0, 28, 4), range(0, 28, 4), strict=True)
    payloads = [
        {"choices": [{"delta": {"content": text[at : at + 4]}, "index": index}]}
        for pair in pairs
        for index, (text, at) in enumerate(zip((secret, other), pair, strict=True))
    ]
    clean = redacted_body(sse(*payloads))
    values = [json.loads(line[6:])["choices"][0] for line in clean.splitlines() if line.startswith(b"data: {")]
    first, second = ("".join(v["delta"]["content"] for v in values if v["index"] == index) for index in (0, 1))
    assert first == "sk-xxxx-X0xxXxx0xXxx0xX0xx00"
    assert second == other[:28]


def test_tokens_with_their_bytes() -> None:
    secret = SECRETS["e-mail address"]
    tokens = [{"token": secret[at : at + 5], "bytes": list(secret[at : at + 5].encode())} for at in range(0, 33, 5)]
    body = encoded(completion({"content": f"ask {secret}"}) | {"logprobs": {"content": tokens}})
    clean = json.loads(redacted_body(body))
    assert "".join(t["token"] for t in clean["logprobs"]["content"]) == "xxxxxxx.xxxxxx@xxxx-xxxxx.xxxxxxx"
    assert not {number for t in clean["logprobs"]["content"] for number in t["bytes"]} - {1, 10, 100}


def test_several_lines_of_data() -> None:
    body = b'data: {"a": "x",\ndata:  "b": "\\u006beeper@tide.example"}\n\n'
    assert redacted_body(body) == b'data: {"a": "x",\ndata:  "b": "\\u0078xxxxx@xxxx.xxxxxxx"}\n\n'


def test_known_secrets_whatever_they_look_like() -> None:
    body = fragments("lighthouse") + said("lighthouse")
    clean = redacted_body(body, ["lighthouse"])
    assert "xxxxxxxxxx" in texts(clean)
    assert "lighthouse" not in texts(clean)


@pytest.mark.parametrize(
    "harmless",
    [
        "a task-oriented risk-free sk-learn-like-pipeline",
        "see version 1.2.3 of 12:34:56, or 127.0.0.1:8080 and [::1]",
        "Bearer authentication, Basic understanding, max_tokens=4096, token: none",
        "user-agent Chrome/120.0.0.0, std::vector<int>, a::b, org-chart, user-friendly",
        "@decorator, `@agent.tool`, name@localhost",
        '{"role":"user","token":"Hello","logprob":-0.5,"signature":"EqQBCgIYAhIkZ2Vu","key":"value"}',
        '{"properties":{"user_id":{"type":"string"},"password":{"type":"string"}},"required":["user_id"]}',
        '{"id":"chatcmpl-8Xj7r7UyLa6Wxj6h5n3H7yOeoEvEPEUV","system_fingerprint":"fp_44709d6fcb","usage":{"prompt_tokens":12345}}',
        '{"call_id":"call_8Xj7r7UyLa6Wxj6h5n3H7yOe","item_id":"fc_0173e3e44c05ae890069689a"}',
        "accounts/fireworks/models/tide-70b",
        "sk-xxxx-X00xXxxXxx, xxxxxx@xxxx.xxxxxxx, 000.0.000.00, Bearer ***, REDACTED",
    ],
)
def test_what_is_no_secret_stays(harmless: str) -> None:
    for body in (harmless.encode(), sse(chat.text(harmless), chat.text(harmless)), encoded({"a": harmless})):
        assert redacted_body(body) == body


@quick
@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([*(ALL[k].encode() for k in ALL), b'"', b"\\", b"\n\n", b"data: {"]))
    )
)
def test_any_bytes(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    clean = redacted_body(body)
    assert len(clean) == len(body)
    assert redacted_body(clean) == clean


@pytest.mark.parametrize(
    "letters", ["a", "a.", "sk-", "eyJ", "key=", "@a", "::", "1.", "\\", '\\"', "Aa1-", "https://", 'name="secret"\na\n']
)
def test_long_words_take_no_time(letters: str) -> None:
    body = (letters * 100_000)[:200_000].encode()
    before = time.perf_counter()
    redacted_body(body)
    assert time.perf_counter() - before < 5


def test_a_document_in_base64_of_a_document() -> None:
    secret = SECRETS["Google key"]
    inner = base64.b64encode(json.dumps({"inner": base64.b64encode(encoded({"key": secret})).decode()}).encode()).decode()
    clean = json.loads(redacted_body(encoded({"bytes": inner})))
    innermost = json.loads(base64.b64decode(json.loads(base64.b64decode(clean["bytes"]))["inner"]))
    assert innermost == {"key": "AIzaXxX0xxXxxxxXx0xx0000000xxxxxxxxxxxx"}


def test_random_cuts_of_carried_fragments() -> None:
    numbers = random.Random(7)
    for kind in ("OpenAI key", "e-mail address", "user"):
        for _ in range(5):
            assert core(kind) not in texts(redacted_body(carried(ALL[kind], numbers.randint(1, 12)))).replace("\\", "")


def test_every_kind_has_a_core() -> None:
    assert set(CORES) <= set(ALL)
    assert len(ALL) >= 15
    assert event("a", b"{}")


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


KEY = SECRETS["OpenAI key"]
ODD_PLACES = {
    "form": (b"grant_type=refresh&refresh_token=low-water-mark&x=1", b"low-water-mark"),
    "form, first": (b"client_secret=low-water-mark&x=1", b"low-water-mark"),
    "multipart": (b'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nlow water\r\n--b--\r\n', b"low water"),
    "a quote in it": (rb'{"password": "low\"water", "port": "Brest"}', b"water"),
    "a quote in it, quoted": (encoded({"note": json.dumps({"password": 'low"water'})}), b"water"),
    "cut off": (b'data: {"password": "low water', b"low water"),
    "a list": (b'{"password": ["low water"]}', b"low water"),
    "a number": (b'{"password": 4711081547}', b"4711081547"),
    "a field of a list": (b'{"headers": [{"name": "x-api-key", "value": "low water"}]}', b"low water"),
    "two lines of data": (b'data: {"password":\ndata:  "low water"}\n\n', b"low water"),
    "base64": (encoded({"note": packed(f"it is {KEY} .")}), packed(f"it is {KEY} .").encode()[14:30]),
    "base64 of base64": (encoded({"note": packed(packed(f"it is {KEY} ."))}), packed(packed(f"it is {KEY} .")).encode()[20:40]),
    "base64 for addresses": (
        encoded({"note": packed(f'{{"a~~~???": "{KEY}"}}').replace("/", "_").replace("+", "-").rstrip("=")}),
        packed(f'{{"a~~~???": "{KEY}"}}').encode()[24:40],
    ),
    "data URL": (encoded({"url": f"data:text/plain;base64,{packed(KEY)}"}), packed(KEY).encode()[12:24]),
    "a password in base64": (encoded({"password": packed(f"{KEY} and more")}), packed(f"{KEY} and more").encode()[-14:-4]),
    "curl": (b'{"note": "curl -u keeper:low-water https://tide.example"}', b"low-water"),
    "webhook": (b'{"note": "https://hooks.slack.com/services/T1DE/BREST/T1deTableBr3st4567890"}', b"Br3st"),
    "storage": (b'{"note": "AccountName=tide;AccountKey=T1deTableBr3st4567890=="}', b"Br3st"),
}


@pytest.mark.parametrize("place", ODD_PLACES)
def test_odd_places(place: str) -> None:
    body, secret = ODD_PLACES[place]
    assert secret in body
    clean = redacted_body(body)
    assert secret not in clean
    assert len(clean) == len(body)
    assert redacted_body(clean) == clean
    assert (spots(body) != [], spots(clean)) == (True, [])
    if body.startswith(b"{"):
        assert json.loads(clean).keys() == json.loads(body).keys()


def test_other_base64_stays() -> None:
    body = encoded(
        {"picture": base64.b64encode(bytes(range(256))).decode(), "name": "a-name-that-might-be-base64", "text": packed("ebb")}
    )
    assert redacted_body(body) == body


def test_a_thousand_addresses_in_one_text() -> None:
    rows = "\n".join(f'keeper{number}@tide-table.example,"\U0001f40b é"' for number in range(8000))
    before = time.perf_counter()
    clean = redacted_body(json.dumps({"content": rows}).encode())
    assert time.perf_counter() - before < 5
    said = json.loads(clean)["content"].split("\n")
    assert set(said) <= {f'xxxxxx{"0" * digits}@xxxx-xxxxx.xxxxxxx,"\U0001f40b é"' for digits in (1, 2, 3, 4)}
