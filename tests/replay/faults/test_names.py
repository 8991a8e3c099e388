"""Faults by name: how they are called, which find something to change, what passes, and that nothing odd makes them crash."""

from __future__ import annotations

import pytest

from harness import dialects
from harness.cassette import loading
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.replay.faults.catalogue import CATALOGUE, UnknownFaultError, applicable, attempts, called
from harness.replay.faults.named import staged
from harness.replay.faults.primitives import FaultError
from tests import chat
from tests.exchanges import CHAT, sse

API = dialects.dialect("openai-chat")
BODY = sse(chat.opens("Ebb"), chat.text(" and flow"), chat.stops())


def answer(body: bytes = BODY, status: int = 200) -> Exchange:
    request = Request(target=CHAT, body=b'{"stream": true}')
    headers = Headers({"content-type": "text/event-stream"})
    return Exchange(request=request, status=status, headers=headers, chunks=(Chunk(data=body),))


def made(*names: str, exchange: Exchange | None = None, streamed: bool = True) -> Exchange:
    return staged(exchange or answer(), API, [called(name) for name in names], streamed=streamed)


def test_a_fault_is_called_by_its_name_and_argument() -> None:
    assert called("truncated").name == "truncated"
    assert called("truncated:1").name == "truncated:1"
    assert called("pieces").argument == "7"


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(UnknownFaultError, match="did you mean truncated"):
        called("truncted")
    with pytest.raises(UnknownFaultError, match="`streamproof faults` lists them"):
        called("§")


@pytest.mark.parametrize("argument", ["x", "-1", "1e3", "٣", "99999999999999999999", ""])
def test_an_argument_that_is_no_number_is_refused(argument: str) -> None:
    with pytest.raises(FaultError, match="no number"):
        made(f"pieces:{argument}")


def test_so_many_frames_are_kept() -> None:
    assert made("truncated:1").body == sse(chat.opens("Ebb")).removesuffix(b"data: [DONE]\n\n")
    with pytest.raises(FaultError, match="the turn ends with frame 2"):
        made("truncated:3")


def test_several_in_a_row() -> None:
    both = made("truncated:1", "byte-by-byte")
    assert {len(chunk.data) for chunk in both.chunks} == {1}
    assert both.body == made("truncated:1").body


def test_what_finds_nothing_to_change_is_refused() -> None:
    assert not applicable("wrong-crc", answer(), API)
    assert not applicable("pings", answer(), API)
    assert not applicable("truncated", answer(b"{}", status=500), API)
    assert not applicable("truncated", answer(), API, streamed=False)
    assert applicable("byte-by-byte", answer(), API, streamed=False)


def test_what_passes() -> None:
    first, second = attempts(answer(), API, ["http-429-then-good"])
    assert (first.status, second) == (429, answer())
    assert [each.status for each in attempts(answer(), API, ["http-503-then-good:3", "coalesced"])] == [503, 503, 503, 200]
    assert [each.status for each in attempts(answer(), API, ["http-500"])] == [500]


def test_a_hint_to_wait() -> None:
    assert made("http-429-retry-after:7").headers["retry-after"] == "7"


def test_pauses() -> None:
    slow = made("frame-by-frame", "slow:250")
    assert [chunk.at for chunk in slow.chunks] == [0.0, 0.25, 0.5, 0.75]
    assert called("slow").fault.timed


ODD = [
    b"",
    b"\x00",
    b"data: 1\n\n",
    b"data: [[]]\n\ndata: {}\n\n",
    b'data: {"choices":[7]}\n\n' * 3,
    b"\xff" * 40,
    b"[",
    b"{",
    b"\n",
]


@pytest.mark.parametrize("name", CATALOGUE)
def test_nothing_odd_makes_a_fault_crash(name: str) -> None:
    for dialect in dialects.registered():
        for body in ODD:
            applicable(name, answer(body), dialect)
        applicable(f"{name}:nine", answer(), dialect)


def test_the_times_of_frames_are_kept() -> None:
    pieces = (Chunk(data=BODY[:30], at=1.0), Chunk(data=BODY[30:], at=2.5))
    timed = Exchange(request=answer().request, headers=answer().headers, chunks=pieces)
    assert [chunk.at for chunk in made("unknown-fields", exchange=timed).chunks] == [2.5, 2.5, 2.5, 2.5]


@pytest.fixture(scope="module")
def shipped() -> list[Cassette]:
    return list(loading.load(loading.shipped()))


def test_faults_in_a_row_work_on_what_the_others_left(shipped: list[Cassette]) -> None:
    cases = [case for case in shipped if case.stream is not None][::9]
    for case in cases:
        for pair in (
            ("unknown-fields", "gzip"),
            ("crlf", "half-frames"),
            ("error-in-band", "byte-by-byte"),
            ("html", "coalesced"),
        ):
            try:
                attempts(case.stream, dialects.dialect(case.dialect), pair)  # type: ignore[arg-type]
            except FaultError:
                continue
