"""Shows the rules of Bedrock what there is to be seen in a stream of either API, and remembers what came before."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.bedrock import order
from harness.conformance.rules.bedrock.sights import (
    BlockFacts,
    Chunk,
    Closing,
    ConverseFacts,
    Delta,
    Event,
    Failure,
    Packing,
    Start,
    Stop,
)
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.order import END
from harness.conformance.rules.sights import Ending
from harness.dialects.aws import failed
from harness.dialects.translating import as_object
from harness.framing import Frame

EVENTS = ("messageStart", order.START, order.DELTA, order.STOP, "messageStop", "metadata")
METRICS = "amazon-bedrock-invocationMetrics"
_SIGHTS: dict[str, type[Start | Delta | Stop]] = {order.START: Start, order.DELTA: Delta, order.STOP: Stop}


class ConverseWalk:
    """The walk of `bedrock-converse`."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = ConverseFacts()
        self._order = court.machine(order.ORDER)
        self._stopped = court.machine(order.BLOCK_ORDER)  # for all blocks that have stopped
        self._stopped.state = order.BLOCK_STOPPED

    def payload(self, frame: Frame, value: Any) -> None:
        if failed(frame):
            self._failure(Failure(frame, as_object(value), self._court.case, name=frame.name))
        elif isinstance(value, dict) and frame.name in EVENTS:
            wrapping = next((name for name in EVENTS if value.keys() - {"p"} == {name}), None)
            raw = value if wrapping is None else as_object(value[wrapping])
            path = "" if wrapping is None else f"/{wrapping}"
            self._event(Event(frame.name, raw, path, frame, self._facts, self._court.case, wrapped=wrapping is not None))
            self._facts.padded = self._facts.padded or "p" in value

    def end(self, ending: Ending) -> None:
        if "stream/empty" not in ending.kinds:
            self._order.step(END)
        self._court.see(Closing(ending, self._facts))

    def _failure(self, failure: Failure) -> None:
        self._court.see(failure)
        self._order.step(order.FAILURE)

    def _event(self, event: Event) -> None:
        self._court.see(event)
        sight = _SIGHTS.get(event.name)
        self._order.step(event.name if sight is None else order.BLOCK, event.path)
        if sight is not None:
            self._of_block(sight, event)
        elif event.name == order.MESSAGE_STOP:
            for block in self._facts.open.values():
                block.order.step(order.MESSAGE_STOP)
            if self._facts.any_stopped:
                self._stopped.step(order.MESSAGE_STOP)

    def _of_block(self, sight: type[Start | Delta | Stop], event: Event) -> None:
        """Events without an index belong to the block that was last spoken of, as the collector has it."""
        facts = self._facts
        index = _index(event.raw.get("contentBlockIndex"))
        if index is None:
            index = facts.next if facts.last is None or sight is Start else facts.last
        block = facts.open.get(index)
        opens = block is None and not facts.has_stopped(index)
        if block is None:
            block = BlockFacts(index, self._court.machine(order.BLOCK_ORDER) if opens else self._stopped)
        it = sight(event, block, opens)
        self._court.see(it)
        block.order.step(event.name, f"{event.path}/contentBlockIndex")
        _remember(it, facts)


class InvokeWalk(ConverseWalk):
    """The walk of `bedrock-invoke`: what chunks carry, and the events of Nova, which are those of Converse.

    What other vendors sent is for rules of theirs: their walks see the same payloads (`InvokeTranslator`), with Bedrock's own
    fields in them.
    """

    def __init__(self, court: Court) -> None:
        super().__init__(court)
        self._nova: bool | None = None
        self._measured: int | None = None

    def payload(self, frame: Frame, value: Any) -> None:
        if failed(frame):
            super().payload(frame, value)
        elif frame.name is not None:
            self._court.see(Packing(frame))
        else:
            self._court.see(Chunk(value, frame))
            self._carried(frame, as_object(value))

    def end(self, ending: Ending) -> None:
        if self._nova:
            self._order.step(END)
        self._court.see(Closing(ending, self._facts if self._nova else None, self._measured))

    def _carried(self, frame: Frame, value: dict[str, Any]) -> None:
        if METRICS in value:
            self._measured = frame.index
        if self._nova is None:
            self._nova = not isinstance(value.get("type"), str) and any(name in value for name in EVENTS)
        if not self._nova:
            return
        for name, event in value.items():
            path = f"/{name}"
            if name in EVENTS:
                self._event(Event(name, as_object(event), path, frame, self._facts, self._court.case, nova=True))
            elif name.endswith("Exception"):
                self._failure(Failure(frame, as_object(event), self._court.case, path, name))


def _remember(it: Start | Delta | Stop, facts: ConverseFacts) -> None:
    block = it.block
    facts.last = block.index
    if it.opens:
        facts.next = max(facts.next, block.index + 1)
        facts.open[block.index] = block
    if isinstance(it, Start):
        _remember_start(it, facts)
    elif isinstance(it, Delta):
        _remember_delta(it, facts)
    else:
        facts.stop(block.index)


def _remember_start(it: Start, facts: ConverseFacts) -> None:
    block = it.block
    block.started = True
    block.head = block.head or it.head
    if it.call is not None:
        block.server = it.call.get("type") == "server_tool_use"
        identity = it.call.get("toolUseId")
        if isinstance(identity, str) and identity:
            facts.ids.setdefault(identity, (it.event.frame, f"{it.path}/toolUse"))
    _consists_of(block, it.head, facts)


def _remember_delta(it: Delta, facts: ConverseFacts) -> None:
    block, reasoning = it.block, it.reasoning
    _consists_of(block, it.kind, facts)
    block.plain = block.plain or "text" in reasoning or "signature" in reasoning
    block.signed = block.signed or bool(reasoning.get("signature"))
    block.redacted = block.redacted or "redactedContent" in reasoning


def _consists_of(block: BlockFacts, kind: str | None, facts: ConverseFacts) -> None:
    if block.kind is None and kind is not None:
        block.kind = kind
        facts.texts = facts.texts or kind == "text"
        facts.calls += kind == "toolUse" and not block.server


def _index(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
