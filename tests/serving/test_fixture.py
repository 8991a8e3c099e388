"""The fixture `replay_server`, as the tests of others use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from harness.serving import Served
from tests.serving.conftest import BODY, EBB, cases
from tests.serving.speaking import ASKS

pytest_plugins = ["harness.serving.fixtures"]
CASES = Path(__file__).parents[2] / "cassettes" / "openai-chat" / "llamacpp"


def test_it_serves_cassettes(replay_server: Callable[..., Served]) -> None:
    server = replay_server(cases())
    assert httpx.post(server.url_of(EBB) + "/v1/chat/completions", json=ASKS).content == BODY


def test_it_serves_a_folder(replay_server: Callable[..., Served]) -> None:
    server = replay_server(CASES, speed=1000.0)
    assert httpx.get(server.url + "/-/health").json()["cassettes"] > 10
