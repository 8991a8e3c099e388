"""What others use in their CI: the action's script, run as GitHub runs it, and the hook for pre-commit."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CASES = ROOT / "cassettes" / "openai-chat" / "openai"


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def action(tmp_path: Path) -> Any:
    """Runs the script of the action; gives its status, and what it wrote to the summary, the outputs and the log."""
    program = tmp_path / "bin" / "streamproof"
    program.parent.mkdir()
    code = "from harness.cli import main; main()"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = loaded("action.yml")["runs"]["steps"][-1]["run"]

    def run(asked: str, cassettes: str = "cassettes") -> tuple[int, str, str, str]:
        files = {name: tmp_path / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        environ = {
            **{name: str(path) for name, path in files.items()},
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "ASKED": asked,
            "CASSETTES": cassettes,
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join([str(ROOT)]),
        }
        done = subprocess.run(
            ["bash", "-e", "-c", script], capture_output=True, text=True, env=environ, cwd=tmp_path, check=False
        )
        summary, outputs = (path.read_text(encoding="utf-8") if path.exists() else "" for path in files.values())
        return done.returncode, summary, outputs, done.stdout + done.stderr

    return run


def test_the_action_reports_and_passes(action: Any) -> None:
    status, summary, outputs, _ = action(str(CASES))
    assert status == 0
    assert summary.startswith("# streamproof ")
    folder = Path(outputs.removeprefix("report=").strip())
    assert (folder / "report.html").is_file()


def test_the_action_fails_with_annotations(action: Any, tmp_path: Path) -> None:
    broken = tmp_path / "cassettes" / "openai-chat" / "here"
    broken.mkdir(parents=True)
    text = (CASES / "text.yaml").read_text(encoding="utf-8")
    case = ROOT / "cassettes/openai-chat/llamacpp/tool-call.yaml"
    text = (
        case.read_text(encoding="utf-8")
        .replace('\\"Paris\\"', '\\"Pbris\\"', 1)
        .replace("openai-chat/llamacpp/tool-call", "openai-chat/here/tool-call")
    )
    (broken / "tool-call.yaml").write_text(text.replace("provider: llamacpp", "provider: here"), encoding="utf-8")
    status, summary, _, log = action("cassettes")
    assert status == 1
    assert "::error file=cassettes/openai-chat/here/tool-call.yaml,title=" in log
    assert "openai-chat/here/tool-call" in summary


def test_the_hook_finds_a_secret(tmp_path: Path) -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")
    words = hook["entry"].split()
    assert words[0] == "streamproof"
    clean = CASES / "text.yaml"
    planted = tmp_path / "planted.yaml"
    shutil.copy(clean, planted)
    key = "sk-proj-" + "a1B2c3D4" * 6
    planted.write_text(
        clean.read_text(encoding="utf-8").replace("content-type", f"x-api-key: [{key}]\n      content-type", 1),
        encoding="utf-8",
    )
    for file, status in ((clean, 0), (planted, 1)):
        code = ["-c", "from harness.cli import main; main()", *words[1:], str(file)]
        done = subprocess.run([sys.executable, *code], capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == status, done.stdout + done.stderr
