"""What real tools wrote down of the same exchanges (tools/import_fixtures.py), compared with what the server sent."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.cassette.model import Cassette, Exchange
from harness.importing import Import, Made, Told
from tests.importing.served import ANSWERS, KEY, WORDS, asked

FIXTURES = Path(__file__).parent / "fixtures"
FILES = [path.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("*") if path.is_file()]
OF_NO_USE = (".head", "zipped.trace-ascii", "converse.trace-ascii")
TEXTS = [name for name in ANSWERS if name not in ("zipped", "converse")]


def made(path: Path | str, told: Told | None = None, form: str | None = None) -> list[Made]:
    with Import(FIXTURES / path, told, form=form) as job:
        return list(job)


def only(path: Path | str, told: Told | None = None) -> Made:
    (one,) = made(path, told)
    return one


def side(case: Cassette) -> Exchange:
    exchange = case.stream or case.reference
    assert exchange is not None
    return exchange


def by_model(path: str) -> dict[str, Exchange]:
    """The exchanges of a file by the model that was asked, the twin as `plain`."""
    found: dict[str, Exchange] = {}
    for one in made(path):
        case = one.cassette
        name = "converse" if case.model == "tide-1" else str(case.model)
        found[name] = side(case)
        if case.stream is not None and case.reference is not None:
            found["plain"] = case.reference
    return found


# curl


@pytest.mark.parametrize("name", ANSWERS)
def test_a_trace_has_every_piece_and_its_time(name: str) -> None:
    one, answer = only(f"curl/{name}.trace"), ANSWERS[name]
    exchange = side(one.cassette)
    assert exchange.body == answer.body
    assert exchange.request.json == asked(name)
    assert (exchange.status, exchange.request.target, exchange.ending) == (
        answer.status,
        answer.path,
        "reset" if answer.cut else "eof",
    )
    assert (exchange.headers["x-request-id"], exchange.wire, one.lost) == ("req-1", "original", ())
    ends = [sum(len(c.data) for c in exchange.chunks[: i + 1]) for i in range(len(exchange.chunks))]
    sent = [sum(map(len, answer.pieces[: i + 1])) for i in range(len(answer.pieces))]
    assert set(ends) <= set(sent)  # two that came close together may have been read at once
    assert [c.at for c in exchange.chunks] == sorted(c.at for c in exchange.chunks)
    assert 0.02 < exchange.chunks[0].at < 1


@pytest.mark.parametrize("name", TEXTS)
def test_a_trace_in_ascii_has_line_ends_and_dots_for_other_characters(name: str) -> None:
    one, answer = only(f"curl/{name}.trace-ascii"), ANSWERS[name]
    exchange = side(one.cassette)
    expected = re.sub(rb"[^\r\n\x20-\x7e]", b".", answer.body)
    if name == "odd":  # CR alone: nobody can tell
        expected, exchange_body = expected.replace(b"\r\r", b".."), exchange.body.replace(b"\n\n", b"..")
        assert exchange_body == expected.replace(b"\n\n", b"..")
    else:
        assert exchange.body == expected
    assert exchange.wire == "reconstructed"
    assert any("dots" in lost for lost in one.lost)


@pytest.mark.parametrize("name", ["zipped", "converse"])
def test_a_trace_in_ascii_of_a_body_that_is_no_text_is_of_no_use(name: str) -> None:
    with pytest.raises(Exception, match="--trace-ascii does not keep it; use --trace"):
        made(f"curl/{name}.trace-ascii")


def test_a_trace_without_times() -> None:
    one = only("curl/untimed.trace")
    assert side(one.cassette).body == WORDS
    assert one.lost == ("arrival times",)
    assert {chunk.at for chunk in side(one.cassette).chunks} == {0.0}


def test_two_requests_in_one_trace_are_a_stream_and_its_twin() -> None:
    case = only("curl/two.trace").cassette
    assert case.stream is not None
    assert case.reference is not None
    assert (case.stream.body, case.reference.body) == (WORDS, ANSWERS["plain"].body)
    assert case.pair_kind == "exact"


@pytest.mark.parametrize("name", ANSWERS)
def test_curl_i(name: str) -> None:
    one, answer = only(f"curl/{name}.i.txt"), ANSWERS[name]
    exchange = side(one.cassette)
    assert (exchange.body, exchange.status, exchange.headers["x-request-id"]) == (answer.body, answer.status, "req-1")
    assert {"the request", "arrival times", "where pieces ended"} <= set(one.lost)
    assert (one.cassette.stream is None) == (name in ("plain", "refused"))


@pytest.mark.parametrize("name", ANSWERS)
def test_curl_i_raw_has_the_pieces_and_the_end(name: str) -> None:
    one, answer = only(f"curl/{name}.raw.txt"), ANSWERS[name]
    exchange = side(one.cassette)
    assert [chunk.data for chunk in exchange.chunks] == list(answer.pieces)
    assert exchange.ending == ("reset" if answer.cut else "eof")
    assert "how the response ended" not in one.lost


@pytest.mark.parametrize("name", ANSWERS)
def test_curl_with_its_head_in_a_file_of_its_own(name: str) -> None:
    told = Told(head=FIXTURES / "curl" / f"{name}.head", url="https://api.example.com/v1/chat/completions", provider="here")
    if ANSWERS[name].path != "/v1/chat/completions":
        told = Told(head=told.head)
    one = only(f"curl/{name}.body", told)
    exchange = side(one.cassette)
    assert (exchange.body, exchange.status) == (ANSWERS[name].body, ANSWERS[name].status)
    assert exchange.content_type == ANSWERS[name].media.partition(";")[0]
    assert "the head of the response" not in one.lost


# archives, flows, cassettes


@pytest.mark.parametrize("path", ["mitmproxy/all.flows", "mitmproxy/all.har", "playwright/all.har", "vcrpy/all.yaml"])
def test_what_is_there_has_the_bytes_that_were_sent(path: str) -> None:
    found = by_model(path)
    assert {"text", "plain", "zipped", "odd", "refused", "ollama", "converse"} <= found.keys()
    for name, exchange in found.items():
        if exchange.wire == "original" and exchange.body:
            assert exchange.body == ANSWERS[name].body, name
        assert exchange.status == ANSWERS[name].status
        assert exchange.request.json == asked(name)
    reconstructed = {name for name, exchange in found.items() if exchange.wire != "original"}
    assert reconstructed == ({"zipped", "odd"} if "playwright" in path else {"zipped"} if path.endswith("har") else set())
    if "zipped" in reconstructed:
        assert found["zipped"].body == WORDS
        assert "content-encoding" not in found["zipped"].headers


def test_an_archive_says_what_it_did_not_keep() -> None:
    lost = {one.cassette.model: one.lost for one in made("playwright/all.har")}
    assert any("content encoding" in item for item in lost["zipped"])
    assert any("bytes that are no text" in item for item in lost["odd"])
    assert {"where pieces ended", "arrival times"} <= set(lost["text"])


def test_what_has_no_body_and_what_is_no_turn_is_counted() -> None:
    with Import(FIXTURES / "playwright/all.har") as job:
        assert dict(job.passed) == {
            "it is no request to a known API": 1,
            "the body of the response is not in the file": 1,
        }


@pytest.mark.parametrize("path", ["vcrpy/all.yaml", "vcrpy/all.yaml.gz", "vcrpy/all.json"])
def test_each_form_of_vcrpy(path: str) -> None:
    found = by_model(path)
    names = {"text", "plain", "refused", "ollama"} | (set() if "json" in path else {"zipped", "odd", "converse"})
    assert {name: exchange.body for name, exchange in found.items()} == {name: ANSWERS[name].body for name in names}


def test_pytest_recording() -> None:
    one = only("pytest-recording/test_turn.yaml")
    assert (side(one.cassette).body, one.cassette.id) == (WORDS, "openai-chat/127.0.0.1/test-turn")


# fixtures of other harnesses


@pytest.mark.parametrize(
    ("name", "answer", "pieces"),
    [
        ("stream.text", "text", False),
        ("stream.kept", "text", True),
        ("stream.cut", "cut", True),
        ("stream.lines", "ollama", False),
        ("finish.plain", "plain", False),
    ],
)
def test_wiretruth(name: str, answer: str, pieces: bool) -> None:
    one = only(f"wiretruth/{name}.json")
    exchange = side(one.cassette)
    assert (exchange.body, exchange.wire) == (ANSWERS[answer].body, "original")
    assert exchange.ending == ("reset" if ANSWERS[answer].cut else "eof")
    assert not pieces or [chunk.data for chunk in exchange.chunks] == list(ANSWERS[answer].pieces)
    assert one.cassette.id.endswith(name.replace(".", "-"))
    assert one.cassette.provenance.by == "wiretruth 0.2.0"


def test_wiretruth_writes_json_anew() -> None:
    one = only("wiretruth/errors.refused.json")
    assert (side(one.cassette).wire, side(one.cassette).status) == ("reconstructed", 429)
    assert "the spaces of the JSON" in one.lost


def test_aimock_keeps_no_wire() -> None:
    one = only("aimock/recorded-0.json")
    case = one.cassette
    assert case.stream is not None
    assert case.reference is not None
    assert (case.dialect, case.provenance.kind, side(case).wire) == ("openai-chat", "authored", "reconstructed")
    assert "the wire: it was made up" in one.lost
    assert case.stream.chunks[0].at > 0
    refused = only("aimock/recorded-1.json").cassette
    assert (side(refused).status, side(refused).json["error"]["message"]) == (429, "slow down")


# all of them


@pytest.mark.parametrize("path", sorted(p for p in FILES if not p.endswith(OF_NO_USE)))
def test_the_format_is_told_by_the_contents_not_by_the_name(path: str, tmp_path: Path) -> None:
    """Of a file with another name, the same exchanges."""
    other = tmp_path / "capture"
    shutil.copy(FIXTURES / path, other)
    with Import(other) as renamed, Import(FIXTURES / path) as named:
        assert renamed.form == named.form
        assert [side(one.cassette).body for one in renamed] == [side(one.cassette).body for one in named]


def test_the_key_is_in_the_fixtures() -> None:
    """So that a test that looks for it where it must not be can fail."""
    assert KEY.encode() in (FIXTURES / "vcrpy/all.yaml").read_bytes()
