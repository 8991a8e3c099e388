"""Sessions: `conformance` (the main job), `tests`, `oracle`, `subjects`, `matrix`, `plugin`, `browser`,
`docs`, `lint`, `bench`, `fuzz`.

Groups are read from pyproject.toml.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "tests", "conformance"]

PUBLISHED = "reports/compatibility.jsonl"
PROJECT = nox.project.load_toml("pyproject.toml")


def group(name: str) -> list[str]:
    """The requirements of a dependency group."""
    return nox.project.dependency_groups(PROJECT, name)


@nox.session
def conformance(session: nox.Session) -> None:
    """The main job: the shipped cassettes, or the paths given."""
    session.install(".")
    session.run("streamproof", "run", *session.posargs)
    session.run("streamproof", "cassettes", "--lint")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests that need no vendor package; with the corpus where it is."""
    session.install("-e", ".", *group("tests"))
    workers = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", "auto")
    session.run("pytest", "-n", workers, "-m", "not oracle and not subjects and not browser", *session.posargs)


@nox.session
def oracle(session: nox.Session) -> None:
    """Law 4: the vendors' own types and clients judge the collected bodies and the authored cassettes."""
    session.install("-e", ".[oracle]", *group("tests"))
    session.run("pytest", "-n", "auto", "-m", "oracle", *session.posargs)


FAULTS = ("none", "byte-by-byte", "truncated", "error-in-band")
EIGHT = ("anthropic-python", "boto3", "google-genai", "litellm", "ollama-python", "openai-python", "openai-node", "ai-sdk")


@nox.session
def subjects(session: nox.Session) -> None:
    """Eight of other people's clients on a third of the cassettes: each cell as published, and known behaviour found again."""
    session.install("-e", ".", "uv", *group("tests"))
    chosen = [word for name in EIGHT for word in ("--adapter", name)] + [word for name in FAULTS for word in ("--fault", name)]
    session.run("streamproof", "run", *chosen, "--shard", "1/3", "--baseline", PUBLISHED, *session.posargs)
    session.run("pytest", "-m", "subjects", "tests/matrix")


@nox.session
def matrix(session: nox.Session) -> None:
    """The whole matrix, and from it the reports that are published. An interrupted session goes on where it stood."""
    session.install(".", "uv")
    chosen = [word for name in FAULTS for word in ("--fault", name)]
    reports = Path(session.create_tmp()) / "reports"
    session.run("streamproof", "run", "--adapter", "*", *chosen, "--reports", str(reports), success_codes=[0, 1])
    newest = max(reports.glob("20*/results.jsonl"))
    session.run("python", "-m", "tools.publish", str(newest), PUBLISHED)


@nox.session
def browser(session: nox.Session) -> None:
    """The HTML report in Debian's Chromium, with axe; screenshots go to build/screenshots."""
    session.install("-e", ".", "playwright==1.64.1", *group("tests"))
    axe = Path(session.create_tmp())
    session.run("npm", "install", "--silent", "--no-package-lock", "--prefix", str(axe), "axe-core@4.14.1", external=True)
    named = {"STREAMPROOF_AXE": str(axe / "node_modules/axe-core/axe.min.js")}
    session.run("pytest", "-s", "-m", "browser", "tests/browser", *session.posargs, env=named)


@nox.session
@nox.parametrize("pytest", ["8", "9"])
def plugin(session: nox.Session, pytest: str) -> None:
    """The pytest plugin under the versions of pytest that people have, in random order."""
    session.install("-e", ".", "trio", "pytest-asyncio", "pytest-randomly", *group("tests"), f"pytest=={pytest}.*")
    scope = "asyncio_default_fixture_loop_scope=function"  # pytest-asyncio warns where it is not told, and warnings are errors
    session.run("pytest", "-n", "auto", "-o", scope, "tests/testing", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as a site, every link followed; a warning fails."""
    session.install(*group("docs"))
    session.run("mkdocs", "build", "--strict", "--site-dir", "build/site", env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types, and the architecture."""
    session.install("-e", ".", *group("tests"), *group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Mutated streams, judged until the time is over: `nox -s fuzz -- --seconds 600`; five minutes where none is given."""
    session.install("-e", ".", *group("tests"), *group("fuzz"))
    session.run("python", "-m", "tests.fuzz", *(session.posargs or ["--seconds", "300"]))


@nox.session
def bench(session: nox.Session) -> None:
    """Speed as ratios: against the floor, against length, against the SDK's accumulator, and the cost of the import."""
    session.install(".", *group("bench"))
    session.run("python", "-m", "bench", *session.posargs)
