"""HTTP Archives: how their texts become bytes, what is missing from them, damaged ones."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import pytest

from harness import cassette as cassettes
from harness.importing import Import
from tests import chat
from tests.exchanges import sse
from tests.importing.making import failed, made, only, side, written

URL = "https://api.openai.com/v1/chat/completions"
TURN = sse(chat.text("Grüße 🌊"), chat.stops())


def entry(text: str | None, size: int | None = None, *, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    content = {"mimeType": "text/event-stream", "size": size, "text": text, "encoding": more.pop("encoding", None)}
    response = {
        "status": more.pop("status", 200),
        "headers": [
            {"name": name, "value": value} for name, value in (headers or {"content-type": "text/event-stream"}).items()
        ],
        "content": {name: value for name, value in content.items() if value is not None},
        **more,
    }
    posted = {"mimeType": "application/json", "text": '{"model":"tide-1","stream":true}'}
    return {
        "startedDateTime": "2026-11-30T12:00:00.000Z",
        "request": {"method": "POST", "url": URL, "headers": [], "postData": posted},
        "response": response,
    }


def archive(*entries: Any, **log: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "a browser", "version": "7"}, "entries": list(entries), **log}}


def test_a_text_is_utf_8_where_its_size_says_so(tmp_path: Path) -> None:
    one = only(written(tmp_path, "a.har", archive(entry(TURN.decode(), len(TURN)))))
    assert (side(one).body, side(one).wire) == (TURN, "original")
    case = one.cassette
    assert (case.provider, case.model, case.provenance.on, case.provenance.by) == (
        "openai",
        "tide-1",
        "2026-11-30",
        "a browser 7",
    )
    assert case.provenance.note == ("imported (har); not kept: where pieces ended, arrival times, how the response ended")


def test_a_text_is_latin_1_where_only_that_has_its_size(tmp_path: Path) -> None:
    body = sse(chat.stops()) + b": \xe9\xff\n\n"
    one = only(written(tmp_path, "a.har", archive(entry(body.decode("latin-1"), len(body)))))
    assert (side(one).body, side(one).wire) == (body, "original")


def test_lone_surrogates_are_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    body = sse(chat.stops()) + b": \xe9\xff\n\n"
    value = archive(entry(body.decode("utf-8", "surrogateescape"), len(body)))
    one = only(written(tmp_path, "a.har", chat.json.dumps(value)))
    assert (side(one).body, side(one).wire) == (body, "original")


@pytest.mark.parametrize("size", [None, -1, 3])
def test_replacement_characters_are_a_loss(size: int | None, tmp_path: Path) -> None:
    text = sse(chat.text("\ufffd"), chat.stops()).decode()
    one = only(written(tmp_path, "a.har", archive(entry(text, size))))
    assert (side(one).body, side(one).wire) == (text.encode(), "reconstructed")
    assert "bytes that are no text: characters stand for them" in one.lost


def test_base64(tmp_path: Path) -> None:
    body = b"\xff\x00" + TURN
    one = only(written(tmp_path, "a.har", archive(entry(base64.b64encode(body).decode(), 3, encoding="base64"))))
    assert (side(one).body, side(one).wire) == (body, "original")
    error = failed(written(tmp_path, "b.har", archive(entry("a?", encoding="base64"))))
    assert "a body is not base64" in error.message
    assert str(error.where).endswith("log.entries[0]")


def test_a_decoded_body_loses_the_header_of_its_encoding(tmp_path: Path) -> None:
    headers = {"content-type": "text/event-stream", "Content-Encoding": "gzip"}
    one = only(written(tmp_path, "a.har", archive(entry(TURN.decode(), len(TURN), headers=headers))))
    assert (side(one).body, side(one).wire, dict(side(one).headers)) == (
        TURN,
        "reconstructed",
        {"content-type": "text/event-stream"},
    )
    packed = base64.b64encode(gzip.compress(TURN)).decode()
    one = only(written(tmp_path, "b.har", archive(entry(packed, headers=headers, encoding="base64"))))
    assert (side(one).wire, side(one).headers["content-encoding"]) == ("original", "gzip")


@pytest.mark.parametrize(
    ("more", "ending"),
    [
        ({}, "eof"),
        ({"_failureText": "net::ERR_CONNECTION_RESET"}, "reset"),
        ({"_error": "net::ERR_INCOMPLETE_CHUNKED_ENCODING"}, "reset"),
        ({"_error": "net::ERR_TIMED_OUT"}, "timeout"),
    ],
)
def test_what_browsers_say_of_a_failure(more: dict[str, Any], ending: str, tmp_path: Path) -> None:
    one = only(written(tmp_path, "a.har", archive(entry(TURN.decode(), len(TURN), **more))))
    assert side(one).ending == ending
    assert ("how the response ended" in one.lost) == (ending == "eof")


def test_the_length_says_how_it_ended(tmp_path: Path) -> None:
    headers = {"content-type": "text/event-stream", "content-length": str(len(TURN))}
    one = only(written(tmp_path, "a.har", archive(entry(TURN.decode(), len(TURN), headers=headers))))
    assert "how the response ended" not in one.lost


def test_names_of_http_2_are_no_headers_and_joined_fields_are_two(tmp_path: Path) -> None:
    headers = {":status": "200", "x-many": "1\n2", "content-type": "text/event-stream"}
    one = only(written(tmp_path, "a.har", archive(entry(TURN.decode(), headers=headers))))
    assert side(one).headers.fields == (("x-many", "1"), ("x-many", "2"), ("content-type", "text/event-stream"))


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    entries = [entry(TURN.decode()), entry(None), entry("", status=0), entry(TURN.decode()), {**entry(TURN.decode())}]
    entries[4]["request"] = {"method": "GET", "url": "https://example.com/", "headers": []}
    with Import(written(tmp_path, "a.har", archive(*entries))) as job:
        assert dict(job.passed) == {
            "the body of the response is not in the file": 1,
            "no response came": 1,
            "it is no request to a known API": 1,
        }
        assert job.names == ["openai-chat/openai/a-1", "openai-chat/openai/a-2"]


@pytest.mark.parametrize("answer", [{"response": None}, {}])
def test_an_entry_without_an_answer_does_not_stop_the_others(answer: dict[str, Any], tmp_path: Path) -> None:
    without = {name: value for name, value in entry(None).items() if name != "response"} | answer
    with Import(written(tmp_path, "a.har", archive(without, entry(TURN.decode())))) as job:
        assert dict(job.passed) == {"no response came": 1}
        assert job.names == ["openai-chat/openai/a"]


def test_a_date_that_is_none(tmp_path: Path) -> None:
    entries = [{**entry(TURN.decode()), "startedDateTime": said} for said in ("2026-11-30T12:00:00Z", "yesterday", "", 7)]
    found = made(written(tmp_path, "a.har", archive(*entries)))
    assert [one.cassette.provenance.on for one in found] == ["2026-11-30", None, None, None]
    for one in found:
        cassettes.save(one.cassette, tmp_path / "saved.yaml")


def test_half_a_character_in_the_name_of_a_model(tmp_path: Path) -> None:
    value = entry(TURN.decode())
    value["request"]["postData"]["text"] = r'{"model":"tide-\ud800","stream":true}'
    one = only(written(tmp_path, "a.har", archive(value)))
    assert one.cassette.model == "tide-?"
    cassettes.save(one.cassette, tmp_path / "saved.yaml")


def test_a_gateway_with_paths_of_its_own_is_known_by_its_answer(tmp_path: Path) -> None:
    value = entry(TURN.decode(), len(TURN))
    value["request"]["url"] = "https://gateway.example.com/llm/proxy"
    one = only(written(tmp_path, "a.har", archive(value)))
    assert (one.cassette.id, one.cassette.stream is not None) == ("openai-chat/gateway.example.com/a", True)


def test_names_may_come_in_any_order(tmp_path: Path) -> None:
    log = {"entries": [entry(TURN.decode())], "pages": [{"title": '"log": [{'}], "version": "1.2"}
    assert side(only(written(tmp_path, "a.har", {"comment": {"entries": [1]}, "log": log}))).body == TURN
    assert side(only(written(tmp_path, "b.har", "\ufeff \n" + chat.json.dumps({"log": log})))).body == TURN


BAD = {
    "cut": (chat.json.dumps(archive(entry(TURN.decode())))[:300], "is no whole HAR: the document ends too early"),
    "no entries": ({"log": {"version": "1.2"}}, "is no HAR: it has no log.entries"),
    "a list": ({"log": []}, "is no HAR"),
    "not an object": (archive(3), "expected an object"),
    "no request": (archive({"response": {}}), "the request is missing"),
    "no URL": (archive({"request": {"method": "POST"}, "response": {}}), "no method or no URL"),
    "not JSON": ('{"log": {"entries": [{"a": nil}]}}', "is not JSON"),
    "nothing for us": (archive(entry(None)), "nothing in it can be imported: the body of the response is not in the file (1)"),
    "empty": (archive(), "nothing in it can be imported: there is no exchange in it"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_damaged_archive_says_where(what: str, tmp_path: Path) -> None:
    value, message = BAD[what]
    assert message in failed(written(tmp_path, "a.har", value)).message


def test_our_own_archives_have_pieces_and_times(tmp_path: Path) -> None:
    value = entry(TURN.decode(), len(TURN))
    value["_streamproof"] = {"chunks": [[0.1, 5], [0.2, len(TURN)]], "ending": "reset", "wire": "original"}
    one = only(written(tmp_path, "a.har", archive(value)))
    assert [(c.at, len(c.data)) for c in side(one).chunks] == [(0.1, 5), (0.2, len(TURN) - 5)]
    assert (side(one).ending, one.lost) == ("reset", ())
    value["_streamproof"]["chunks"] = [[0.1, 5]]
    assert "does not fit the body" in failed(written(tmp_path, "b.har", archive(value))).message


def test_a_long_archive_is_never_in_memory(tmp_path: Path) -> None:
    """Each entry is gone before the next one is read."""
    import tracemalloc

    text = sse(chat.text("x" * 200_000), chat.stops()).decode()
    path = written(tmp_path, "a.har", archive(*(entry(text) for _ in range(120))))
    assert path.stat().st_size > 24_000_000
    told: list[int] = []
    tracemalloc.start()
    try:
        with Import(path, progress=told.append) as job:
            assert len(job.names) == 120
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told == sorted(told)
    assert told[-1] == path.stat().st_size
    assert peak < 20_000_000
    assert len(made(path)) == 120
