"""What an adapter made of one stream, and whatever else it takes to judge the adapter and not the stream.

A law of readers is tried in one of two ways. Some need the bytes as they are: what the adapter told is held against the plain
account of them (`accounts`). The others need other bytes that must come to the same: the stream is changed (`changes`), read
once more by the same adapter, and both readings are held against each other. What an adapter always gets wrong is then no
breach of a law that is about something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from harness.adapters.observation import Observation
from harness.adapters.scenario import Played
from harness.api_error import ApiError, ErrorKind
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Exchange
from harness.conformance.rules.reassembly.accounts import Account, Call, account
from harness.conformance.rules.rule import Breach, Said
from harness.conformance.rules.sights import Case
from harness.dialects import Dialect
from harness.errors import HarnessError
from harness.framing import Frame, framer
from harness.inputs import Client
from harness.response import Reasoning, Refusal, Text, ToolCall


class Adapter(Protocol):
    """A system under test. One that has a loop may have a second verb, `play` (`adapters.scenario.play`)."""

    name: str

    def observe(self, exchange: Exchange, dialect: str) -> Observation: ...


Change = Callable[["Reading"], Exchange | None]
"""Makes another exchange of the one that was read; None where there is nothing to change."""


@dataclass(frozen=True)
class Reading:
    """A stream and what an adapter made of it: `seen`, and `twin` of its non-streaming twin."""

    case: Case
    adapter: Adapter
    cassette: Cassette
    seen: Observation
    twin: Observation | None = None
    _under: dict[Change, Observation | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    _changed: dict[Change, Exchange | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def exchange(self) -> Exchange:
        return self.case.exchange

    @property
    def dialect(self) -> Dialect:
        return self.case.dialect

    @cached_property
    def frames(self) -> list[Frame]:
        return self._framed(self.exchange)

    @cached_property
    def account(self) -> Account:
        return self.told(self.frames)

    def _framed(self, exchange: Exchange) -> list[Frame]:
        cut = framer(self.case.framing)
        return [*cut.feed(b"".join(chunk.data for chunk in DecodedBody(exchange))), *cut.close()]

    def told(self, frames: Sequence[Frame]) -> Account:
        """A plain account of some frames."""
        return account(frames, self.dialect.name, self.case.request)

    @property
    def works(self) -> bool:
        """Whether the adapter makes anything of the stream as it is; if not, no change can tell more about it."""
        return self.seen.response is not None

    def under(self, change: Change) -> Observation | None:
        """What the adapter makes of the exchange with a change; None where there is nothing to change, or where it makes
        nothing of it as it is."""
        if change not in self._under:
            changed = self.changed(change) if self.works else None
            self._under[change] = None if changed is None else observed(self.adapter, changed, self.dialect)
        return self._under[change]

    def changed(self, change: Change) -> Exchange | None:
        """The exchange with a change."""
        if change not in self._changed:
            self._changed[change] = change(self)
        return self._changed[change]

    def told_under(self, change: Change) -> Account:
        """A plain account of the exchange with a change."""
        exchange = self.changed(change)
        return Account() if exchange is None else self.told(self._framed(exchange))

    def played(self, client: Client, *exchanges: Exchange) -> Played | None:
        """What the adapter's loop does as this client; None if it has none."""
        play = getattr(self.adapter, "play", None)
        return None if play is None else play(exchanges, self.dialect, client)

    @cached_property
    def pairs(self) -> list[tuple[Call, ToolCall]] | None:
        """The calls of the stream, each with the one that the adapter told; None where they are not as many, or in another
        order."""
        told, seen = self.account.calls, calls_of(self.seen)
        one = [call.id or (call.name, repr(call.meant)) for call in told]
        other = [call.id if t.id else (call.name, repr(call.shown_arguments())) for t, call in zip(told, seen, strict=False)]
        moved = one != other and Counter(one) == Counter(other)
        return None if len(told) != len(seen) or moved else list(zip(told, seen, strict=True))


def observed(adapter: Adapter, exchange: Exchange, dialect: Dialect) -> Observation:
    """What an adapter makes of an exchange. One that raises has failed in a way of its own; the harness's errors are raised."""
    try:
        return adapter.observe(exchange, dialect.name)
    except HarnessError:
        raise
    except Exception as error:  # whatever a system under test throws
        told = ApiError(kind=ErrorKind.OTHER, message=f"the adapter raised {type(error).__name__}: {error}")
        return Observation(adapter=adapter.name, error=told)


def calls_of(seen: Observation) -> list[ToolCall]:
    return seen.response.tool_calls if seen.response is not None else []


def text_of(seen: Observation) -> str:
    return (seen.response.text or "") if seen.response is not None else ""


def thought_of(seen: Observation) -> str:
    return (seen.response.reasoning or "") if seen.response is not None else ""


def refusal_of(seen: Observation) -> str:
    parts = seen.response.parts if seen.response is not None else ()
    return "".join(part.text for part in parts if isinstance(part, Refusal))


def signatures_of(seen: Observation) -> list[str]:
    """Every signature and every encrypted blob that stands on a part of its own, in their order."""
    found: list[str] = []
    for part in seen.response.parts if seen.response is not None else ():
        if isinstance(part, (Text, Reasoning, ToolCall)) and part.signature:
            found.append(part.signature)
        if isinstance(part, Reasoning):
            found += [blob for blob in strings(part.encrypted) if blob]
    return found


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from strings(element)
    elif isinstance(value, dict):
        yield from strings(list(value.values()))


def said(seen: Observation) -> dict[str, Any]:
    """What an adapter told of a turn, without ids, which some APIs leave to the client."""
    response = seen.response
    usage = response.usage.as_dict() if response is not None and response.usage is not None else None
    return {
        "error": None if seen.error is None else seen.error.kind.value,
        "complete": seen.complete,
        "text": text_of(seen),
        "reasoning": thought_of(seen),
        "refusal": refusal_of(seen),
        "tool_calls": [(call.name, call.shown_arguments()) for call in calls_of(seen)],
        "finish_reason": response.raw_finish_reason if response is not None else None,
        "usage": usage,
    }


class Differing(NamedTuple):
    """One fact in which two readings differ."""

    fact: str
    one: Any
    other: Any


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> Differing | None:
    """The first fact that is not the same in both."""
    return next((Differing(name, one[name], other[name]) for name in one if one[name] != other[name]), None)


def unchanged(it: Reading, change: Change, what: str) -> Said:
    """Whether a change comes to the same turn; `what` says in words what was changed."""
    other = it.under(change)
    if other is None:
        return None
    found = differing(said(it.seen), said(other))
    return True if found is None else breach(it, found, other, f"{what} changes what is read")


def breach(it: Reading, found: Differing, other: Observation, says: str) -> Breach:
    """A breach that names the fact, and the failure where it is one."""
    failed = f" ({other.error.message})" if other.error is not None and it.seen.error is None else ""
    return Breach(f"{says}: {found.fact} is {short(found.other)}, where {short(found.one)} is due{failed}", None, *found[1:])


def short(value: Any, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
