"""What is installed is what was tested: a wheel, in an environment of its own, in a folder where nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import __version__, cassette
from harness.conformance.known import FILE
from harness.reporting import results

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.packaging


def _environment() -> dict[str, str]:
    """Nothing that would let the checkout be found."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def _run(*command: object, folder: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _installed(folder: Path) -> Path:
    """The folder of programs of an environment into which the wheel and what it depends on were installed."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    _run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", ROOT, folder=folder)
    (wheel,) = (folder / "dist").glob("streamproof-*.whl")
    _run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    _run(programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel, folder=folder)
    return programs


def test_what_is_installed_is_what_was_tested(tmp_path: Path) -> None:
    """One test, so that one worker builds and installs once."""
    scripts = _installed(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    _its_cassettes_are_inside(scripts, empty)
    _its_subjects_are_inside(scripts, empty)
    _it_says_what_it_is(scripts, empty)
    _it_runs_on_its_own_cassettes(scripts, empty)


def _it_runs_on_its_own_cassettes(scripts: Path, empty: Path) -> None:
    shown = _run(scripts / "streamproof", "run", folder=empty)
    (folder,) = (empty / "reports").iterdir()
    assert shown.splitlines()[-1].endswith(f"reports/{folder.name}/")
    lines = list(results.read(folder / "results.jsonl"))
    run, summary = lines[0], lines[-1]
    assert isinstance(run, results.RunLine)
    assert isinstance(summary, results.SummaryLine)
    assert (run.streamproof, run.adapters) == (__version__, {"ours": __version__})
    assert summary.cassettes == len(list(cassette.load(cassette.shipped())))
    assert [p.name for p in empty.iterdir()] == ["reports"]


def _its_cassettes_are_inside(scripts: Path, empty: Path) -> None:
    program = "import harness; from harness.cassette import shipped; print(harness.__file__); print(shipped())"
    package, folder = map(Path, _run(scripts / "python", "-c", program, folder=empty).splitlines())
    assert ROOT not in package.parents
    assert folder == package.parent / "_cassettes"
    there = _held(folder)
    assert there == _held(ROOT / "cassettes")
    assert any(name.endswith(FILE) for name in there)


def _its_subjects_are_inside(scripts: Path, empty: Path) -> None:
    """With what they share, what is pinned for them, and the templates; and one that needs no more than that runs."""
    said = "subjects.folder(), protocol.TEMPLATES, protocol.SCHEMA"
    program = f"from harness.adapters import protocol, subjects; print({said}, sep='\\n')"
    folder, templates, schema = map(Path, _run(scripts / "python", "-c", program, folder=empty).splitlines())
    assert not any(ROOT in path.parents for path in (folder, templates, schema))
    assert _held(folder) == _held(ROOT / "subjects")
    assert _held(templates) == _held(ROOT / "harness" / "adapters" / "protocol" / "templates")
    assert schema.is_file()
    one = ROOT / "cassettes" / "gemini" / "google" / "text.yaml"
    asked = ("run", one, "--adapter", "ours", "--fault", "none", "--reports", empty.parent / "other")
    shown = _run(scripts / "streamproof", *asked, folder=empty)
    assert "1 of 1 pass" in shown


def _held(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def _it_says_what_it_is(scripts: Path, empty: Path) -> None:
    assert (
        _run(scripts / "python", "-c", "import importlib.metadata as m; print(m.version('streamproof'))", folder=empty).strip()
        == __version__
    )
    assert "run" in _run(scripts / "streamproof", "--help", folder=empty)
    missing = "import importlib.resources as r; print((r.files('harness.conformance') / 'native_baseline.json').is_file())"
    assert _run(scripts / "python", "-c", missing, folder=empty).strip() == "True"
