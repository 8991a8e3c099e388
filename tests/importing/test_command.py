"""`streamproof import` and `streamproof export`: what they write, what they say, and what they leave alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import cassette, cli
from harness.cassette.model import Exchange
from tests.importing.making import written
from tests.importing.served import KEY, WORDS

FIXTURES = Path(__file__).parent / "fixtures"
HAR, TRACE, FLOWS = FIXTURES / "playwright/all.har", FIXTURES / "curl/text.trace", FIXTURES / "mitmproxy/all.flows"


class Done(NamedTuple):
    status: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def streamproof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the program in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["streamproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(done.value.code or 0), captured.out, captured.err)

    return command


def files() -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def test_an_archive_becomes_cassettes(streamproof: Command) -> None:
    done = streamproof("import", HAR, "--provider", "example")
    assert done.status == 0
    assert done.out.splitlines()[0] == "cassettes/openai-chat/example/all-1.yaml  stream + twin"
    assert "cassettes/openai-chat/example/all-2.yaml  stream, wire: reconstructed" in done.out
    assert "not kept: where pieces ended, arrival times, how the response ended" in done.err
    assert "passed over: 1 × the body of the response is not in the file" in done.err
    assert [case.id for case in cassette.load("cassettes")] == [
        "bedrock-converse/example/all",
        "ollama-chat/example/all",
        *(f"openai-chat/example/all-{number}" for number in range(1, 5)),
    ]
    first = cassette.load_one("cassettes/openai-chat/example/all-1.yaml")
    assert first.stream is not None
    assert first.stream.body == WORDS


def test_json_lines(streamproof: Command) -> None:
    done = streamproof("import", TRACE, "--json", "--to", "here")
    (row,) = map(json.loads, done.out.splitlines())
    assert row == {
        "path": "here/openai-chat/127.0.0.1/text.yaml",
        "id": "openai-chat/127.0.0.1/text",
        "format": "curl-trace",
        "dialect": "openai-chat",
        "provider": "127.0.0.1",
        "model": "text",
        "stream": True,
        "reference": False,
        "wire": "original",
        "lost": [],
    }


@pytest.mark.parametrize(
    "path",
    [
        "playwright/all.har",
        "mitmproxy/all.har",
        "mitmproxy/all.flows",
        "vcrpy/all.yaml",
        "vcrpy/all.json",
        "vcrpy/all.yaml.gz",
        "curl/text.trace",
        "curl/text.trace-ascii",
        "pytest-recording/test_turn.yaml",
    ],
)
def test_no_secret_reaches_the_disk(path: str, streamproof: Command) -> None:
    assert streamproof("import", FIXTURES / path).status == 0
    found = files()
    assert found
    for name, data in found.items():
        assert KEY.encode() not in data, name
        assert b"not-a-real-cookie" not in data, name


def test_a_folder_without_cassettes(streamproof: Command) -> None:
    Path("some").mkdir()
    Path("some/a.har").write_bytes(HAR.read_bytes())
    done = streamproof("import", "some")
    assert (done.status, done.out) == (2, "")
    assert "there is no cassette and no exchange folder in it" in done.err


def test_what_is_there_is_not_written_over(streamproof: Command) -> None:
    streamproof("import", TRACE)
    path = Path("cassettes/openai-chat/127.0.0.1/text.yaml")
    path.write_text("mine")
    before = files()
    done = streamproof("import", TRACE)
    assert (done.status, files()) == (2, before)
    assert "text.yaml: is there already (--force writes over it, --to takes another folder)" in done.err
    assert streamproof("import", TRACE, "--force").status == 0
    assert path.read_text() != "mine"


def test_of_a_damaged_file_nothing_is_written(streamproof: Command) -> None:
    damaged = written(Path(), "cut.har", HAR.read_bytes()[:9000])
    done = streamproof("import", damaged)
    assert done.status == 2
    assert "is no whole HAR: the document ends too early at byte" in done.err
    assert not Path("cassettes").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_an_error_and_leaves_what_was_there(streamproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    streamproof("import", TRACE)
    before = files()

    def full(number: int) -> None:
        os.write(os.open("/dev/full", os.O_WRONLY), b"x")

    monkeypatch.setattr(os, "fsync", full)
    done = streamproof("import", TRACE, "--force")
    assert (done.status, files()) == (2, before)
    assert "cannot be written: No space left on device" in done.err


def test_import_and_export_come_back_to_the_same(streamproof: Command) -> None:
    streamproof("import", FLOWS, "--to", "one")
    assert streamproof("export", "one", "--format", "har", "--to", "two").status == 0
    archives = sorted(Path("two").rglob("*.har"))
    assert streamproof("import", *archives, "--to", "three").status == 0

    def bodies(folder: str) -> list[bytes]:
        cases = cassette.load(folder)
        return sorted(side.body for case in cases for side in (case.stream, case.reference) if isinstance(side, Exchange))

    assert bodies("three") == bodies("one")


def test_two_files_of_one_name_do_not_write_over_each_other(streamproof: Command) -> None:
    Path("b").mkdir()
    for name in ("a.trace", "b/a.trace"):
        written(Path(), name, TRACE.read_bytes())
    done = streamproof("import", "a.trace", "b/a.trace", "--force")
    assert (done.status, "is there already" in done.err) == (2, True)


def test_an_id_does_not_lead_out_of_the_folder(streamproof: Command) -> None:
    case = replace(cassette.load_one(written(Path(), "one.yaml", saved(streamproof))), id="../../out")
    cassette.save(case, "one.yaml")
    done = streamproof("import", "one.yaml", "--to", "in/side")
    assert (done.status, "is no path below a folder" in done.err) == (2, True)
    assert not Path("out.yaml").exists()


def saved(streamproof: Command) -> bytes:
    streamproof("import", TRACE, "--to", "saved")
    return Path("saved/openai-chat/127.0.0.1/text.yaml").read_bytes()


@pytest.mark.parametrize("form", ["vcrpy", "har", "raw", "pytest"])
def test_export(form: str, streamproof: Command) -> None:
    streamproof("import", TRACE)
    done = streamproof("export", "cassettes/openai-chat/127.0.0.1/text.yaml", "--format", form, "--to", "out")
    assert done.status == 0
    assert set(done.out.splitlines()) == {name for name in files() if name.startswith("out/")}
    again = streamproof("export", "cassettes/openai-chat/127.0.0.1/text.yaml", "--format", form, "--to", "out")
    assert (again.status, "is there already" in again.err) == (2, True)


def test_a_folder_is_exported_by_ids(streamproof: Command) -> None:
    streamproof("import", HAR)
    done = streamproof("export", "cassettes", "--format", "vcrpy", "--to", "out", "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert rows[0] == {"id": "bedrock-converse/127.0.0.1/all", "files": ["out/bedrock-converse/127.0.0.1/all.yaml"]}
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "nowhere.har"], "nowhere.har: cannot be read: No such file or directory"),
        (["import", TRACE, "--format", "pcap"], "no format is called 'pcap'"),
        (["import", TRACE, "--dialect", "gemeni"], "unsupported dialect 'gemeni'"),
        (["export", "nowhere", "--format", "har"], "there is no such file or folder"),
        (["export", HAR, "--format", "har"], "is no cassette"),
    ],
)
def test_what_is_refused(arguments: list[object], message: str, streamproof: Command) -> None:
    done = streamproof(*arguments)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
