"""Making recordings without changing what the caller sees. The verb is `record`.

`RecordingTransport` and `SyncRecordingTransport` wrap the transport of an httpx client, `RecordingWire` a transport of the
loop; all tell a `Recorder`, which has the exchanges and makes cassettes of them.
"""

from typing import TYPE_CHECKING, Any

from harness.recording.recorder import Recorder, Take
from harness.recording.wire import RecordingWire

if TYPE_CHECKING:
    from harness.recording.transport import RecordingTransport, SyncRecordingTransport

__all__ = ["Recorder", "RecordingTransport", "RecordingWire", "SyncRecordingTransport", "Take"]


def __getattr__(name: str) -> Any:
    """The transports need httpx, which those who record a loop's own transport need not load."""
    if name not in ("RecordingTransport", "SyncRecordingTransport"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.recording import transport

    return getattr(transport, name)
