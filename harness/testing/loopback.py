"""Nobody leaves this machine while an adapter is under test: connections to other hosts are refused, and remembered.

What Python's sockets do is seen by an audit hook, whichever library uses them. A library that connects in C (uvloop, c-ares,
libcurl, gRPC) does not pass there. Proxies that the environment names are told to leave loopback alone.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOCAL = "127.0.0.1,localhost,::1"
_BYPASSES = ("NO_PROXY", "no_proxy")
_PLACES: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "socket.connect": lambda args: args[1],
    "socket.sendto": lambda args: args[1],
    "socket.sendmsg": lambda args: args[1],
    "socket.getaddrinfo": lambda args: args,
    "socket.gethostbyname": lambda args: args,
}
"""What is looked up or sent to, a tuple that begins with the host; anything else stays on the machine."""

_tried: list[str] | None = None
_listening = False


@contextmanager
def alone() -> Iterator[list[str]]:
    """The hosts that somebody tried to reach meanwhile. Not to be used twice at once."""
    global _tried, _listening  # noqa: PLW0603 - audit hooks cannot be taken out again: one for the process, switched on and off
    if not _listening:
        sys.addaudithook(_watch)
        _listening = True
    tried: list[str] = []
    _tried = tried
    kept = {name: os.environ.get(name) for name in _BYPASSES}
    try:
        for name, hosts in kept.items():
            os.environ[name] = f"{hosts},{_LOCAL}" if hosts else _LOCAL
        yield tried
    finally:
        _tried = None
        for name, hosts in kept.items():
            if hosts is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = hosts


def _watch(event: str, args: tuple[Any, ...]) -> None:
    tried = _tried
    if tried is None or event not in _PLACES:
        return
    place = _PLACES[event](args)
    host = place[0] if isinstance(place, tuple) else None
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if not host or _is_here(str(host)):
        return
    tried.append(str(host))
    raise OSError(101, f"streamproof: {host} is not on this machine")


def _is_here(host: str) -> bool:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost") or name == socket.gethostname().lower():
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
