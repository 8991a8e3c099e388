"""The catalogue of faults: all that a client under test must live with, by name.

`called` reads a name as addresses and command lines have it, `applicable` says whether a fault finds something to change.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.errors import InputError
from harness.replay.faults import deviations, failures, lines, payloads, pieces
from harness.replay.faults.named import Called, NamedFault, staged
from harness.replay.faults.primitives import FaultError

CATALOGUE: dict[str, NamedFault] = {
    fault.name: fault for module in (pieces, lines, payloads, failures, deviations) for fault in module.FAULTS
}


class UnknownFaultError(InputError):
    """There is no fault of that name."""


def called(text: str) -> Called:
    """The fault that `name` or `name:argument` calls. Raises `UnknownFaultError`."""
    name, mark, argument = text.partition(":")
    fault = CATALOGUE.get(name)
    if fault is None:
        close = ", ".join(get_close_matches(name, CATALOGUE, n=3, cutoff=0.4))
        hint = f"did you mean {close}?" if close else "`streamproof faults` lists them"
        raise UnknownFaultError(f"no fault is called {name!r}", hint=hint)
    return Called(fault, argument if mark else fault.argument)


def applicable(text: str, exchange: Exchange, dialect: Dialect, *, streamed: bool = True) -> bool:
    """Whether a fault finds something to change in an exchange."""
    try:
        staged(exchange, dialect, [called(text)], streamed=streamed)
    except FaultError:
        return False
    return True


def attempts(exchange: Exchange, dialect: Dialect, texts: Iterable[str], *, streamed: bool = True) -> tuple[Exchange, ...]:
    """What the first request gets, the second one …: the last one is what all further ones get. Raises `FaultError`."""
    faults = [called(text) for text in texts]
    passing = max((fault.lasts for fault in faults), default=0)
    return tuple(staged(exchange, dialect, faults, number, streamed=streamed) for number in range(passing + 1))
