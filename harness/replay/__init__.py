"""Playing a recorded exchange back: in process, piece by piece, without waiting or in recorded time. The verb is `play`.

`ReplayTransport` answers an httpx client, `play` yields the pieces of one exchange, a `Clock` says what a second is, and
`recut` cuts a body otherwise than it was recorded.
"""

from typing import TYPE_CHECKING, Any

from harness.replay.clock import Clock, RecordedTime, VirtualClock
from harness.replay.cuts import each, joined, randomly, recut
from harness.replay.matching import same_request
from harness.replay.play import Player, play

if TYPE_CHECKING:
    from harness.replay.transport import ReplayTransport

__all__ = [
    "Clock",
    "Player",
    "RecordedTime",
    "ReplayTransport",
    "VirtualClock",
    "each",
    "joined",
    "play",
    "randomly",
    "recut",
    "same_request",
]


def __getattr__(name: str) -> Any:
    """The transport needs httpx, which those who only want a clock or a fault need not load."""
    if name != "ReplayTransport":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.replay.transport import ReplayTransport

    return ReplayTransport
