"""Quirks of bodies, whatever the API."""

from __future__ import annotations

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending, Plain


class WireQuirks:
    """How many frames there are, and what stands around the document."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def end(self, ending: Ending) -> None:
        exchange = ending.case.exchange
        if exchange.request.target and exchange.content_type is None:  # of a bare capture nothing else is known either
            self._court.note("http/content-type-unknown", "the request was recorded, and the media type of what came was not")
        if ending.frames == 1 and ending.seen.body:
            self._court.note("stream/single-frame", "all that came is one frame: nothing was streamed in pieces")
        turn = ending.seen.response
        usage = turn.usage if turn is not None and turn.parts else None
        if usage is not None and (usage.input_tokens, usage.output_tokens) == (0, 0):
            self._court.note("usage/zero", "something was said, and all counts of tokens are 0")

    def plain(self, answer: Plain) -> None:
        exchange = answer.case.exchange
        if exchange.status >= 500 and exchange.request.body and exchange.request.json is None:
            message = f"the request is no JSON, and the status {exchange.status} says that it may be sent again"
            self._court.note("http/blames-server", message)
        if isinstance(answer.body, dict) and exchange.body[:1].isspace():
            self._court.note("http/leading-blanks", "white space before the document, which keeps the connection alive")
