"""Shows the rules of Messages what there is to be seen in a stream, and remembers what came before."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.anthropic import order
from harness.conformance.rules.anthropic.sights import (
    BlockFacts,
    BlockStart,
    Delta,
    ErrorEvent,
    Event,
    Message,
    MessageDelta,
    MessageFacts,
    Start,
)
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.order import END
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_object
from harness.framing import Frame

_EVENTS = (order.START, order.BLOCK, order.DELTA, order.STOP, order.ENDING, order.FINAL, "ping")


class MessagesWalk:
    """The walk of `anthropic-messages`, and of those streams of `bedrock-invoke` that are Claude's."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = MessageFacts()
        self._order = court.machine(order.ORDER)
        self._blocks = court.machine(order.BLOCKS)
        self._claudes = court.case.dialect.name != "bedrock-invoke"
        self._shows = {
            order.START: self._start,
            order.BLOCK: self._block,
            order.DELTA: self._delta,
            order.STOP: self._stop,
            order.ENDING: self._ending,
            order.FINAL: self._final,
        }

    def payload(self, frame: Frame, value: Any) -> None:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # `[{"error": …}]`, of some proxies
        if not isinstance(value, dict):
            return
        told = value.get("type")
        kind = told if isinstance(told, str) else ""
        self._claudes = self._claudes or kind in _EVENTS
        if not self._claudes:
            return
        if kind:
            self._court.see(Event(kind, frame, self._court.case))
        failed = kind not in _EVENTS and (kind == "error" or bool(value.get("error")) or frame.name == "error")
        going_on = not self._facts.stopped and not self._facts.failed
        self._order.step(order.ERROR if failed else kind)
        if failed:
            self._court.see(ErrorEvent(value))
            self._facts.failed = True
        elif going_on and kind in self._shows:
            self._shows[kind](value, frame)

    def end(self, ending: Ending) -> None:
        if not self._claudes:
            return
        if "stream/empty" not in ending.kinds and (self._facts.failed or not ending.failed):
            self._order.step(END)
        self._facts.failed = self._facts.failed or ending.failed
        self._court.see(Message(ending, self._facts))

    def _start(self, event: dict[str, Any], frame: Frame) -> None:
        message = as_object(event.get("message"))
        self._court.see(Start(message))
        self._facts.usage = self._facts.usage or as_object(message.get("usage"))

    def _block(self, event: dict[str, Any], frame: Frame) -> None:
        raw, index = as_object(event.get("content_block")), event.get("index")
        kind = raw.get("type")
        cites = isinstance(raw.get("citations"), list)
        block = BlockFacts(index, kind if isinstance(kind, str) else "", frame, cites)
        self._blocks.step(order.BLOCK, "/index")
        self._court.see(BlockStart(index, raw, block, self._facts))
        self._facts.open = block
        self._facts.blocks.append(block)
        if type(index) is int:
            self._facts.by_index[index] = block

    def _delta(self, event: dict[str, Any], frame: Frame) -> None:
        named = self._named(event)
        self._blocks.step(order.STRAY if named is None or named is not self._facts.open else order.DELTA, "/index")
        delta = Delta(as_object(event.get("delta")), named)
        self._court.see(delta)
        if named is not None:
            _remember(delta.type, named)

    def _stop(self, event: dict[str, Any], frame: Frame) -> None:
        named = self._named(event)
        stray = named is None or named is not self._facts.open
        self._blocks.step(order.STRAY_STOP if stray else order.STOP, "/index")
        if not stray:
            self._facts.open = None

    def _ending(self, event: dict[str, Any], frame: Frame) -> None:
        self._blocks.step(order.ENDING)
        delta = MessageDelta(event, self._facts)
        self._court.see(delta)
        self._facts.open = None
        reason = delta.delta.get("stop_reason")
        if reason is not None:
            self._facts.stop_reason, self._facts.ending = reason, frame

    def _final(self, event: dict[str, Any], frame: Frame) -> None:
        self._blocks.step(order.FINAL)
        self._facts.stopped = True

    def _named(self, event: dict[str, Any]) -> BlockFacts | None:
        """The block that an event names."""
        index = event.get("index")
        return self._facts.by_index.get(index) if type(index) is int else None


def _remember(kind: str, block: BlockFacts) -> None:
    if kind == "signature_delta":
        block.signatures += 1
    elif kind == "thinking_delta":
        block.thought_after_signature = block.thought_after_signature or block.signatures > 0
    elif kind == "input_json_delta":
        block.fragments += 1
