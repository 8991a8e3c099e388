"""Nobody leaves this machine while an adapter is under test: connections to other hosts are refused, and remembered."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    try:
        yield tried
    finally:
        _tried = None


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if _tried is None or event not in ("socket.connect", "socket.getaddrinfo"):
        return
    place = args[1] if event == "socket.connect" else args
    host = place[0] if isinstance(place, tuple) else None
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host in (None, "", "localhost") or _is_loopback(str(host)):
        return
    _tried.append(str(host))
    raise OSError(101, f"streamproof: {host} is not on this machine")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
