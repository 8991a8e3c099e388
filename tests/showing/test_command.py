"""`streamproof replay` as it is called: exit statuses, what goes to which stream, readers that leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import cassette
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import exchange, sse
from tests.showing.test_watching import pieces
from tests.test_cli import Command, process, saved, streamproof

__all__ = ["streamproof"]


def test_a_turn(streamproof: Command) -> None:
    done = streamproof("replay", "--fast", saved())
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("openai-chat/here/text · openai-chat · status 200 · 1 chunk · ")
    assert done.out.endswith('  text "Hello" · finish stop · usage unknown\n')


def test_a_turn_that_failed(streamproof: Command) -> None:
    done = streamproof("replay", "--fast", saved(body=sse(chat.text("Hel"), end=False)))
    assert done.status == 1
    assert "→ error at the provider · truncated: " in done.out


def test_json_is_all_there_is_and_the_same_at_any_speed(streamproof: Command) -> None:
    path = saved()
    fast = streamproof("replay", "--json", "--fast", path)
    assert (fast.status, fast.err) == (0, "")
    assert [line["type"] for line in fast.lines][:3] == ["event", "chunk", "frame"]
    assert fast.lines[-1]["type"] == "checked"
    assert fast.lines[-1]["response"] == streamproof("check", "--json", path).lines[0]["response"]
    assert streamproof("replay", "--json", "--speed", "1e6", path).out == fast.out


def test_it_waits_if_it_is_not_told_otherwise(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("harness.replay.clock.RecordedTime.sleep", lambda clock, seconds: sleep(seconds / clock.speed))
    stream = pieces((1.0, sse(chat.opens("Hello"), end=False)), (31.0, sse(chat.stops())))
    cassette.save(case_of(stream), "slow.yaml")
    assert streamproof("replay", "slow.yaml").status == 0
    assert slept == pytest.approx([1.0, 31.0], abs=0.5)
    slept.clear()
    assert streamproof("replay", "--speed", "10", "slow.yaml").status == 0
    assert slept == pytest.approx([0.1, 3.1], abs=0.5)


def test_a_shipped_cassette_by_its_id(streamproof: Command) -> None:
    assert streamproof("replay", "--fast", "ollama-chat/ollama/text").status == 0


def test_a_capture(streamproof: Command, tmp_path: Path) -> None:
    (tmp_path / "capture.sse").write_bytes(sse(chat.opens("Hello"), chat.stops()))
    assert "text_delta" in streamproof("replay", "capture.sse").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.yaml"], "no cassette of that name is shipped"),
        (["--speed", "0", "text.yaml"], "a speed is a number above 0"),
        (["--speed", "nan", "text.yaml"], "a speed is a number above 0"),
        (["--fast", "--speed", "2", "text.yaml"], "give one of the two"),
        (["--dialect", "klingon", "ollama-chat/ollama/text"], "unsupported dialect 'klingon'"),
        (["."], "2 recordings are there"),
    ],
)
def test_bad_usage(streamproof: Command, arguments: list[str], says: str) -> None:
    saved("one")
    saved("two")
    done = streamproof("replay", *arguments)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("options", [["--fast"], ["--fast", "--json"], ["--speed", "1e6"]])
def test_a_reader_that_leaves(tmp_path: Path, options: list[str]) -> None:
    long = exchange(sse(*(chat.text(f"word {number}") for number in range(3000)), chat.stops()), pieces=4000)
    cassette.save(case_of(long), tmp_path / "long.yaml")
    done = process("replay", *options, "long.yaml", folder=tmp_path, pipe="head -n 1")
    assert done.returncode != 0
    assert len(done.stdout.splitlines()) == 1
    assert b"Traceback" not in done.stderr
    assert b"itself failed" not in done.stderr


def test_a_terminal_that_speaks_ascii(tmp_path: Path) -> None:
    cassette.save(case_of(exchange(sse(chat.opens("潮"), chat.stops()))), tmp_path / "text.yaml")
    done = process("replay", "--fast", "text.yaml", folder=tmp_path, PYTHONIOENCODING="ascii", TERM="dumb")
    assert done.returncode == 0
    assert done.stdout.isascii()
    json_lines = process("replay", "--fast", "--json", "text.yaml", folder=tmp_path, PYTHONIOENCODING="ascii").stdout
    assert "潮" in json.loads(json_lines.splitlines()[-1])["response"]["text"]


@pytest.mark.parametrize("command", [("replay", "--fast"), ("check",)])
def test_a_name_that_no_file_can_have(streamproof: Command, command: tuple[str, ...]) -> None:
    done = streamproof(*command, "a" * 5000)
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("a: File name too long\n")


@pytest.mark.parametrize("wait", ["1e999", "Infinity", "NaN"])
def test_a_time_that_never_comes_is_refused(streamproof: Command, wait: str) -> None:
    reads = f'[{{"text": "data: x"}}, {{"wait_s": {wait}}}, {{"text": "y"}}]'
    Path("odd.json").write_text(f'{{"format": "scenario/1", "api": "openai-chat", "exchanges": [{{"reads": {reads}}}]}}')
    done = streamproof("replay", "--fast", "odd.json")
    assert (done.status, done.out) == (2, "")
    assert "wait_s: Input should be a finite number" in done.err
