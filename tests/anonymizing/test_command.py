"""`streamproof anonymize`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness import cassette as cassettes
from harness import cli
from tests import chat
from tests.exchanges import cassette, exchange, sse


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    case = cassette(exchange(sse(chat.opens("Spring tide at Brest"), chat.stops())))
    cassettes.save(case, tmp_path / "own" / "case.yaml")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["streamproof", "anonymize", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_new_cassettes_lie_where_they_were_asked_for(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, recorded / "own", "--to", recorded / "new", "--json") == 0
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    new = cassettes.load_one(recorded / "new")
    assert line == {"id": new.id, "file": str(recorded / "new" / f"{new.id}.yaml")}
    assert new.provenance.kind == "anonymized"
    assert b"Brest" not in Path(line["file"]).read_bytes()


def test_a_seed_gives_the_same_again_and_none_something_new(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, seed in (("a", ["--seed", "s"]), ("b", ["--seed", "s"]), ("c", []), ("d", [])):
        assert run(monkeypatch, recorded / "own", "--to", recorded / folder, *seed) == 0
    a, b, c, d = (next((recorded / folder).rglob("*.yaml")).read_bytes() for folder in "abcd")
    assert a == b
    assert len({a, c, d}) == 3


def test_nothing_is_written_over(recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (recorded / "own", "--to", recorded / "new", "--seed", "s")
    assert run(monkeypatch, *arguments) == 0
    assert run(monkeypatch, *arguments) == 2
    assert "--force" in capsys.readouterr().err
    assert run(monkeypatch, *arguments, "--force") == 0


def test_an_id_leads_nowhere_else(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = recorded / "own" / "case.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("id: openai-chat/here/case", "id: ../../astray"), encoding="utf-8")
    assert run(monkeypatch, file, "--to", recorded / "new") == 2
