"""Settings of a project: every option of every command may stand in pyproject.toml, the command line has the last word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from harness.cli import app
from harness.cli.settings import defaults
from harness.errors import InputError
from tests.test_cli import Command, saved, streamproof  # noqa: F401 - the fixture

COMMANDS: Any = typer.main.get_group(app)


def of(tmp_path: Path, text: str) -> dict[str, Any]:
    project = tmp_path / "pyproject.toml"
    project.write_text(text, encoding="utf-8")
    return defaults(COMMANDS, project)


def test_every_option_of_every_command_has_a_setting(tmp_path: Path) -> None:
    for name, command in COMMANDS.commands.items():
        for option in command.params:
            if option.param_type_name == "option" and "--help" not in option.opts:
                key = max(option.opts, key=len).lstrip("-")
                assert of(tmp_path, f"[tool.streamproof.{name}]\n{key} = 1\n") == {name: {option.name: 1}}


def test_the_command_line_has_the_last_word(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    case = saved()
    (tmp_path / "pyproject.toml").write_text('[tool.streamproof.run]\njson = true\nreports = "elsewhere"\n', encoding="utf-8")
    assert streamproof("run", case).lines[0]["type"] == "run"
    assert (tmp_path / "elsewhere").is_dir()
    streamproof("run", case, "--reports", "here")
    assert (tmp_path / "here").is_dir()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.streamproof.rum]\n", "no setting is called 'rum' (did you mean run?)"),
        ("[tool.streamproof.run]\nfail-onn = 1\n", "no setting is called 'fail-onn' (did you mean fail-on?)"),
        ("[tool.streamproof]\nrun = 3\n", "no setting is called 'run'"),
        ("[tool]\nstreamproof = 3\n", "must be a table"),
        ("[tool.streamproof\n", "cannot be read"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as said:
        of(tmp_path, text)
    assert words in str(said.value)
    assert "pyproject.toml" in str(said.value)


def test_a_project_without_settings(tmp_path: Path) -> None:
    assert of(tmp_path, "[project]\nname = 'tide'\n") == {}
    assert defaults(COMMANDS, tmp_path / "nowhere.toml") == {}


def test_how_grave_a_finding_must_be_to_fail(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    from harness import cassette

    case = cassette.shipped() / "openai-chat/together/text.yaml"
    told = streamproof("run", case, "--json").lines
    levels = {
        finding["level"]
        for line in told
        if line["type"] == "verdict"
        for finding in line["findings"]
        if not finding.get("known")
    }
    assert "must" not in levels
    assert streamproof("run", case).status == 0
    assert streamproof("run", case, "--fail-on", "info").status == int(bool(levels))
    assert streamproof("run", case, "--fail-on", "should").status == int("should" in levels)
