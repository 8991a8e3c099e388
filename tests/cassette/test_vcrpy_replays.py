"""vcrpy alone replays every shipped cassette, byte for byte; pytest-recording finds them by its own options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import vcr
from vcr.serializers import yamlserializer

from harness.cassette import load_one, shipped
from harness.cassette.model import Exchange
from harness.exporting import vcr as exporting

FOLDER = shipped()
FILES = sorted(FOLDER.rglob("*.yaml"))
CASSETTE = FOLDER / "openai-chat" / "llamacpp" / "text.yaml"
NOWHERE = "unknown.invalid"  # where it was not recorded whom was asked


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FOLDER).with_suffix("").as_posix())
def test_vcrpy_replays(file: Path) -> None:
    case = load_one(file)
    with vcr.use_cassette(str(file), record_mode="none") as tape, httpx.Client() as client:
        for exchange in (case.stream, case.reference):
            if exchange is not None:
                assert replayed(client, exchange) == (exchange.status, exchange.body)
        assert tape.all_played


def replayed(client: httpx.Client, exchange: Exchange) -> tuple[int, bytes]:
    with client.stream(exchange.request.method, url_of(exchange), content=exchange.request.body) as answer:
        return answer.status_code, b"".join(answer.iter_raw())


def url_of(exchange: Exchange) -> str:
    return f"{exchange.request.scheme}://{exchange.request.host or NOWHERE}{exchange.request.target}"


RECORDING = """
import httpx, pytest

@pytest.fixture(scope="module")
def vcr_cassette_dir():
    return {folder!r}

@pytest.mark.vcr
@pytest.mark.default_cassette({name!r})
@pytest.mark.block_network
def test_it(record_mode):
    assert record_mode == "none"
    answer = httpx.post({url!r}, content={body!r})
    assert answer.content == {expected!r}
"""


def knows_metadata() -> bool:
    """Whether pytest-recording takes what vcrpy reads: since 9.4 that is three things where a cassette has metadata, be it
    vcrpy's own, and pytest-recording up to 0.14 unpacks two."""
    loading = pytest.importorskip("pytest_recording._vcr")
    try:
        loading.CombinedPersister([]).load_cassette(str(CASSETTE), yamlserializer)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("form", ["shipped", "exported"])
def test_pytest_recording_finds_them(form: str, tmp_path: Path) -> None:
    """By its own fixture and mark; exported ones, which have no metadata, with whatever version of vcrpy."""
    if form == "shipped" and not knows_metadata():
        pytest.skip("this pytest-recording reads no cassette with metadata by this vcrpy; exported ones do")
    case, folder = load_one(CASSETTE), CASSETTE.parent
    if form == "exported":
        folder = tmp_path / "exported"
        folder.mkdir()
        (folder / CASSETTE.name).write_bytes(exporting.render(case)[CASSETTE.name])
    assert case.stream is not None
    text = RECORDING.format(
        folder=str(folder),
        name=CASSETTE.name,
        url=url_of(case.stream),
        body=case.stream.request.body,
        expected=case.stream.body,
    )
    (tmp_path / "test_recorded.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--record-mode=none", str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
