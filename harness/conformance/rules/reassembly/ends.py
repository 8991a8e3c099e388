"""Laws of how a turn ends: cut off, failed, cancelled, or in order; and of what a loop tells of it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.adapters.observation import Observation
from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.accounts import Account
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading, text_of, unchanged
from harness.conformance.rules.rule import Breach, Need, Said
from harness.inputs import Cancelling, Client
from harness.loop.artifacts import TextDelta
from harness.loop.events import ArtifactEvent, Event, LifecycleEvent, Phase
from harness.loop.sequence import faults
from harness.response import FinishReason

ENDS = Laws("REASM")
_ERRORS = "the sections on errors of wire/*.md; semantics.md D8, D11"
_MOST_FAULTS = 3


@ENDS.law(
    18,
    "a stream that is cut off gives a turn that is marked as incomplete, never one with a normal stop reason",
    kind="reader/false-end",
    source="product contract, law 6; the end conditions of wire/*.md",
    why="Half an answer is shown, stored and acted upon as if it were whole.",
    bad='finish_reason or "stop"',
    good="the turn is incomplete: no stop reason, and an error",
    seen="SDKs that have a default for the finish reason",
)
def cuts_are_no_ends(it: Reading) -> Said:
    cut: list[tuple[Observation, Account]] = []
    if (other := it.under(changes.cut_short)) is not None:
        cut.append((other, it.told_under(changes.cut_short)))
    if not it.account.ended and it.account.failed is None and it.frames:
        cut.append((it.seen, it.account))
    broken = [says for seen, account in cut if (says := _false_end(seen, account))]
    return [Breach(f"the stream is cut off, and {says}") for says in broken[:1]] or (True if cut else None)


def _false_end(seen: Observation, told: Account) -> str | None:
    if seen.complete:
        return "the turn counts as complete"
    reason = seen.response.finish_reason if seen.response is not None else None
    if seen.error is None and told.finish is None and reason in (FinishReason.STOP, FinishReason.TOOL_CALLS):
        return f"the turn ends with {reason.value!r}, which nobody sent"
    return None


@ENDS.law(
    19,
    "an error inside the stream makes the turn fail, and what had come of it is kept",
    kind="reader/error-hidden",
    source=_ERRORS,
    why="Status 200 was sent long before. A reader that goes by it takes the beginning of an answer for the answer.",
    bad="the text so far, as a success",
    good="an error, and the text so far beside it",
    needs=(Need.STREAM, Need.ERROR),
)
def errors_are_told(it: Reading) -> Said:
    failed: list[tuple[Observation, Account]] = []
    if it.account.failed is not None:
        failed.append((it.seen, it.account))
    if (other := it.under(changes.failing)) is not None:
        failed.append((other, it.told_under(changes.failing)))
    for seen, account in failed:
        if seen.error is None or seen.complete:
            return Breach("an error came inside the stream, and the turn counts as a success")
        if account.text and not text_of(seen):
            return Breach("the text that came before the error is gone", None, account.text, text_of(seen))
    return True if failed else None


@ENDS.law(
    20,
    "no other attempt is made once a delta has reached a subscriber, unless what was told can be taken back",
    kind="reader/told-twice",
    source=f"{_ERRORS}; BR-057",
    why="The subscriber sees the beginning of the answer twice.",
    bad="Oslo is Oslo is in Norway.",
    good="Oslo is, then an error; or a wait for all of the answer, and no deltas before",
    seen="loops that retry around the whole call",
    needs=(Need.STREAM, Need.ERROR),
)
def nothing_is_told_twice(it: Reading) -> Said:
    fails = it.changed(changes.failing)
    played = None if fails is None else it.played(Client(max_retries=2), fails, it.exchange, it.exchange)
    if fails is None or played is None:
        return None
    begun = it.told_under(changes.failing).text
    told = _told_text(played.events)
    again = played.requests > 1 and told.startswith(begun) and len(told) > len(_streamed(it))
    return (
        Breach("after a part of the answer was told, the whole of it is told once more", None, begun, told) if again else True
    )


@ENDS.law(
    24,
    "what comes after the terminal marker changes nothing",
    kind="reader/after-end",
    source="the end conditions of wire/*.md",
    why="Bytes after the end belong to no turn: a proxy's echo, or the beginning of something else.",
    bad="a text after message_stop is appended",
    good="the turn, as it was at its end",
)
def nothing_follows_the_end(it: Reading) -> Said:
    return unchanged(it, changes.after_the_end, "a payload after the end of the turn")


@ENDS.law(
    25,
    "pings and payloads that say nothing change nothing",
    kind="reader/ping",
    source="wire/framing.md section 1; wire/anthropic-messages.md section 2",
    why="They come whenever the model is slow, and a state that they reset loses what had come.",
    bad="an empty delta, after which the message begins anew",
    good="the turn, as it would be without them",
)
def pings_change_nothing(it: Reading) -> Said:
    return unchanged(it, changes.with_empty_payload, "a payload that says nothing")


@ENDS.law(
    33,
    "a loop tells a start, the deltas in the order in which they arrived, and one end or error",
    kind="events/sequence",
    source="semantics.md 2.3; product contract, laws 5 and 9",
    why="Whoever listens takes the first end for the last word.",
    bad="done, and the last delta after it",
    good="submitted, streaming, deltas, the turn, done",
)
def events_come_in_order(it: Reading) -> Said:
    events = it.seen.events
    if events is None:
        return None
    wrong = [Breach(f"event {fault.position}: {fault.says}") for fault in faults(events)]
    told, streamed = _told_text(events), _streamed(it)
    if not wrong and told and told != streamed:
        wrong = [Breach("the deltas were told in another order than they came, or not all of them", None, streamed, told)]
    return wrong[:_MOST_FAULTS] or True


@ENDS.law(
    36,
    "a turn that is cancelled lets go of its response at once, and ends with one `cancelled` and nothing after it",
    kind="loop/not-cancelled",
    source="BR-060; semantics.md 2.3",
    why="Tokens are paid for that nobody reads, and a turn that is over goes on talking.",
    bad="cancelled, then one more delta",
    good="cancelled, the connection is closed",
)
def cancelled_is_the_end(it: Reading) -> Said:
    played = it.played(Client(max_retries=0, cancel_after_events=Cancelling(kind="artifact")), it.exchange)
    if played is None or not any(isinstance(event, ArtifactEvent) for event in played.events):
        return None
    last, ends = played.events[-1], [event for event in played.events if event.terminal]
    if played.open:
        return Breach("the turn was cancelled, and its response is still open")
    if not (isinstance(last, LifecycleEvent) and last.phase is Phase.CANCELLED):
        return Breach(
            f"the turn was cancelled, and the last that is told of it is {last.topic!r}", None, "cancelled", last.topic
        )
    return True if len(ends) == 1 else Breach(f"the turn was cancelled, and has {len(ends)} ends")


def _told_text(events: Iterable[Event]) -> str:
    """The text that deltas told, in their order."""
    deltas = (event.value for event in events if isinstance(event, ArtifactEvent))
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def _streamed(it: Reading) -> str:
    """The fragments of all texts in the order in which they arrived."""
    said = [
        (spot.frame, text)
        for block in it.account.texts.values()
        for spot, text in zip(block.spots, block.fragments, strict=True)
    ]
    return "".join(text for _, text in sorted(said, key=lambda pair: pair[0]))
