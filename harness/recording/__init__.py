"""Making recordings without changing what the caller sees. The verb is `record`.

`RecordingTransport` and `SyncRecordingTransport` wrap the transport of an httpx client, `RecordingWire` a transport of the
loop; all tell a `Recorder`, which has the exchanges and makes cassettes of them.
"""

from harness.recording.recorder import Recorder, Take
from harness.recording.transport import RecordingTransport, SyncRecordingTransport
from harness.recording.wire import RecordingWire

__all__ = ["Recorder", "RecordingTransport", "RecordingWire", "SyncRecordingTransport", "Take"]
