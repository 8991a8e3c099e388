"""streamproof: proves that a streamed turn is the turn the model would have returned without streaming."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.collector import Collected, StreamCollector, aggregate_costs
    from harness.dialects import dialect
    from harness.errors import HarnessError, InputError, UnsupportedDialectError, Where
    from harness.framing import Frame, framer
    from harness.response import Response

__version__ = "0.1.0"

__all__ = [
    "Collected",
    "Frame",
    "HarnessError",
    "InputError",
    "Response",
    "StreamCollector",
    "UnsupportedDialectError",
    "Where",
    "__version__",
    "aggregate_costs",
    "dialect",
    "framer",
]

_ROOMS = {
    "harness.collector": ("Collected", "StreamCollector", "aggregate_costs"),
    "harness.dialects": ("dialect",),
    "harness.errors": ("HarnessError", "InputError", "UnsupportedDialectError", "Where"),
    "harness.framing": ("Frame", "framer"),
    "harness.response": ("Response",),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    """A room is opened by whoever asks for something in it: every pytest that has our plugin imports this package."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
