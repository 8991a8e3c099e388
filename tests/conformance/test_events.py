"""The check `events`: what the loop told of a turn, against the bytes and against the twin. Each finding bites."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.adapters import Observation, Ours
from harness.cassette.model import Cassette, Exchange
from harness.conformance import native
from harness.conformance.events import end
from harness.conformance.judge import judge
from harness.conformance.verdict import Check, Grade, Verdict
from harness.findings import Level
from harness.loop.artifacts import ArtifactKind
from harness.loop.events import ArtifactEvent, Event, LifecycleEvent, Phase, TurnCompleteEvent
from harness.response import Text, Usage
from tests import chat
from tests.exchanges import cassette, completion, document, exchange, sse

TURN = (chat.text("Hello"), chat.text(" there"), chat.stops())
TWIN = completion({"content": "Hello there"})
Events = tuple[Event, ...]


@pytest.fixture(autouse=True)
def _no_vendor_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "findings", lambda dialect, body: None)


def sides(case: Cassette) -> list[Observation | None]:
    ours = Ours(loop=True)
    return [ours.observe(side, case.dialect) if side is not None else None for side in (case.stream, case.reference)]


def verdict(case: Cassette, *seen: Observation | None) -> Verdict:
    (found,) = [v for v in judge(case, *(seen or sides(case))) if v.check is Check.EVENTS]
    return found


def lied(lie: Callable[[Events], Events], side: int = 0, case: Cassette | None = None) -> Verdict:
    """The verdict of a good turn whose events were tampered with."""
    case = case or cassette(exchange(sse(*TURN)), document(TWIN))
    seen = sides(case)
    told = seen[side]
    assert told is not None
    assert told.events is not None
    seen[side] = replace(told, events=lie(told.events))
    return verdict(case, *seen)


def kinds(found: Verdict) -> list[tuple[str, str | None]]:
    return [(f.kind, f.where.path) for f in found.findings if f.level is Level.MUST]


def test_a_turn_that_was_told_as_it_is() -> None:
    found = verdict(cassette(exchange(sse(*TURN)), document(TWIN)))
    assert (found.grade, found.findings, found.events) == (Grade.PASS, (), 4)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (exchange(sse(*TURN)), "done"),
        (exchange(sse(*TURN[:1], end=False)), "error provider: truncated"),
        (exchange(sse(*TURN[:1], end=False), ending="reset"), "error provider: truncated"),
        (exchange(sse(*TURN[:1], end=False), ending="timeout"), "error provider: timeout"),
        (exchange(sse({"error": {"message": "no", "type": "server_error"}}, end=False)), "error provider: server"),
        (replace(document({"error": {"message": "slow down"}}), status=429), "error provider: rate_limited"),
        (document({"error": {"message": "no", "type": "server_error"}}), "error provider: server"),
        (exchange(b""), "error provider: truncated"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_end_is_told_as_it_was_recorded(given: Exchange, told: str) -> None:
    case = cassette(given)
    (seen, _) = sides(case)
    assert seen is not None
    assert end(seen.events or ()) == told
    assert verdict(case, seen, None).grade is Grade.PASS


def test_an_end_that_is_not_the_recorded_one() -> None:
    cut = cassette(exchange(sse(*TURN[:1], end=False)))
    found = lied(lambda events: (*events[:-1], LifecycleEvent(phase=Phase.DONE, turn=1, seq=events[-1].seq)), case=cut)
    assert ("events/end", None) in kinds(found)
    (wrong,) = [f for f in found.findings if f.kind == "events/end"]
    assert (wrong.expected, wrong.got) == ("error provider: truncated", "done")


def test_no_end_at_all() -> None:
    assert kinds(lied(lambda events: events[:-1])) == [
        ("events/sequence", "/events/7"),
        ("events/end", None),
        ("events/turn", "/end"),
    ]


def test_two_ends() -> None:
    def twice(events: Events) -> Events:
        return (*events, replace(events[-1], seq=events[-1].seq + 1))

    assert kinds(lied(twice)) == [("events/sequence", "/events/8")]


def test_a_part_that_was_told_otherwise() -> None:
    found = lied(lambda events: tuple(map(_other_text, events)))
    assert kinds(found) == [("events/folded", "/parts"), ("events/turn", "/parts/0/text")]


def _other_text(event: Event) -> Event:
    told = isinstance(event, ArtifactEvent) and event.artifact is ArtifactKind.TEXT
    return replace(event, value=Text(text="Hello then")) if told else event


def test_a_turn_that_was_kept_otherwise() -> None:
    def other(event: Event) -> Event:
        return replace(event, parts=()) if isinstance(event, TurnCompleteEvent) else event

    assert kinds(lied(lambda events: tuple(map(other, events)))) == [("events/folded", "/turn")]


def test_a_finish_reason_that_was_not_told() -> None:
    def without(events: Events) -> Events:
        kept = [e for e in events if not (isinstance(e, ArtifactEvent) and e.artifact is ArtifactKind.FINISH)]
        return tuple(replace(event, seq=number) for number, event in enumerate(kept, 1))

    assert kinds(lied(without)) == [("events/folded", "/finish"), ("events/turn", "/finish")]


def test_the_twin_is_held_to_account_as_well() -> None:
    found = lied(lambda events: events[:-1], side=1)
    assert [(f.kind, f.where.exchange) for f in found.findings if f.kind != "events/turn"] == [
        ("events/sequence", 1),
        ("events/end", 1),
    ]


def test_an_exchange_without_a_partner_has_the_check() -> None:
    assert verdict(cassette(None, document(TWIN))).grade is Grade.PASS
    assert verdict(cassette(exchange(sse(*TURN)))).grade is Grade.PASS


def test_an_adapter_without_a_loop_has_no_such_check() -> None:
    case = cassette(exchange(sse(*TURN)), document(TWIN))
    assert case.stream is not None
    seen = Ours().observe(case.stream, case.dialect)
    assert Check.EVENTS not in {v.check for v in judge(case, seen, None)}


def pair(stream: tuple[Any, ...], twin: Any, match: str = "exact", **more: Any) -> Verdict:
    return verdict(cassette(exchange(sse(*stream), **more), document(twin), match=match))


def test_turns_that_differ_are_only_information_where_the_bodies_do() -> None:
    found = pair(TURN, completion({"content": "Hello then"}))
    assert [(f.kind, f.where.path, f.level, f.expected, f.got) for f in found.findings] == [
        ("events/turn", "/parts/0/text", Level.INFO, "Hello then", "Hello there")
    ]


def test_counts_that_nobody_asked_for_are_not_missed() -> None:
    counted = {**TWIN, "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
    assert pair(TURN, counted).findings == ()


def test_turns_that_were_sampled_apart_may_say_other_things() -> None:
    assert pair(TURN, completion({"content": "Good evening"}), match="shape").findings == ()


def test_turns_that_were_sampled_apart_are_of_one_make() -> None:
    def bare(events: Events) -> Events:
        return tuple(replace(e, value=Usage()) if e.topic == "usage" else e for e in events)

    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    asked = exchange(sse(*TURN, chat.chunk(usage=usage)), request={"stream": True, "stream_options": {"include_usage": True}})
    case = cassette(asked, document({**completion({"content": "Good evening"}), "usage": usage}), match="shape")
    assert verdict(case).findings == ()
    found = lied(bare, case=case)
    assert ("events/turn", "/usage/input_tokens") in kinds(found)
    assert ("events/folded", "/usage") in kinds(found)


def test_the_loop_runs_where_an_event_loop_runs_already() -> None:
    async def inside() -> Verdict:
        return verdict(cassette(exchange(sse(*TURN)), document(TWIN)))

    assert asyncio.run(inside()).grade is Grade.PASS
