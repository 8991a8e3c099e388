"""The walk of `openai-responses`: shows each event as what it is, and remembers what later ones are compared with."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.openai_responses.facts import ResponseFacts, spot
from harness.conformance.rules.openai_responses.item_walk import ItemsWalk, Machines
from harness.conformance.rules.openai_responses.names import ITEM_EVENTS, LIFECYCLE, RAW_REASONING, family
from harness.conformance.rules.openai_responses.numbering import Numbers
from harness.conformance.rules.openai_responses.order import DONE, LOST, RESPONSE
from harness.conformance.rules.openai_responses.sights import ErrorEvent, Event, Lifecycle, Terminal
from harness.conformance.rules.order import END
from harness.conformance.rules.sights import Ending
from harness.dialects.openai_responses.response_body import ENDS
from harness.dialects.translating import as_object, as_objects
from harness.framing import Frame

LASTING = ("created_at", "model", "instructions")
"""Fields of the response that are known when it is created, and do not change."""


class ResponsesWalk:
    """Follows one response."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = ResponseFacts(resumed="starting_after=" in court.case.exchange.request.target)
        self._machines = Machines(court)
        self._order = self._machines(RESPONSE)
        self._numbers = Numbers(self._facts.resumed)
        self._items = ItemsWalk(court, self._facts, self._machines)
        if self._facts.resumed:
            self._order.step("resumed")

    def frames(self, frames: list[Frame]) -> None:
        self._numbers.frames(frames)

    def payload(self, frame: Frame, value: Any) -> None:
        body = as_object(value)
        self._numbers.seen(frame, body)
        kind, facts = body.get("type"), self._facts
        self._machines.event = kind if isinstance(kind, str) else ""
        closed = facts.over is not None or facts.done > 0
        if not isinstance(kind, str):
            if _is_error(body, frame):
                self._order.step("error")
                self._failed(body)
            return
        event = Event(body, kind, frame, facts, self._court.case)
        error = _is_error(body, frame)
        self._order.step("error" if error else LIFECYCLE.get(kind, "event"))
        self._court.see(event)
        facts.events += 1
        if closed:
            return
        if error:
            self._failed(body)
        elif kind in LIFECYCLE:
            self._lifecycle(event)
        elif kind in ITEM_EVENTS:
            self._items.event(event)
        if (name := RAW_REASONING.get(family(kind))) is not None:
            facts.reasoning[name] = None

    def marker(self, frame: Frame) -> None:
        self._machines.event = ""
        self._order.step(DONE)
        self._facts.done += 1

    def end(self, ending: Ending) -> ResponseFacts:
        self._machines.event = ""
        if ending.case.exchange.ending == "eof":
            self._order.step(END)
        elif not self._facts.failed:  # nobody knows what would have followed an error
            self._order.step(LOST)
        self._court.see(self._numbers.end())
        self._items.end(ending)
        return self._facts

    def _failed(self, body: dict[str, Any]) -> None:
        self._facts.failed = True
        self._court.see(ErrorEvent(body["error"], "/error") if body.get("error") else ErrorEvent(body, ""))

    def _lifecycle(self, event: Event) -> None:
        word, facts = LIFECYCLE[event.kind], self._facts
        response = as_object(event.raw.get("response"))
        self._court.see(Lifecycle(response, word, event))
        if event.kind in ENDS:
            self._court.see(Terminal(response, word, event))
            facts.over, facts.over_at = word, spot(event.frame)
        for name, value in head(response).items():
            facts.head.setdefault(name, value)


def head(response: dict[str, Any]) -> dict[str, Any]:
    """What must not change between lifecycle events, as far as the response has it; of tools the types and names."""
    fields = {name: response[name] for name in ("id", *LASTING) if response.get(name) is not None}
    if isinstance(response.get("tools"), list):
        fields["tools"] = [[tool.get("type"), tool.get("name")] for tool in as_objects(response["tools"])]
    return fields


def _is_error(body: dict[str, Any], frame: Frame) -> bool:
    """An `error` event, flat or nested, or a gateway's `{"error": …}`."""
    return bool(body.get("error")) or body.get("type") == "error" or (frame.name == "error" and "type" not in body)
