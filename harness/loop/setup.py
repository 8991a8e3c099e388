"""What all runs of an agent share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.loop.calls import Caller
from harness.loop.context import StreamConfig
from harness.loop.costs import Prices
from harness.loop.hooks import Hooks
from harness.loop.inbox import Filter, Inbox
from harness.loop.limits import Limits
from harness.loop.state import State
from harness.loop.stream_response import ResponseStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The agent's side of a run; see `AgentLoop` for what each is."""

    stream: ResponseStream
    state: State
    config: StreamConfig
    system: str | None
    caller: Caller
    limits: Limits
    hooks: Hooks
    filters: tuple[Filter, ...]
    prices: Prices | None
    inbox: Inbox
    clock: Callable[[], float]
