"""Sessions: `conformance` (the main job), `tests`, `oracle`, `lint`, `bench`, `fuzz`. Groups are read from pyproject.toml."""

from __future__ import annotations

import os

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "tests", "conformance"]

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
    session.run("pytest", "-n", workers, "-m", "not oracle", *session.posargs)


@nox.session
def oracle(session: nox.Session) -> None:
    """Law 4: the vendors' own types and clients judge the collected bodies and the authored cassettes."""
    session.install("-e", ".[oracle]", *group("tests"))
    session.run("pytest", "-n", "auto", "-m", "oracle", *session.posargs)


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
