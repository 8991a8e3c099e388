"""What a dialect is: the verbs that a wire API is told in, and the path sets that say where its two forms differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from harness.api_error import ApiError
from harness.edits import Edit, Path
from harness.framing import Frame
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall
from harness.vocabulary import Kind


class PathSet:
    """Places of the native body, each with the evidence for its being here.

    A place is written as in `choices/*/message/audio`, where `*` stands for any element. `path in places` asks for the very
    place, `places.covers(path)` for it or anything below it.
    """

    def __init__(self, places: Mapping[str, str] | None = None) -> None:
        self.evidence = dict(places or {})

    def __contains__(self, path: Path) -> bool:
        return bool(self.evidence) and "/".join("*" if isinstance(s, int) else s for s in path) in self.evidence

    def covers(self, path: Path) -> str | None:
        """The entry that covers `path`, or None."""
        if not self.evidence:
            return None
        steps = ["*" if isinstance(step, int) else step for step in path]
        for end in range(len(steps), 0, -1):
            place = "/".join(steps[:end])
            if place in self.evidence:
                return place
        return None

    def covers_pointer(self, path: str) -> str | None:
        """The entry that covers a JSON pointer, in which `*` and numbers stand for elements."""
        steps = ["*" if step.isdigit() else step for step in path.split("/")[1:]]
        return next((p for n in range(len(steps), 0, -1) if (p := "/".join(steps[:n])) in self.evidence), None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.evidence)

    def __len__(self) -> int:
        return len(self.evidence)


class Translator(Protocol):
    """Turns the frames of one stream into edits; has the memory that this needs, for this one stream."""

    def translate(self, frame: Frame) -> list[Edit]:
        """What the frame changes. Never raises, whatever the frame holds."""

    def close(self) -> list[Edit]:
        """What is to be said at the end of the stream: notes and last values. Called once."""

    def shape_of(self, frame: Frame) -> Kind:
        """The vocabulary that a payload of this frame is checked against."""

    def missing(self) -> str | None:
        """What the API's end condition still lacks, in words; None once the turn is complete (law 6)."""


class Reader(Protocol):
    """Reads a native body, streamed or not."""

    def __call__(self, body: Any) -> Response: ...


class Dialect(Protocol):
    """One wire API."""

    name: str
    framings: tuple[str, ...]
    """How its streams are framed; the first is the usual way."""
    flushes_at_eof: bool
    """Whether clients of this API take a last event that lacks its blank line."""
    vendors: frozenset[str]
    """Providers that speak this API as their own: what they send is first-party evidence."""
    volatile: PathSet
    """Differs by nature between two answers to one request."""
    restated: PathSet
    """Differs by nature between a value and its repetition in one stream."""
    text_repeated_otherwise: str
    """The kind of finding for a text whose repetition differs from what was streamed."""
    echoed: PathSet
    """Says what the request said: not compared where the two requests differ."""
    unsent: PathSet
    """In the non-streaming body only."""
    padding: PathSet
    """In the streamed body only."""
    enumerations: PathSet
    """Fields whose values are words of the API: compared even where values may differ by sampling."""
    parts: PathSet
    """Places that hold a part of the turn: sampling decides whether they are there."""
    nullable: PathSet
    """Places that are always there, and hold a part of the turn or nothing."""
    free: PathSet
    """Places whose inside is data of the user's or the model's own: a difference of shape there may be sampling."""
    choices: frozenset[str]
    """Fields of the native body that list several answers to one request: only the first is the turn (semantics.md D17)."""
    key_header: tuple[str, str]
    """The header field of a request that carries an API key, and what stands before the key in it."""

    def not_asked(self, request: Any) -> PathSet:
        """What the stream lacks because this request did not ask for it."""

    def kind(self, path: Path, element: dict[str, Any]) -> str | None:
        """Which member of a union an object is, at `path` or in the list there; None for any other object.

        Objects of one kind have one shape. Sampling decides which kinds of a union an answer has.
        """

    def matches(self, method: str, path: str, body: Any) -> bool:
        """Whether a request with this path and JSON body is one of this API."""

    def streams(self, path: str, body: Any) -> bool:
        """Whether such a request asks for a stream."""

    def translator(self, request: Any = None) -> Translator:
        """A translator for one stream; `request` is the JSON body that asked for it, if known."""

    def carried(self, frame: Frame) -> tuple[bytes, tuple[int, int]] | None:
        """The payload that a frame's payload carries in base64, and where that stands in it; None where it carries none."""

    def read(self, body: Any) -> Response:
        """The neutral response of a native body. Never raises: what has the wrong type is absent."""

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        """The call that an element of a native body is, in the middle of a stream too: what has not come is empty. Never
        raises."""

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        """The request in the API's words. What an earlier answer of this API must bring back (signatures, encrypted
        reasoning) is sent as it came. Raises `UnsupportedRequestError` for what the API cannot be asked."""

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        """The error of a response that is no turn; `body` is its JSON value, or its text."""
