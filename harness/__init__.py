"""streamproof: proves that a streamed turn is the turn the model would have returned without streaming."""

from __future__ import annotations

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
