"""Rules about AWS event streams: lengths, checksums, headers."""

from __future__ import annotations

from dataclasses import dataclass

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.rule import Blame, Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level
from harness.framing import Frame

EVS = Rules("EVS", framings=["event-stream"])
GROUPS = (EVS,)
_AWS = "AWS event stream encoding; wire/framing.md section 4"
_NAMES = {"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}


@dataclass(frozen=True, slots=True)
class Message:
    """A frame whose headers are not those of the one before; `after` is the failure that came before it, if one did."""

    frame: Frame
    after: Frame | None

    @property
    def type(self) -> object:
        return (self.frame.headers or {}).get(":message-type")

    def breach(self, message: str, expected: object = None, got: object = None) -> Breach:
        return Breach(message, expected=expected, got=got, frame=self.frame.index, span=self.frame.span)


class EventStreamWalk:
    """Shows each frame whose headers are other than those of the one before, and all that come after a failure."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._last: object = None
        self._failure: Frame | None = None

    def frames(self, frames: list[Frame]) -> None:
        for frame in frames:
            if frame.headers is not self._last or self._failure is not None:
                self._last = frame.headers
                message = Message(frame, self._failure)
                self._court.see(message)
                if message.type in ("exception", "error"):
                    self._failure = frame

    def end(self, ending: Ending) -> None:
        return None


WALKS = {"event-stream": EventStreamWalk}


def _measured(number: int, says: str, kind: str, why: str, bad: str, good: str, seen: str = "–") -> None:
    """A rule that the framer measures, and names in what it reports."""
    rule = f"EVS-{number:03}"

    def check(it: Ending) -> Said:
        return it.breaches(kind, but=lambda finding: finding.rule != rule) or True

    blame = Blame.RECORDING if kind == "framing/bad-crc" else Blame.SERVER_OR_GATEWAY
    EVS.rule(number, Level.MUST, says, at=Ending, kind=kind, source=_AWS, why=why, bad=bad, good=good, seen=seen, blame=blame)(
        check
    )


_measured(
    1,
    "a frame is at least 16 bytes long, and as long as it says",
    "framing/bad-length",
    "Whoever trusts the length reads the next frame from the middle of this one.",
    "total length 15",
    "total length 16 and no payload",
)
_measured(
    2,
    "the checksum of the prelude fits its eight bytes",
    "framing/bad-crc",
    "A wrong length is noticed before it is trusted; botocore raises.",
    "one bit of the length changed",
    "the CRC-32 of bytes 0 to 7",
    "cassettes that were saved as text",
)
_measured(
    3,
    "the checksum of a message fits all bytes before it",
    "framing/bad-crc",
    "The payload is not what was sent; botocore raises.",
    "a payload that was edited, with the old checksum",
    "the CRC-32 of the whole message",
    "cassettes that were redacted by hand",
)
_measured(
    4,
    "headers are at most 131,072 bytes long, and a payload 25,165,824",
    "framing/bad-length",
    "botocore refuses longer ones.",
    "headers of 200,000 bytes",
    "headers of 90 bytes",
)
_measured(
    5,
    "no header stands twice in a frame",
    "framing/bad-header",
    "botocore raises on the second one.",
    ":event-type twice",
    ":event-type once",
)
_measured(
    6,
    "the type of a header's value is one of 0 to 9",
    "framing/bad-header",
    "The length of a value of an unknown type is not known: nothing after it can be read.",
    "type 12",
    "type 7, a text",
)


@EVS.rule(
    7,
    Level.MUST,
    "`:message-type` is event, exception or error",
    at=Message,
    kind="framing/message-type",
    source=_AWS,
    why="Clients choose by it whether a frame is data or a failure.",
    bad="no :message-type",
    good=":message-type event",
)
def message_type_is_known(it: Message) -> Said:
    if it.type in _NAMES:
        return True
    return it.breach(f"`:message-type` is {it.type!r}", expected="event, exception or error", got=it.type)


@EVS.rule(
    8,
    Level.MUST,
    "an event has `:event-type`, an exception `:exception-type`, an error `:error-code`",
    at=Message,
    kind="framing/message-type",
    source=f"{_AWS}; BOTO, the parsers",
    why="The name of the event says which shape the payload has; botocore drops a frame without it.",
    bad="an exception that has `:event-type` only",
    good=":message-type exception with :exception-type throttlingException",
)
def message_has_its_name(it: Message) -> Said:
    needed = _NAMES.get(it.type) if isinstance(it.type, str) else None
    if needed is None:
        return None
    name = (it.frame.headers or {}).get(needed)
    if isinstance(name, str) and name:
        return True
    return it.breach(f"a frame of the type {it.type} without `{needed}`", expected=needed, got=name)


@EVS.rule(
    9,
    Level.SHOULD,
    "an event says `:content-type` application/json",
    at=Message,
    kind="framing/part-type",
    source="recordings: every first-party frame",
    why="Generic readers of event streams choose a decoder by it.",
    bad="no :content-type",
    good=":content-type application/json",
)
def event_says_that_it_is_json(it: Message) -> Said:
    if it.type != "event":
        return None
    got = (it.frame.headers or {}).get(":content-type")
    return True if got == "application/json" else it.breach(f"`:content-type` is {got!r}", "application/json", got)


@EVS.rule(
    10,
    Level.MUST,
    "the body ends where a frame ends",
    at=Ending,
    kind="framing/frame-truncated",
    source=f"{_AWS}; botocore stays silent about it",
    why="What is left over is the beginning of a frame that never came: the turn is cut, and botocore reports a clean end.",
    bad="11 bytes of the next prelude + end of stream",
    good="a last frame with its checksum",
    seen="cut connections",
    blame=Blame.NETWORK,
)
def body_ends_with_a_frame(it: Ending) -> Said:
    return it.breaches("framing/frame-truncated") or True


@EVS.rule(
    12,
    Level.MUST,
    "nothing follows an exception or an error",
    at=Message,
    kind="stream/data-after-done",
    source="service model: the exception ends the stream",
    why="Clients raise at the exception; what follows it is never read.",
    bad="metadata after throttlingException",
    good="throttlingException as the last frame",
)
def nothing_after_a_failure(it: Message) -> Said:
    if it.after is None:
        return True if it.type in ("exception", "error") else None
    return it.breach(f"a frame follows the {it.after.name or 'failure'} of frame {it.after.index}")
