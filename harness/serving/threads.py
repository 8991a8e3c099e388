"""The server in a thread with an event loop of its own, for programs that are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.cassette.model import Cassette
from harness.serving.entry import Entry
from harness.serving.server import Server

_STARTING = 30.0  # seconds


class Served:
    """A server in another thread. Its verbs may be called from any."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.url = server.url
        self.ca_file = server.ca_file
        self.url_of = server.url_of

    def entries(self, session: str | None = None) -> list[Entry]:
        """The log (`Server.entries`)."""
        return self._server.entries(session)

    def settled(self, session: str | None = None, seconds: float = 2.0) -> list[Entry]:
        """The log, once no exchange of it runs any more, or after so many seconds: a client may be done before the server
        has seen it."""
        asyncio.run_coroutine_threadsafe(_settled(self._server, session, seconds), self._loop).result(seconds + 5)
        return self.entries(session)

    def forget(self, session: str) -> None:
        """Let go of a session (`Server.forget`)."""
        self._loop.call_soon_threadsafe(self._server.forget, session)


@contextmanager
def serving(cassettes: Iterable[Cassette], **settings: Any) -> Iterator[Served]:
    """A server with the settings of `Server`, as long as the context lasts. Raises what starting it raises."""
    server = Server(cassettes, **settings)
    started = threading.Event()
    stop: list[asyncio.Event] = []
    loops: list[asyncio.AbstractEventLoop] = []
    errors: list[BaseException] = []

    async def run() -> None:
        end = asyncio.Event()
        async with server:
            stop.append(end)
            loops.append(asyncio.get_running_loop())
            started.set()
            await end.wait()

    def body() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:  # of whoever waits for the start
            errors.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=body, name="streamproof serve", daemon=True)
    thread.start()
    started.wait(_STARTING)
    if errors or not loops:
        raise errors[0] if errors else TimeoutError("the server did not start")
    try:
        yield Served(server, loops[0])
    finally:
        loops[0].call_soon_threadsafe(stop[0].set)
        thread.join(_STARTING)


async def _settled(server: Server, session: str | None, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, 0.0
    while any(entry.ended is None for entry in server.entries(session)) and loop.time() < until:
        await asyncio.sleep(pause)  # mostly its turn has just to come
        pause = min(pause + 0.0001, 0.002)
