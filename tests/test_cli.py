"""The command line: exit statuses, what goes to which stream, errors that say where and what to do, reports."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness import cassette, cli, suite
from harness.adapters import Ours
from harness.reporting import markdown, results
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import completion, document, exchange, sse
from tests.test_inputs import BAD_CASSETTES

ROOT = Path(__file__).parents[1]
TURN = sse(chat.opens("Hello"), chat.stops())
TWIN = completion({"content": "Hello"})
WRONG = completion({"content": "Hallo"})


class Done(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on standard output; anything else there fails."""
        return [json.loads(line) for line in self.out.split("\n")[:-1]]


Command = Callable[..., Done]


@pytest.fixture
def streamproof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the program in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["streamproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(done.value.code or 0), captured.out, captured.err)

    return command


def saved(name: str = "text", twin: Any = TWIN, body: bytes = TURN, folder: Path = Path(), **more: Any) -> Path:
    """A cassette file where its id says, below the folder."""
    case = case_of(exchange(body), document(twin), id=f"openai-chat/here/{name}", **more)
    path = folder / f"{case.id}.yaml"
    cassette.save(case, path)
    return path


def process(
    *arguments: object, folder: Path, pipe: str | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The program as a process of its own, its output piped into a shell command where one is given."""
    program = [sys.executable, "-c", "from harness.cli import main; main()", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    if pipe is not None:
        program = ["bash", "-o", "pipefail", "-c", f'"$@" | {pipe}', "bash", *program]
    return subprocess.run(program, capture_output=True, cwd=folder, env=env, check=False)


# run


def test_a_run_that_conforms(streamproof: Command, tmp_path: Path) -> None:
    done = streamproof("run", saved())
    assert (done.status, done.err) == (0, "")
    head, table, summary = done.out.splitlines()
    assert head.endswith("1 cassettes · 1 dialects · adapter ours")
    assert table.split() == ["openai-chat", "1", "✔", "1", "pass"]
    assert summary.startswith("1 conform · 0 known deviations · ")
    (folder,) = (tmp_path / "reports").iterdir()
    assert summary.endswith(f"reports/{folder.name}/")
    assert sorted(file.name for file in folder.iterdir()) == ["report.html", "report.md", "results.jsonl"]
    assert len(list(results.read(folder / "results.jsonl"))) == 7
    assert (folder / "report.md").read_text().startswith("# streamproof ")


def test_the_shipped_cassettes_conform(streamproof: Command) -> None:
    done = streamproof("run", "--json", "--reports", "elsewhere")
    assert (done.status, done.err) == (0, "")
    assert done.lines[0]["selection"] == ["shipped cassettes"]
    assert done.lines[-1]["cassettes"] == len(list(cassette.load(cassette.shipped()))) >= 150
    (folder,) = Path("elsewhere").iterdir()
    assert (folder / "results.jsonl").read_text(encoding="utf-8") == done.out


def test_a_run_that_finds_something(streamproof: Command) -> None:
    path = saved(twin=WRONG)
    done = streamproof("run", path, "--json")
    assert (done.status, done.err) == (1, "")
    assert [line["type"] for line in done.lines] == ["run", *["verdict"] * 5, "summary"]
    assert done.lines[-1]["grades"] == {"pass": 4, "wrong": 1}
    done = streamproof("run", path)
    assert done.status == 1
    assert f"  again: streamproof run {path}" in done.out.splitlines()


@pytest.mark.parametrize("selection", ["file", "folder", "above"])
def test_the_command_that_shows_it_again_does(selection: str, streamproof: Command) -> None:
    folder = Path("my cassettes")
    path = saved(twin=WRONG, folder=folder)
    chosen = {"file": path, "folder": path.parent, "above": folder}[selection]
    first = streamproof("run", chosen)
    (again,) = [line.partition("again: streamproof ")[2] for line in first.out.splitlines() if "again:" in line]
    second = streamproof(*shlex.split(again))
    assert second.status == 1
    assert "✘ openai-chat/here/text · reference · wrong" in second.out


def test_two_cassettes_of_one_name_are_not_mixed_up(streamproof: Command) -> None:
    right, wrong = saved(folder=Path("a")), saved(twin=WRONG, folder=Path("b"))
    for paths in ((right, wrong), (wrong, right)):
        done = streamproof("run", *paths)
        assert done.status == 1
        assert f"again: streamproof run {paths[0]} {paths[1]}" in done.out
        assert "^" not in done.out, "whose bytes they are nobody knows"
    assert streamproof("run", right, right, "--json").lines[-1]["cassettes"] == 1


def test_a_fault_of_ours_has_a_status_of_its_own(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    path = saved()
    with monkeypatch.context() as patch:
        patch.setattr(Ours, "observe", fail)
        done = streamproof("run", path)
        assert done.status == 3
        assert "RuntimeError: oops; please report it" in done.out
    monkeypatch.setattr(markdown, "render", fail)
    done = streamproof("run", path, "--reports", "other")
    assert (done.status, done.out) == (3, "")
    hint = "(run again with --debug before the command, and report it)"
    assert done.err == f"streamproof: streamproof itself failed: RuntimeError: oops {hint}\n"
    assert not Path("other").exists(), "whole or not at all"


def test_the_same_second_may_see_several_runs(streamproof: Command) -> None:
    path = saved()
    for _ in range(3):
        assert streamproof("run", path, "--reports", "r").status == 0
    assert len(list(Path("r").iterdir())) == 3


def test_a_run_by_what_is_wanted(streamproof: Command) -> None:
    path = saved(twin=WRONG)
    (path.parent / "known.toml").write_text('[[known]]\nrule = "OAI-C-001"\nreason = "r"\nevidence = "e"\n')
    assert streamproof("run", path.parent).status == 1
    done = streamproof("run", path.parent, "--ignore", "reference", "--json")
    assert done.status == 0, "and of an entry that explains nothing nobody knows whether it is stale"
    assert done.lines[0]["selection"] == [str(path.parent), "--ignore reference"]
    done = streamproof("run", path.parent, "--select", "reference/value")
    assert done.status == 1
    (again,) = [line.partition("again: streamproof ")[2] for line in done.out.splitlines() if "again:" in line]
    assert again.endswith("--select reference/value")
    assert streamproof(*shlex.split(again)).status == 1
    assert streamproof("run", path.parent, "--select", "SSE").status == 0


# usage and unreadable input


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--nope"), "No such option: --nope"),
        (("run", "--reports"), "requires an argument"),
        (("bogus",), "No such command"),
        (("check",), "Missing argument"),
        (("check", "--dialect"), "requires an argument"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], says: str, streamproof: Command) -> None:
    done = streamproof(*arguments)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err


def test_help(streamproof: Command) -> None:
    assert streamproof("--help").status == 0
    for command in ("run", "check", "cassettes"):
        done = streamproof(command, "--help")
        assert (done.status, done.err) == (0, "")
        assert "--json" in done.out
    assert streamproof().status == 2


def is_one_error(done: Done, *says: str) -> None:
    """One line on standard error that names the place and ends in a hint; nothing else anywhere."""
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("streamproof: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith(")\n")
    assert all(word in done.err for word in says), done.err
    assert not Path("reports").exists()


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("what", BAD_CASSETTES)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_damaged_cassette(what: str, command: str, options: tuple[str, ...], streamproof: Command) -> None:
    text, says = BAD_CASSETTES[what]
    Path("case.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    is_one_error(streamproof(command, *options, "case.yaml"), "case.yaml", says)


@pytest.mark.parametrize("command", ["run", "check", "cassettes"])
def test_a_path_that_is_not_there(command: str, streamproof: Command) -> None:
    is_one_error(streamproof(command, "nowhere"), "nowhere: ")


@pytest.mark.parametrize("command", ["run", "check", "cassettes"])
def test_a_folder_without_cassettes(command: str, streamproof: Command) -> None:
    Path("empty").mkdir()
    is_one_error(streamproof(command, "empty"), "empty: ")


def test_a_dialect_that_nobody_knows(streamproof: Command) -> None:
    Path("a.sse").write_bytes(TURN)
    is_one_error(streamproof("check", "a.sse", "--dialect", "openai-chatt"), "openai-chatt", "did you mean 'openai-chat'?")
    done = streamproof("check", "a.sse", "--dialect", "zzz")
    assert (done.status, done.out) == (2, "")
    assert "supported are openai-chat, openai-responses, gemini, bedrock-converse" in done.err


def test_a_dialect_that_nobody_knows_in_a_cassette(streamproof: Command) -> None:
    path = saved()
    path.write_text(path.read_text().replace("dialect: openai-chat", "dialect: openai-chatt"))
    is_one_error(streamproof("run", path), str(path), "/metadata/streamproof/dialect", "openai-chatt")


def test_an_adapter_that_nobody_knows(streamproof: Command) -> None:
    is_one_error(streamproof("run", "--adapter", "theirs", saved()), "'theirs'", "(`streamproof adapters` lists them;")
    assert streamproof("run", "--adapter", "ours", saved()).status == 0


def test_a_traceback_is_for_those_who_ask(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done = streamproof("--debug", "run", "nowhere")
    assert (done.status, done.out) == (2, "")
    assert "Traceback" in done.err
    assert "CassetteError: nowhere: there is no such file or folder" in done.err
    monkeypatch.setattr(markdown, "render", lambda *_, **__: 1 / 0)
    done = streamproof("--debug", "run", saved())
    assert done.status == 3
    assert "ZeroDivisionError" in done.err


def test_names_of_files_are_only_text(streamproof: Command) -> None:
    done = streamproof("run", "no\nwhere\x1b[31m[bold]")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "no\\nwhere\\x1b[31m[bold]" in done.err


# reports


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_reports_folder_that_cannot_be(place: str, streamproof: Command) -> None:
    Path("file").write_text("mine")
    done = streamproof("run", "--reports", place, saved())
    is_one_error(done, "file", "the report cannot be written", "choose another folder with --reports")
    assert Path("file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_reports_folder_that_is_read_only(streamproof: Command) -> None:
    Path("locked").mkdir(mode=0o500)
    is_one_error(streamproof("run", "--reports", "locked", saved()), "the report cannot be written: Permission denied")


def test_it_is_told_before_the_work(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").touch()
    monkeypatch.setattr(suite, "run", lambda *_, **__: pytest.fail("nothing can be written"))
    assert streamproof("run", "--reports", "file", saved()).status == 2


# known deviations

ENTRY = '[[known]]\nrule = "reference/value"\nreason = "sampled apart"\nevidence = "text"\n'


def test_known_deviations_beside_the_cassettes(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(twin=WRONG)
    (path.parent / "known.toml").write_text(ENTRY + 'cassettes = ["te*"]\npath = "/choices/*/message/content"\n')
    for selected in (path, path.parent, path.parent.parent, Path("openai-chat")):
        done = streamproof("run", selected, "--json")
        assert done.status == 0
        (known,) = [line for line in done.lines if line.get("known") and line["type"] == "verdict"]
        assert (known["known"], known["grade"]) == ("sampled apart", "wrong")
        assert done.lines[-1]["known"] == 1
    monkeypatch.chdir(path.parent)
    for selected in (".", "text.yaml", "../here"):
        assert streamproof("run", selected, "--reports", "/dev/null/x").status == 2
        assert streamproof("run", selected).status == 0


def test_an_entry_that_explains_nothing_fails_the_run(streamproof: Command) -> None:
    path = saved()
    (path.parent / "known.toml").write_text(ENTRY)
    done = streamproof("run", path.parent)
    assert done.status == 1
    assert (
        "known deviation is stale · openai-chat/here/known.toml entry 1: reference/value explains nothing any more" in done.out
    )
    assert "1 conform · 0 known deviations · 1 stale" in done.out
    (report,) = Path("reports").glob("*/report.md")
    assert "- stale: openai-chat/here/known.toml entry 1" in report.read_text()
    assert streamproof("run", path).status == 0, "of one file it cannot be told"


def test_an_entry_whose_day_has_come_fails_the_run(streamproof: Command) -> None:
    path = saved(twin=WRONG)
    (path.parent / "known.toml").write_text(ENTRY + "until = 2020-01-01\n")
    assert streamproof("run", path).status == 1
    (path.parent / "known.toml").write_text(ENTRY + "until = 2999-01-01\n")
    assert streamproof("run", path).status == 0


def test_a_file_of_known_deviations(streamproof: Command) -> None:
    path = saved(twin=WRONG)
    Path("mine.toml").write_text(ENTRY)
    Path("more.toml").write_text(ENTRY.replace("value", "extra"))
    assert streamproof("run", path, "--known", "mine.toml").status == 0
    assert streamproof("run", path, "--known", "more.toml").status == 1
    assert streamproof("run", path, "--known", "more.toml", "--known", "mine.toml").status == 0
    done = streamproof("run", "openai-chat", "--known", "more.toml", "--known", "mine.toml")
    assert done.status == 1
    assert "more.toml entry 1: reference/extra explains nothing any more" in done.out


def test_known_deviations_of_the_project(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(twin=WRONG)
    Path("tests").mkdir()
    Path("tests/known.toml").write_text(ENTRY)
    Path("pyproject.toml").write_text('[tool.streamproof]\nknown = ["tests/known.toml"]\n')
    assert streamproof("run", path).status == 0
    monkeypatch.chdir("tests")
    assert streamproof("run", f"../{path}").status == 1, "it is the project of the folder one stands in"


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.other]\nx = 1\n", "[tool.streamproof]\n", 'tool = "x"\n'])
def test_a_project_that_says_nothing_of_it(text: str, streamproof: Command) -> None:
    Path("pyproject.toml").write_text(text)
    assert streamproof("run", saved()).status == 0


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[tool\n", "pyproject.toml: "),
        ("[tool.streamproof]\nknown = 1\n", "pyproject.toml [tool.streamproof]: "),
        ("[tool.streamproof]\nknown = [1]\n", "pyproject.toml [tool.streamproof]: "),
        ('[tool.streamproof]\nknown = ["nowhere.toml"]\n', "nowhere.toml: "),
        ('[tool.streamproof]\nknown = ["bad.toml"]\n', "bad.toml known entry 1 reason: "),
    ],
)
def test_a_project_that_cannot_be_read(text: str, place: str, streamproof: Command) -> None:
    Path("pyproject.toml").write_text(text)
    Path("bad.toml").write_text('[[known]]\nrule = "x"\nevidence = "e"\n')
    is_one_error(streamproof("run", saved()), place)


# check


def test_check_says_what_a_capture_comes_to(streamproof: Command) -> None:
    Path("a.sse").write_bytes(TURN)
    Path("b.sse").write_bytes(TURN.replace(b"data: [DONE]\n\n", b""))
    assert streamproof("check", "a.sse").status == 0
    done = streamproof("check", "a.sse", "b.sse", "--json")
    assert (done.status, done.err) == (1, "")
    assert [(line["input"], line["outcome"]) for line in done.lines] == [("a.sse", "ok"), ("b.sse", "violation")]
    assert list(done.lines[0]) == ["input", "dialect", "outcome", "complete", "response", "error", "findings"]
    assert done.lines[0]["response"]["text"] == "Hello"
    assert [f["rule"] for f in done.lines[1]["findings"] if f["level"] == "must"] == ["OAI-C-001"]
    assert not Path("reports").exists()


ODD = sse(
    chat.opens(None), chat.calls(chat.head(None, "call_1", "quote", "{}")), chat.stops("tool_calls"), {"odd": 1}, end=False
)


def rules_in(done: Done) -> set[str | None]:
    return {finding["rule"] for line in done.lines for finding in line["findings"]}


def test_check_tells_of_what_is_wanted(streamproof: Command) -> None:
    Path("a.sse").write_bytes(ODD)
    every = rules_in(streamproof("check", "a.sse", "--json"))
    assert {"OAI-C-001", "OAI-C-022", "OAI-C-003", None} <= every
    assert rules_in(streamproof("check", "a.sse", "--json", "--select", "OAI-C-001,tool")) >= {"OAI-C-001", "OAI-C-022"}
    assert rules_in(streamproof("check", "a.sse", "--json", "--select", "SSE")) == set()
    assert "OAI-C-022" not in rules_in(streamproof("check", "a.sse", "--json", "--ignore", "tool", "--ignore", "OAI-C-001"))
    assert rules_in(streamproof("check", "a.sse", "--json", "--select", "OAI-C", "--ignore", "OAI-C")) == set()


def test_check_goes_by_what_is_wanted(streamproof: Command) -> None:
    Path("a.sse").write_bytes(ODD)
    for options, status in (
        ((), 1),
        (("--select", "SSE"), 0),
        (("--select", "OAI-C-022"), 1),
        (("--ignore", "OAI-C"), 0),
        (("--level", "must"), 1),
    ):
        done = streamproof("check", "a.sse", "--json", *options)
        assert (done.status, done.lines[0]["outcome"]) == (status, "violation" if status else "ok")


def test_check_tells_of_what_is_grave_enough(streamproof: Command) -> None:
    Path("a.sse").write_bytes(ODD)
    told = {
        level: {f["level"] for f in streamproof("check", "a.sse", "--json", "--level", level).lines[0]["findings"]}
        for level in ("must", "should", "info")
    }
    assert told["must"] == {"must"}
    assert told["should"] <= {"must", "should"}
    assert "info" in told["info"]
    done = streamproof("check", "a.sse", "--level", "grave")
    assert (done.status, done.out) == (2, "")


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_rule_that_nobody_knows(command: str, option: str, streamproof: Command) -> None:
    path = saved()
    is_one_error(streamproof(command, path, option, "OAI-C-222"), "no rule is called 'OAI-C-222'", "did you mean OAI-C-")


def test_findings_of_check_say_whose_fault_they_are_and_come_by_place(streamproof: Command) -> None:
    Path("a.sse").write_bytes(ODD)
    (line,) = streamproof("check", "a.sse", "--json").lines
    assert all(finding["blame"] for finding in line["findings"])
    spans = [finding["where"]["span"] for finding in line["findings"] if "span" in finding["where"]]
    assert spans == sorted(spans)


def test_check_of_a_folder_has_a_line_for_each(streamproof: Command) -> None:
    saved("one")
    saved("two", body=TURN[:-20])
    done = streamproof("check", "openai-chat", "--json")
    assert done.status == 1
    assert [line["input"] for line in done.lines] == ["openai-chat/here/one", "openai-chat/here/two"]


def test_what_can_be_read_before_what_cannot_is_told(streamproof: Command) -> None:
    Path("a.sse").write_bytes(TURN)
    done = streamproof("check", "a.sse", "nowhere", "--json")
    assert done.status == 2
    assert [line["input"] for line in done.lines] == ["a.sse"]
    assert done.err.startswith("streamproof: nowhere: ")


# cassettes


def test_the_list_of_cassettes(streamproof: Command) -> None:
    saved("one", model="tide-1")
    cassette.save(case_of(None, document(TWIN), id="openai-chat/here/two", match="shape"), "openai-chat/here/two.yaml")
    assert streamproof("cassettes", "openai-chat").out.splitlines() == [
        "openai-chat/here/one  tide-1  stream + twin  exact  recorded",
        "openai-chat/here/two  -  plain  shape  recorded",
    ]
    rows = streamproof("cassettes", "openai-chat", "--json").lines
    assert rows[1] == {
        "id": "openai-chat/here/two",
        "dialect": "openai-chat",
        "provider": "here",
        "model": None,
        "stream": False,
        "reference": True,
        "match": "shape",
        "provenance": "recorded",
        "recorded": None,
        "features": [],
        "quirks": [],
    }
    assert len(streamproof("cassettes").out.splitlines()) >= 150


# as a process


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    for arguments in (("cassettes",), ("run", "--json"), ("cassettes", "--json")):
        done = process(*arguments, folder=tmp_path, pipe="head -n 1")
        assert done.stdout.count(b"\n") == 1
        assert done.stderr == b""


def test_json_is_utf_8_whatever_the_terminal_speaks(tmp_path: Path) -> None:
    (tmp_path / "é.sse").write_bytes(sse(chat.opens("é漢🌊"), chat.stops()))
    done = process("check", "é.sse", "--json", folder=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["response"]["text"] == "é漢🌊"
    done = process("check", "é.sse", folder=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"\\xe9.sse - openai-chat (detected) - ok - complete\n")


def test_nothing_but_results_is_written_where_no_terminal_is(tmp_path: Path) -> None:
    """More cassettes than a progress bar is for."""
    for n in range(cli.base.LONG + 1):
        saved(f"c{n}", folder=tmp_path)
    done = process("run", "openai-chat", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert done.stdout.count(b"\n") == 3


def test_statuses_reach_the_shell(tmp_path: Path) -> None:
    saved(twin=WRONG, folder=tmp_path)
    assert process("run", "openai-chat", folder=tmp_path).returncode == 1
    done = process("run", "nowhere", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_the_import_is_light(tmp_path: Path) -> None:
    """Neither vendors' packages nor what only some commands need."""
    heavy = [
        "openai",
        "anthropic",
        "google.genai",
        "boto3",
        "botocore",
        "ollama",
        "vcr",
        "deepdiff",
        "httpx",
        "rich",
        "typer",
        "yaml",
    ]
    program = f"import sys, harness; print([name for name in {heavy!r} if name in sys.modules])"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=tmp_path, env=env, check=True)
    assert done.stdout.strip() == b"[]"


def test_judging_needs_no_network() -> None:
    """Nor what prints: `httpx` costs more to load than all of the catalogue."""
    program = "import sys, harness.checking, harness.suite; print([n for n in ('httpx', 'rich', 'typer') if n in sys.modules])"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=env, check=True)
    assert done.stdout.strip() == b"[]"
