"""A pytest fixture: `pytest_plugins = ["harness.serving.fixtures"]`, then

def test_my_client(replay_server):
    server = replay_server("cassettes/openai-chat/llamacpp/text.yaml")
    MyClient(base_url=server.url_of("openai-chat/llamacpp/text", "byte-by-byte") + "/v1")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import cassette
from harness.cassette.model import Cassette
from harness.serving.threads import Served, serving


@pytest.fixture
def replay_server() -> Iterator[Callable[..., Served]]:
    """`replay_server(cassettes, **settings)`: a server that stops with the test. `cassettes` are cassettes, or the path of a
    file or folder of them; without them the shipped ones are served."""
    with starting() as start:
        yield start


@contextmanager
def starting() -> Iterator[Callable[..., Served]]:
    """What starts servers that stop with the context."""
    with ExitStack() as stack:

        def start(cassettes: str | Path | Iterable[Cassette] | None = None, **settings: Any) -> Served:
            cases = cassette.shipped() if cassettes is None else cassettes
            loaded = cassette.load(cases) if isinstance(cases, (str, Path)) else cases
            return stack.enter_context(serving(loaded, **settings))

        yield start
