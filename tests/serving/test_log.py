"""The log keeps what there is room for."""

from __future__ import annotations

from harness.cassette.model import Request
from harness.serving.entry import KEPT, Entry, Log


def begun(log: Log, size: int = 0, session: str | None = None) -> Entry:
    entry = log.begin(Request(body=b"x" * size), "http/1.1", 0.0)
    entry.session = session
    return entry


def test_large_requests_push_old_ones_out() -> None:
    log = Log(most=25_000)
    for _ in range(5):
        begun(log, 8_000)
    assert [entry.number for entry in log.entries()] == [3, 4]


def test_the_latest_stays_however_large() -> None:
    log = Log(most=10)
    begun(log, 1_000)
    begun(log, 1_000)
    assert [entry.number for entry in log.entries()] == [1]


def test_what_was_sent_is_weighed_as_well() -> None:
    log = Log(most=10_000)
    first, second = begun(log), begun(log)
    first.sizes += [1] * 1_000
    log.over(first)
    assert log.entries() == [second]
    log.over(first)  # gone already
    assert log.entries() == [second]


def test_no_more_than_so_many() -> None:
    log = Log()
    for _ in range(KEPT + 3):
        begun(log)
    assert (len(log.entries()), log.entries()[0].number) == (KEPT, 3)


def test_a_session_can_be_forgotten() -> None:
    log = Log(most=10_000)
    begun(log, 3_000, "a")
    kept = begun(log, 10, "b")
    log.forget("a")
    assert (log.entries(), log.entries("a"), log.entries("b")) == ([kept], [], [kept])
    begun(log, 3_000)  # there is room again
    assert len(log.entries()) == 2


def test_a_large_request_is_not_written_down() -> None:
    entry = begun(Log(), 1_000_000)
    row = entry.as_dict()
    assert (row["request"], row["request_bytes"]) == (None, 1_000_000)
