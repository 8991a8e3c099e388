"""What people see: 60 columns, plain letters where need be, and recorded text as text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from harness import checking, inputs
from harness.conformance.compare import ABSENT
from harness.conformance.rules import RULES
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import Where
from harness.findings import Finding, Level
from harness.reporting.excerpt import excerpt, harmless
from harness.reporting.terminal import Terminal
from harness.reporting.words import fault
from harness.suite import Outcome
from tests import chat
from tests.exchanges import sse
from tests.reporting.outcomes import NASTY, finding, outcome, verdict


class Screen:
    """A terminal, or a file in its place, that remembers."""

    def __init__(self, *, width: int = 80, ascii: bool = False, tty: bool = False, encoding: str = "utf-8") -> None:
        self._bytes = io.BytesIO()
        self._file = io.TextIOWrapper(self._bytes, encoding=encoding, newline="")
        console = Console(file=self._file, width=width, force_terminal=tty, color_system=None, highlight=False)
        self.terminal = Terminal(console, ascii=ascii)

    @property
    def text(self) -> str:
        self._file.flush()
        return self._bytes.getvalue().decode(self._file.encoding)

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")[:-1]


def shown(of: Outcome, body: bytes = b"", **screen: Any) -> list[str]:
    """What a run prints."""
    seen = Screen(**screen)
    seen.terminal.head("1.2.3", of, ["ours"])
    seen.terminal.table(of)
    seen.terminal.failures(of, lambda _: body, lambda v: f"streamproof run {v.cassette}")
    seen.terminal.summary(of, "reports/x/")
    return seen.lines


BAD = verdict(finding(rule="OAI-C-001", message="differs from the twin", expected="Lyon", got="Lyom"), grade=Grade.WRONG)
BODY = b'data: {"type":"delta","delta":"Lyom"}\n\n'


def test_a_run() -> None:
    of = outcome(
        verdict(check=Check.FRAMING), BAD, verdict(cassette="gemini/google/text", dialect="gemini"), stale=["k entry 1: x"]
    )
    spot = finding(message="differs", where=Where(frame=0, span=(34, 35)), expected="Lyon", got="Lyom")
    of.verdicts[1] = verdict(spot, grade=Grade.WRONG)
    assert shown(of, BODY) == [
        "streamproof 1.2.3 · 2 cassettes · 2 dialects · adapter ours",
        "openai-chat      1   ✘ 1 wrong",
        "gemini           1   ✔ 1 pass",
        "✘ openai-chat/here/text · reference · wrong",
        "  must  reference/value   frame 0 · bytes 34–35",
        "    differs",
        '    expected "Lyon"   got "Lyom"',
        '      data: {"type":"delta","delta":"Lyom"}',
        "                                        ^",
        "  again: streamproof run openai-chat/here/text",
        "✘ known deviation is stale · k entry 1: x",
        "1 conform · 1 wrong · 0 known deviations · 1 stale · 1.2 s · reports/x/",
    ]


def test_the_worst_check_of_a_cassette_counts_and_known_deviations_do_not() -> None:
    known = verdict(finding(known="k"), grade=Grade.WRONG, known="k")
    assert shown(outcome(verdict(), known))[1:] == [
        "openai-chat      1   ✔ 1 pass",
        "1 conform · 1 known deviation · 1.2 s · reports/x/",
    ]
    crash = verdict(grade=Grade.CRASH, check=Check.FRAMING)
    assert shown(outcome(crash, BAD))[1] == "openai-chat      1   ✷ 1 crash"


@pytest.mark.parametrize("grade", list(Grade))
def test_every_grade_has_a_glyph_and_a_word(grade: Grade) -> None:
    plain, fancy = (shown(outcome(verdict(grade=grade)), ascii=a)[1] for a in (True, False))
    assert plain.isascii()
    assert f"1 {grade.value}" in plain
    assert f"1 {grade.value}" in fancy
    assert plain.split()[2] != fancy.split()[2] or grade is Grade.HARNESS_ERROR


def test_many_failures_are_cut_and_it_is_said() -> None:
    lines = shown(outcome(*(verdict(*[finding()] * 9, grade=Grade.WRONG, cassette=f"c/{n}") for n in range(30))))
    assert "… and 5 more; the report has them all" in lines
    assert lines.count("  … and 5 more findings") == 25


# plain letters


@pytest.mark.parametrize("screen", [{"ascii": True}, {"encoding": "ascii"}, {"encoding": "latin-1"}])
def test_plain_letters_where_they_are_asked_for_or_nothing_else_is_there(screen: dict[str, Any]) -> None:
    nasty = verdict(finding(message=NASTY, expected=NASTY, got="漢"), grade=Grade.WRONG, cassette="c/é")
    lines = shown(outcome(nasty), NASTY.encode(errors="replace") * 3, **screen)
    assert all(line.isascii() for line in lines)
    assert "x c/\\xe9 - reference - wrong" in lines
    assert any('got "\\u6f22"' in line for line in lines)


def test_carets_stand_under_escapes_of_plain_letters() -> None:
    body = "data: é漢🌊X…".encode()
    at = body.index(b"X")
    seen = verdict(finding(where=Where(span=(at, at + 1))), grade=Grade.WRONG)
    lines = shown(outcome(seen), body, ascii=True)
    (line,) = [n for n, text in enumerate(lines) if "data:" in text]
    assert lines[line] == "      data: \\xe9\\u6f22\\U0001f30aX\\u2026"
    assert lines[line + 1].index("^") == lines[line].index("X")


# columns


def long_outcome() -> Outcome:
    name = "openai-responses/" + "provider-with-a-long-name/" * 3 + "parallel-tool-calls"
    where = Where(cassette=name, exchange=0, frame=41, span=(18_204, 18_391), path="/output/0/arguments")
    bad = finding(message="word " * 60, where=where, expected={"city": "Lyon" * 20}, got={"city": "Lyom" * 20})
    return outcome(verdict(bad, grade=Grade.WRONG, cassette=name), stale=["entry " * 30])


@pytest.mark.parametrize("width", [60, 61, 80, 120, 200])
def test_a_terminal_is_never_written_beyond_its_width(width: int) -> None:
    body = ("é漢" * 20_000).encode()
    lines = shown(long_outcome(), body, width=width, tty=True)
    assert max(cell_len(line) for line in lines) <= width
    message = [line for line in lines if line.startswith("    word")]
    assert len(message) > 1, "it goes on below its beginning"


def test_anywhere_else_a_line_is_a_line() -> None:
    lines = shown(long_outcome(), width=60)
    assert "    " + " ".join(["word"] * 60) in lines


@given(
    st.lists(
        st.sampled_from(["a", "é", "漢", "🌊", "e\u0301", "\x1b", "\r", "\t", "\u202e", "\xff", "\u200b", " "]), max_size=200
    ),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_carets_stand_under_the_bytes_they_are_about(letters: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(letters)))
    before, after = (
        "".join(part).encode("latin-1" if "\xff" in part else "utf-8", "replace")
        for part in (letters[:position], letters[position:])
    )
    width = data.draw(st.integers(20, 140))
    plain = data.draw(st.booleans())
    body = b"first line\n" + before + b"@" + after + b"\nlast line"
    start = len(b"first line\n" + before)
    line, carets = excerpt(body, (start, start + 1), width, ascii=plain)
    assert cell_len(line) <= width
    assert cell_len(carets) <= width
    assert carets.strip() == "^"
    assert cell_len(line[: line.index("@")]) == carets.index("^")
    assert line.isprintable()
    assert line.isascii() or not plain


@pytest.mark.parametrize("span", [(0, 0), (0, 5), (3, 3), (4, 6), (5, 5), (5, 100), (100, 200), (3, 10_000)])
@pytest.mark.parametrize("body", [b"", b"\n", b"abc", b"abc\n\ndef\n", b"\xff" * 50, b"x" * 100_000])
def test_any_span_of_any_body_has_an_excerpt(span: tuple[int, int], body: bytes) -> None:
    line, carets = excerpt(body, span, 40)
    assert len(line) <= 40
    assert "^" in carets
    assert len(carets) <= 40


def test_a_long_place_is_marked_as_far_as_it_is_shown() -> None:
    line, carets = excerpt(b"data: " + b"x" * 500, (6, 506), 70)
    assert line.endswith("x…")
    assert carets == " " * 6 + "^" * 60


# recorded text


def test_recorded_text_is_no_markup_and_no_command() -> None:
    nasty = verdict(finding(message=NASTY, where=Where(path=NASTY)), grade=Grade.WRONG, cassette=NASTY)
    for tty in (True, False):
        text = "\n".join(shown(outcome(nasty, stale=[NASTY]), tty=tty, width=2_000))
        assert "[bold red]rich[/bold red]" in text
        assert ":smile:" in text
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r", "\ud800"} & set(text)
        assert "\\x1b[31mred" in text


@pytest.mark.parametrize(
    ("text", "plain", "shown_as"),
    [
        ("a é", False, "a é"),
        ("a é", True, "a \\xe9"),
        ("\x1b\u202e\ud800", False, "\\x1b\\u202e\\ud800"),
        ("· – … →\N{NARROW NO-BREAK SPACE}", True, "- - ... -> "),
        ("", True, ""),
    ],
)
def test_what_is_harmless(text: str, plain: bool, shown_as: str) -> None:
    assert harmless(text, ascii=plain) == shown_as


# check


def checked(tmp_path: Path, body: bytes, **screen: Any) -> list[str]:
    (tmp_path / "capture.sse").write_bytes(body)
    (given_,) = inputs.load(tmp_path / "capture.sse", "openai-chat")
    seen = Screen(**screen)
    seen.terminal.checked(checking.check(given_))
    return seen.lines


def test_a_capture(tmp_path: Path) -> None:
    call = chat.head(0, "call_1", "get_tide", '{"port":"Ribe"}')
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    said = [chat.opens("Hi", reasoning_content="hm"), chat.calls(call), chat.stops("tool_calls"), chat.chunk(usage=usage)]
    body = sse(*said)
    lines = checked(tmp_path, body)
    assert lines[0] == "capture.sse · openai-chat · ok · complete"
    assert lines[-1] == (
        '  text "Hi" · reasoning "hm" · 1 tool call: get_tide({"port":"Ribe"}) · finish tool_calls · usage 3/4 tokens'
    )


def test_a_capture_of_a_turn_that_failed(tmp_path: Path) -> None:
    lines = checked(tmp_path, sse({"error": {"message": "over\nloaded [b]", "type": "server_error"}}, end=False))
    assert lines[0] == "capture.sse · openai-chat · error · incomplete"
    assert "  error server: over loaded [b]" in lines


def test_what_comes_again_and_again_is_told_three_times(tmp_path: Path) -> None:
    lines = checked(
        tmp_path, sse(*[chat.says({"role": "assistant", "content": "a"}, odd=n, even=n) for n in range(40)], chat.stops())
    )
    assert sum("field/unknown" in line and "frame" in line for line in lines) == 6
    assert "  … and 37 more of field/unknown /odd; --json has them all" in lines
    assert "  … and 37 more of field/unknown /even; --json has them all" in lines


def test_a_field_that_nobody_knows_is_compared_with_nothing(tmp_path: Path) -> None:
    lines = checked(tmp_path, sse(chat.says({"role": "assistant", "content": "a"}, stranger={"x": 1}), chat.stops()))
    assert not any("expected" in line for line in lines)
    assert any('"stranger"' in line for line in lines)
    marked = lines[next(n for n, line in enumerate(lines) if '"stranger"' in line) + 1]
    assert marked.strip() == "^" * len('"stranger"')


@pytest.mark.parametrize(
    ("value", "text"), [(ABSENT, "(absent)"), ("(absent)", '"(absent)"'), (None, "null"), ("x" * 500, '"' + "x" * 199 + "…")]
)
def test_values_are_shown_as_json(value: Any, text: str) -> None:
    lines = shown(outcome(verdict(finding(expected=value, got=1), grade=Grade.WRONG)))
    assert f"    expected {text}   got 1" in lines


def test_a_finding_of_a_rule_is_explained_once(tmp_path: Path) -> None:
    calls = [chat.head(None, f"call_{n}", "quote", "{}") for n in range(2)]
    body = sse(chat.opens(None), *map(chat.calls, calls), chat.stops("tool_calls"))
    lines = checked(tmp_path, body)
    first = lines.index(next(line for line in lines if line.startswith("  OAI-C-022")))
    assert lines[first].startswith("  OAI-C-022  must  tool/index-missing   frame 1 · bytes ")
    assert lines[first].endswith("   server or gateway")
    carets, why = lines[first + 4], lines[first + 5]
    assert lines[first + 3][carets.index("^") :].startswith('{"id":"call_0"')
    assert why.startswith(f"    {RULES['OAI-C-022'].why} Seen at: ")
    assert why.endswith("   streamproof rules OAI-C-022")
    assert sum("  OAI-C-022  must" in line for line in lines) == 2
    assert sum("streamproof rules OAI-C-022" in line for line in lines) == 1


def test_of_an_event_with_a_name_the_data_is_shown_too(tmp_path: Path) -> None:
    body = sse(chat.opens("a"), end=False) + b'event: error\ndata: {"error": {"message": "busy"}}\n\n'
    lines = checked(tmp_path, body)
    at = lines.index("      event: error")
    assert [line.strip() for line in lines[at : at + 4]] == [
        "event: error",
        "^" * 12,
        'data: {"error": {"message": "busy"}}',
        "^" * 36,
    ]


@pytest.mark.parametrize(
    ("blame", "words"),
    [
        (None, ""),
        ("nobody", ""),
        ("unknown", "   the bytes do not tell whose"),
        ("server", "   server"),
        ("network or recording", "   network or recording"),
    ],
)
def test_whose_fault_it_is(blame: str | None, words: str) -> None:
    lines = shown(outcome(verdict(finding(blame=blame), grade=Grade.WRONG)))
    assert f"  must  reference/value   frame 1 · bytes 10–12{words}" in lines


@pytest.mark.parametrize(("blame", "said"), [("server", False), ("gateway", False), ("network", True), ("recording", True)])
def test_what_is_no_fault_is_nobodys_who_sent_it(blame: str, said: bool) -> None:
    words = fault(finding(blame=blame, graded=Level.INFO))
    assert words == (blame if said else "")


def test_what_nothing_else_was_expected_for_is_only_shown(tmp_path: Path) -> None:
    lines = shown(outcome(verdict(finding(rule="OAI-C-027", expected=None, got="{"), grade=Grade.WRONG)))
    assert '    got "{"' in lines


def test_a_finding_without_a_place_has_no_excerpt() -> None:
    bare: list[Verdict] = [verdict(Finding(kind="reference/absent", message="m"), grade=Grade.WRONG)]
    assert not any("^" in line for line in shown(outcome(*bare), BODY))
