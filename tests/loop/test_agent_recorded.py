"""The agent loop over recorded turns of every dialect: tools run, results go back, and so does what only the model can read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.adapters import Ours
from harness.adapters.recorded import Recorded
from harness.api_error import ErrorKind
from harness.loop.context import StreamConfig
from harness.loop.events import Event
from harness.loop.provider import DialectProvider
from harness.loop.retry import RetryPolicy
from harness.loop.run_events import Ending
from harness.loop.sequence import faults
from harness.request import Role, Turn
from harness.response import ToolCall
from tests.laws.cases import CORPUS, SHIPPED, Stream

from .agents import Clock, agent_of, tool
from .running import run

FINAL = {stream.case.dialect: stream for stream in SHIPPED if stream.case.scenario in ("text", "nova-text", "anthropic-text")}
FIRST_PARTY = [stream for stream in CORPUS if stream.case.provider in stream.dialect.vendors]


def answer_to(stream: Stream) -> Stream:
    """A turn of text that may follow: the same vendor's where an API carries those of several."""
    vendor = stream.case.scenario.partition("-")[0]
    same = [s for s in SHIPPED if s.case.dialect == stream.case.dialect and s.case.scenario == f"{vendor}-text"]
    return same[0] if same and stream.case.dialect == "bedrock-invoke" else FINAL[stream.case.dialect]


def kept(part: Any) -> list[str]:
    """What must go back to the model unchanged, as it stands in JSON."""
    encrypted = getattr(part, "encrypted", None)
    found = [getattr(part, "signature", None), *(encrypted if isinstance(encrypted, list) else [encrypted])]
    return [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in found if value]


@pytest.mark.parametrize("stream", [*SHIPPED, *FIRST_PARTY], ids=repr)
def test_a_recorded_turn_in_a_run(stream: Stream) -> None:
    events: list[Event] = []
    after = answer_to(stream).exchange
    wire = Recorded(stream.exchange, after, after)
    names = {call.name for call in stream.collected().response.tool_calls}
    config = StreamConfig(model=stream.case.model or "m")

    async def going() -> Any:
        provider = DialectProvider(stream.dialect, wire, now=lambda: 0.0)
        tools = [tool(name, {"result": "high water"}) for name in names]
        async with agent_of(provider, Clock(), events, config=config, tools=tools, retry=RetryPolicy.none()) as agent:
            agent.follow_up("Thank you.")
            return await agent.run("Hello")

    result = run(going())
    assert events[-1] is next(event for event in events if event.kind == "run_end")
    assert not list(faults(events))
    assert wire.open == 0
    if not wire.sent:  # a vendor inside Invoke whose models know no conversation
        assert (stream.case.dialect, result.error.kind) == ("bedrock-invoke", ErrorKind.INVALID_REQUEST)
        return
    first = result.answers[0] if result.answers else Turn(role=Role.ASSISTANT)
    calls = [part for part in first.parts if isinstance(part, ToolCall)]
    failed = Ours().observe(stream.exchange, stream.dialect).error is not None
    assert result.ending is (Ending.ERROR if failed else Ending.DONE), result.reason
    assert len(wire.sent) == (1 if failed else 2 + bool(calls))
    body = wire.sent[-1].body.decode("utf-8", "surrogatepass")
    assert failed or "Thank you." in body
    assert body.count("high water") + body.count("Invalid arguments for") == len(calls)
    assert [value for part in first.parts for value in kept(part) if value not in body] == []


def test_the_shipped_turns_have_something_to_keep() -> None:
    """Otherwise the test above would show nothing."""
    keeping = {s.case.dialect for s in SHIPPED for part in s.collected().response.parts if kept(part)}
    assert keeping >= {"gemini", "bedrock-converse", "bedrock-invoke"}
