"""What people see of a stream that passes: on a terminal with a line below that tells how far it is, elsewhere plain lines."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness import cassette, dialects, inputs
from harness.cassette.model import Exchange
from harness.errors import InputError
from harness.replay import Clock, RecordedTime, VirtualClock
from harness.showing import replaying
from harness.showing.screen import Screen
from harness.showing.words import lines
from tests import chat
from tests.exchanges import exchange, sse
from tests.showing.test_watching import pieces, watched

TURN = pieces((0.5, sse(chat.opens("Ebb and flow"), end=False)), (61.5, sse(chat.stops())))
HOSTILE = "\x1b[2J[red]bold[/red]\x07\u202e\n\r\x9b31m"
CHAT = dialects.dialect("openai-chat")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def fake_time(speed: float = 1.0) -> RecordedTime:
    """Recorded time that nobody waits for."""
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    return RecordedTime(speed, clock=lambda: now[0], sleep=sleep)


def shown(recorded: Exchange, clock: Clock | None = None, *, ascii: bool = False, **console: Any) -> str:
    """What stands on the screen of a console when all is over, control sequences included."""
    out = io.StringIO()
    given = inputs.Input(name="tide", dialect=CHAT, detected=False, exchanges=(recorded,))
    console = {"width": 80, **console}
    # the environment of a test run must not say what kind of terminal there is
    replaying.on_screen(
        given, clock or VirtualClock(), "at some speed", Console(file=out, _environ={}, highlight=False, **console), ascii=ascii
    )
    return out.getvalue()


def test_a_turn_in_lines() -> None:
    first, size = len(TURN.chunks[0].data), len(TURN.body)
    head, *log = shown(TURN).splitlines()
    assert head == f"tide · openai-chat · status 200 · 2 chunks · {size} bytes · 61.500 s · at some speed"
    assert [line[:60].rstrip() for line in log] == [
        "           → submitted",
        f"    0.500  chunk 0 · bytes 0–{first}",
        '           frame 0  {"id":"chatcmpl-1","object":"chat.comple',
        '             set     /object  "chat.completion"',
        '             set     /id  "chatcmpl-1"',
        "             set     /created  1764547200",
        '             set     /model  "tide-1"',
        '             set     /choices/0  {"index": 0, "message": {"r',
        '             set     /choices/0/message/role  "assistant"',
        '             concat  /choices/0/message/content  "Ebb and fl',
        "           → streaming",
        '           → text_delta "Ebb and flow"',
        f"   61.500  chunk 1 · bytes {first}–{size}",
        '           frame 1  {"id":"chatcmpl-1","object":"chat.comple',
        '             set     /choices/0/finish_reason  "stop"',
        "           frame 2  [DONE]",
        "   61.500  end of the body",
        '           → text {"text": "Ebb and flow"}',
        "           → finish stop",
        "           → turn_complete 1 part: text",
        "           → done",
        "",
        "tide · openai-chat · ok · complete",
        '  text "Ebb and flow" · finish stop · usage unknown',
    ]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_where_there_is_no_screen_its_width_says_nothing(width: int) -> None:
    assert shown(TURN, width=width) == shown(TURN)
    assert "\x1b" not in shown(TURN)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    wide = pieces((0.1, sse(chat.text("潮の満ち引き" * 40 + "👩‍🚀" * 20), chat.stops())))
    out = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown(wide, force_terminal=True, width=width, color_system=None))
    console = Console(width=1000)
    assert max(console.measure(line).maximum if line else 0 for line in out.splitlines()) <= width


@pytest.mark.parametrize("console", [{}, {"force_terminal": True}], ids=["pipe", "terminal"])
def test_recorded_text_is_only_ever_text(console: dict[str, Any]) -> None:
    body = sse({**chat.text(HOSTILE), HOSTILE: HOSTILE}, {"error": {"message": HOSTILE}}, end=False) + HOSTILE.encode()
    out = shown(exchange(body), fake_time(), color_system=None, **console)
    said = re.sub(r"\x1b\[(?:\?25[lh]|2K|1A|[0-9]*[A-Z])", "", out) if console else out  # what the live line itself needs
    assert CONTROL.findall(said.replace("\r", "")) == []
    assert "[red]bold[/red]" in out


def test_plain_letters_on_request() -> None:
    out = shown(exchange(sse(chat.text("潮"), chat.stops())), ascii=True)
    assert out.isascii()
    assert "-> text_delta" in out
    assert "\\u6f6e" in out


def test_below_the_lines_stands_how_far_it_is() -> None:
    out = shown(TURN, fake_time(), force_terminal=True, color_system=None)
    assert "of 61.5 s" in out
    assert out.count("\x1b[?25l") == out.count("\x1b[?25h") == 1  # the cursor comes back


@pytest.mark.parametrize(
    ("clock", "console"),
    [
        pytest.param(fake_time(), {}, id="pipe"),
        pytest.param(VirtualClock(), {"force_terminal": True}, id="without waiting"),
        pytest.param(fake_time(), {"force_terminal": True, "_environ": {"TERM": "dumb"}}, id="dumb"),
    ],
)
def test_but_only_on_a_terminal_that_can_and_with_time_to_read(clock: Clock, console: dict[str, Any]) -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, **{"_environ": {}, "color_system": None, **console}))
    with screen.playing(TURN, clock):
        for passing in watched(TURN):
            screen.show(passing)
    assert "\x1b" not in out.getvalue()
    assert "text_delta" in out.getvalue()


def test_what_a_frame_repeats_stands_in_one_line() -> None:
    (case,) = cassette.load(cassette.shipped() / "openai-responses/openai/error-in-stream.yaml")
    assert case.stream is not None
    said = [text for passing in watched(case.stream, "openai-responses") for _, text, _ in lines(passing)]
    repeated = [text for text in said if text.startswith("settle")]
    assert len(repeated) == 2
    assert all(re.match(r"settle  \d+ values: /id, /object, ", text) for text in repeated)


# what is chosen, and how fast it is


def test_a_shipped_cassette_by_its_id() -> None:
    assert replaying.chosen(Path("gemini/google/text")).name == "gemini/google/text"


def test_one_of_several_must_be_named() -> None:
    with pytest.raises(InputError, match=r"\d+ recordings are there: gemini/"):
        replaying.chosen(cassette.shipped() / "gemini")


def test_nothing_of_that_name() -> None:
    with pytest.raises(InputError, match="no cassette of that name is shipped"):
        replaying.chosen(Path("gemini/google/nothing"))


@pytest.mark.parametrize("speed", [0.0, -2.0, float("nan"), float("inf")])
def test_a_speed_that_is_none(speed: float) -> None:
    with pytest.raises(InputError, match="--speed"):
        replaying.pace(speed, fast=False)


def test_one_pace_at_a_time() -> None:
    with pytest.raises(InputError, match="give one of the two"):
        replaying.pace(2.0, fast=True)


def test_paces() -> None:
    assert replaying.pace(None, fast=False)[1] == "in recorded time"
    clock, says = replaying.pace(2.5, fast=False)
    assert isinstance(clock, RecordedTime)
    assert (clock.speed, says) == (2.5, "2.5 times as fast")
    clock, says = replaying.pace(None, fast=True)
    assert isinstance(clock, VirtualClock)
    assert says == "without waiting"


# attempts


def test_an_attempt_after_one_that_failed_is_played_too() -> None:
    slow, good = exchange(b'{"error": {}}', status=429), exchange(sse(chat.text("Ebb"), chat.stops()))
    given = inputs.Input(name="tide", dialect=CHAT, detected=False, exchanges=(slow, good, good))
    out = io.StringIO()
    replaying.on_screen(given, VirtualClock(), "fast", Console(file=out))
    assert re.findall(r"attempt \d of \d · status \d+", out.getvalue()) == [
        "attempt 1 of 3 · status 429",
        "attempt 2 of 3 · status 200",
    ]
