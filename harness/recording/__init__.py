"""Making recordings without changing what the caller sees. The verb is `record`.

`RecordingTransport` wraps the transport of an httpx client, `RecordingWire` a transport of the loop; both tell a `Recorder`,
which has the exchanges and makes cassettes of them.
"""

from harness.recording.masking import masked
from harness.recording.recorder import Recorder, Take
from harness.recording.transport import RecordingTransport
from harness.recording.wire import RecordingWire

__all__ = ["Recorder", "RecordingTransport", "RecordingWire", "Take", "masked"]
