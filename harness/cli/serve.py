"""`streamproof serve` and `streamproof faults`: recordings for any client in any language, and what can go wrong with them."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console

from harness.cli.base import JSON, app, print_json
from harness.cli.selection import Selection
from harness.reporting import results
from harness.reporting.terminal import Terminal

if TYPE_CHECKING:
    from harness.serving import Entry, Server


@app.command(epilog="docs/serve.md tells of addresses, faults and the log.")
def serve(
    paths: Annotated[list[Path] | None, typer.Argument(help="Cassettes or folders of them. Default: the shipped ones.")] = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 0,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    speed: Annotated[float, typer.Option(help="So many times as fast as recorded.", min=0.001)] = 1.0,
    fast: Annotated[bool, typer.Option("--fast", help="Do not wait at all.")] = False,
    stall: Annotated[float, typer.Option(help="Seconds for which a stalled connection is held.", min=0)] = 60.0,
    tls: Annotated[bool, typer.Option("--tls", help="Speak TLS, with an authority made for this run.")] = False,
    log: Annotated[Path | None, typer.Option(help="A file to which each exchange is added as a JSON line.")] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Serve cassettes to any client in any language: /c/<cassette id>/…, with /f/<fault>/ in between for what goes wrong."""
    from harness.serving import Server
    from harness.serving.server import is_loopback

    cassettes = Selection(paths or []).cassettes
    talk = Terminal(Console(stderr=True, highlight=False))
    if not is_loopback(host):
        talk.line(f"{host} is not loopback: others can reach this server, and its log tells what was asked of it")
    told = _Told(log, as_json=as_json)
    server = Server(cassettes, host=host, port=port, speed=None if fast else speed, stall=stall, tls=tls, log=told.exchange)
    asyncio.run(_until_stopped(server, told))


@app.command(name="faults")
def list_faults(
    names: Annotated[list[str] | None, typer.Argument(help="Faults. Default: all.")] = None,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List what can go wrong with a stream, and the effect that it must have: neutral, failure or deviation."""
    from harness.replay.faults.catalogue import CATALOGUE, called

    faults = [called(name).fault for name in names] if names else list(CATALOGUE.values())
    if as_json:
        print_json(results.dumped(fault.as_dict()) for fault in faults)
        return
    terminal = Terminal(Console(highlight=False))
    width = max(len(fault.name) for fault in faults)
    for fault in faults:
        told = f"{fault.name:{width}}  {fault.effect.value:9}  {fault.what}"
        rules = ", ".join(dict.fromkeys(rule for _, rule in fault.rules))
        terminal.line(f"{told}  {rules}" if rules else told)


class _Told:
    """What is said of the server and of each exchange."""

    def __init__(self, log: Path | None, *, as_json: bool) -> None:
        self._log: TextIO | None = log.open("a", encoding="utf-8") if log is not None else None
        self._json = as_json
        self._show = Terminal(Console(highlight=False))

    def started(self, server: Server) -> None:
        count, ca = len(server.library), server.ca_file
        if self._json:
            print_json([results.dumped({"url": server.url, "cassettes": count, "ca": str(ca) if ca is not None else None})])
            return
        self._show.line(f"{server.url}  {count} cassettes")
        self._show.line(f"as a base URL: {server.url}/c/<cassette id>, with /f/<fault> after it for faults")
        if ca is not None:
            self._show.line(f"to be trusted by clients: {ca}")

    def exchange(self, entry: Entry) -> None:
        line = results.dumped(entry.as_dict())
        if self._log is not None:
            self._log.write(f"{line}\n")
            self._log.flush()
        if self._json:
            print_json([line])
            return
        what = " ".join([entry.cassette or "-", *(f"+{fault}" for fault in entry.faults)])
        sent = f"{entry.status} {entry.chunks}/{entry.of} pieces {entry.bytes} bytes {entry.seconds:.3f} s {entry.ended}"
        self._show.line("  ".join(filter(None, [entry.request.method, what, entry.side or "-", sent, entry.note])))


async def _until_stopped(server: Server, told: _Told) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with server:
        told.started(server)
        await stop.wait()
