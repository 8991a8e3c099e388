"""Bytes in, bytes out: whatever a body holds, it is the same after saving and loading, for us and for vcrpy."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.cassette import Cassette, Chunk, Exchange, Headers, Provenance, Request, load_one, save
from harness.cassette.saving import rendered
from harness.cassette.scalars import scalar

AWKWARD = [
    b"",
    b"\n",
    b"\n\n\n",
    b" ",
    b"  leading\nand trailing  \n",
    b"\ttabs\t\n\t",
    b"ends without a line end",
    b"spaces before the end  ",
    b"a\n  ",
    b"a\n  \n",
    b"carriage\rreturn",
    b"data: {}\r\n\r\ndata: [DONE]\r\n\r\n",
    b"\r\n leads with a space after a break\r\n  \r\n",
    "U+2028 \u2028 U+2029 \u2029 U+0085 \x85 U+FEFF \ufeff U+FFFE \ufffe".encode(),
    "\ufeffa byte-order mark first".encode(),
    "\u2028starts with a break\n".encode(),
    "naïve 日本語 🙂\n".encode(),
    b"nul \x00 inside",
    b"escape \x1b delete \x7f",
    b"\xff\xfe invalid \xc3(",
    b"\xed\xa0\x80 a lone surrogate, as some write it",
    b"quotes \" \\ ' # not a comment: {}",
    b"--- \n...\n--- document marks",
    b"- a\n- b: [c]\n? d",
    b"!!binary x",
    b"null",
    b"123",
    b"~",
    bytes(range(256)),
]
TEXTS = st.text(st.sampled_from('a \t\n\r"\\:#-{}\x00\x07\x7f\x85\xa0é\u2028\u2029\ud7ff\ue000\ufeff\ufffe\U0001f642'))
BODIES = st.one_of(st.binary(), TEXTS.map(str.encode), st.text().map(lambda text: text.encode("utf-8", "replace")))


def cassette(body: bytes, request: bytes | None = b"{}", **fields: object) -> Cassette:
    stream = Exchange(request=Request(target="/v1/chat/completions", body=request), chunks=(Chunk(data=body, at=0.5),))
    return dataclasses.replace(Cassette(id="x", dialect="openai-chat", stream=stream), **fields)


def through_file(case: Cassette, folder: Path) -> Cassette:
    save(case, folder / "case.yaml")
    return load_one(folder / "case.yaml")


@pytest.mark.parametrize("body", AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_bodies_come_back(body: bytes, tmp_path: Path) -> None:
    again = through_file(cassette(body, request=body), tmp_path)
    assert again.stream is not None
    assert again.stream.body == body
    assert again.stream.request.body == body


@settings(max_examples=300, deadline=None)
@given(body=BODIES)
@example(body=b"\n ")
def test_any_scalar_comes_back_from_both_of_yamls_readers(body: bytes) -> None:
    text = f"a:\n  b: {scalar(body, 4)}c: 1\n"
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        value = yaml.load(text, Loader=loader)["a"]["b"]
        assert (value.encode() if isinstance(value, str) else value) == body


@settings(max_examples=100, deadline=None)
@given(body=BODIES)
def test_a_file_survives_being_read_in_text_mode(body: bytes) -> None:
    """vcrpy opens files in text mode, where CR and CRLF become LF."""
    data = rendered(cassette(body))
    read = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=None).read()
    assert read.encode() == data


def _cut(body: bytes, cuts: list[int], times: list[float]) -> tuple[Chunk, ...]:
    ends = sorted(min(c, len(body)) for c in cuts) + [len(body)]
    return tuple(Chunk(data=body[a:b], at=t) for a, b, t in zip([0, *ends[:-1]], ends, times + [9.0] * len(ends), strict=False))


FIELDS = st.lists(st.tuples(st.sampled_from(["content-type", "X-A", "set-cookie"]), st.text(max_size=8)), max_size=4)
WORDS = st.text(max_size=12)
SIDES = st.builds(
    lambda body, cuts, times, fields, status, ending, wire, asked: Exchange(
        request=Request(method="POST", scheme="http", host="h:1", target="/v1?a=b", headers=Headers(fields), body=asked),
        status=status,
        headers=Headers(fields),
        chunks=_cut(body, cuts, times),
        ending=ending,
        wire=wire,
    ),
    BODIES,
    st.lists(st.integers(0, 40), max_size=4),
    st.lists(st.floats(0, 1e9), min_size=4, max_size=4),
    FIELDS.map(lambda fields: sorted(fields, key=lambda field: field[0])),  # between names the format has no order
    st.sampled_from([0, 200, 404, 599]),
    st.sampled_from(["eof", "reset", "timeout"]),
    st.sampled_from(["original", "reconstructed"]),
    st.none() | BODIES,
)
CASSETTES = st.builds(
    Cassette,
    id=WORDS,
    dialect=st.just("openai-chat"),
    provider=WORDS,
    model=st.none() | WORDS,
    scenario=st.none() | WORDS,
    stream=SIDES,
    reference=st.none() | SIDES,
    match=st.sampled_from(["exact", "shape"]),
    pair_kind=st.sampled_from([None, "exact", "near"]),
    provenance=st.builds(
        Provenance,
        kind=st.sampled_from(["recorded", "anonymized", "authored"]),
        on=st.none() | st.dates().map(lambda day: day.isoformat()),
        by=st.none() | WORDS,
        note=st.none() | WORDS,
    ),
    features=st.lists(WORDS, max_size=2).map(tuple),
    quirks=st.lists(WORDS, max_size=2).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(case=CASSETTES)
def test_any_cassette_comes_back_whole(case: Cassette, tmp_path_factory: pytest.TempPathFactory) -> None:
    again = through_file(case, tmp_path_factory.mktemp("cassettes"))
    assert again == case
    for one, other in ((again.stream, case.stream), (again.reference, case.reference)):
        assert (one and one.headers.fields) == (other and other.headers.fields)
    assert rendered(again) == rendered(case)


def test_large_bodies(tmp_path: Path) -> None:
    line = "data: " + "é🙂 x" * 2000 + "\n\n"
    for body in (line.encode() * 500, line.replace("\n", "\r\n").encode() * 500, bytes(range(256)) * 40_000, b"x" * 10_000_000):
        again = through_file(cassette(body), tmp_path)
        assert again.stream is not None
        assert again.stream.body == body


def test_halves_of_a_character_that_were_encoded_each_are_one() -> None:
    """Some keepers write a character beyond the first 65,536 as two of three bytes each."""
    answer = Exchange(chunks=(Chunk(data=b'{"said": "\xed\xa0\xbd\xed\xb0\x99, \xed\xa0\xbd"}'),))
    assert answer.json == {"said": "\U0001f419, \ud83d"}
