"""The agent loop: a model, its tools, and a conversation that grows (semantics.md 3.7; rows P34–P48).

    async with AgentLoop(provider, StreamConfig(model="…"), tools=[tide]) as agent:
        result = await agent.run("When is high water in Brest?")

The events of a run are those of its turns and those of `run_events`, in one sequence; `stream` runs and reads them in one go.
A run that ends early, by a limit, an error or a cancellation, comes back with what there was of it. `run` raises for wrong use,
for a hook `after_run` that raises, and `CancelledError` if its task is cancelled; nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from random import random as _random
from types import TracebackType

from harness.errors import HarnessError
from harness.loop.bounded import Bounds
from harness.loop.calls import Caller
from harness.loop.cancel import Cancel
from harness.loop.context import StreamConfig
from harness.loop.costs import Prices
from harness.loop.events import Event
from harness.loop.fanout import OnFull, Subscription
from harness.loop.handlers import Handler
from harness.loop.hooks import Hooks
from harness.loop.inbox import Filter, Inbox, said
from harness.loop.limits import Limits
from harness.loop.provider import Provider
from harness.loop.retry import Random, Refresh, RetryPolicy, Sleep
from harness.loop.run import Run
from harness.loop.run_events import AgentResult, Ending, Trigger
from harness.loop.setup import Setup
from harness.loop.state import Role, State, Turn
from harness.loop.stream_response import ResponseStream
from harness.loop.tools import PARALLEL, Strategy, Tool

_HALTED = "nobody reads the events any more"


class AgentLoop:
    """Runs on one conversation, `state`, one run at a time.

    `config` says how to ask, `tools` what may be called and `strategy` how many calls at once; `tool_timeout` is in seconds and
    for tools without one of their own. `limits` end a run; `hooks` and `filters` are asked along the way; `prices` say what
    turns cost whose API does not. `grace` is how long, in seconds, what was cancelled may take to end before it is left
    behind. All else is for `ResponseStream`.
    """

    def __init__(
        self,
        provider: Provider,
        config: StreamConfig | None = None,
        *,
        system: str | None = None,
        tools: Iterable[Tool] = (),
        strategy: Strategy = PARALLEL,
        tool_timeout: float | None = None,
        limits: Limits | None = None,
        hooks: Hooks | None = None,
        filters: Iterable[Filter] = (),
        prices: Prices | None = None,
        state: State | None = None,
        retry: RetryPolicy | None = None,
        refresh: Refresh | None = None,
        handlers: Iterable[Handler] = (),
        on_emit: Iterable[Callable[[Event], None]] = (),
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        random: Random = _random,
        grace: float = 1.0,
    ) -> None:
        self.state = State() if state is None else state
        self._stream = ResponseStream(
            provider,
            retry=retry,
            refresh=refresh,
            handlers=handlers,
            on_emit=on_emit,
            clock=clock,
            sleep=sleep,
            random=random,
            grace=grace,
        )
        self.step = self._stream.step
        self.step.bind_state(self.state)
        hooks = hooks or Hooks()
        self._bounds = Bounds(sleep, grace)
        self._inbox = Inbox()
        self._token: Cancel | None = None
        self._over = asyncio.Event()
        self._setup = Setup(
            stream=self._stream,
            state=self.state,
            config=config or StreamConfig(),
            system=system,
            caller=Caller(
                tools, strategy=strategy, timeout=tool_timeout, hooks=hooks, bounds=self._bounds, tell=self.step.emit
            ),
            limits=limits or Limits(),
            hooks=hooks,
            filters=tuple(filters),
            prices=prices,
            inbox=self._inbox,
            clock=clock,
        )

    # running

    async def run(self, *prompts: str | Turn, cancel: Cancel | None = None) -> AgentResult:
        """Say something and see what comes of it."""
        if not prompts:
            raise HarnessError("a run needs a prompt", hint="resume() goes on without one")
        return await self._drive([said(prompt) for prompt in prompts], Trigger.PROMPT, cancel)

    async def resume(self, *, cancel: Cancel | None = None) -> AgentResult:
        """Go on where the conversation stands. It must wait for an answer: `HarnessError` if it is empty or the model has
        spoken last (row P48)."""
        turns = [turn for turn in self.state.turns if turn.extension is None]
        if not turns or turns[-1].role is Role.ASSISTANT:
            why = "the model has spoken last" if turns else "nothing was said yet"
            raise HarnessError(f"there is nothing to go on with: {why}", hint="say something with run()")
        return await self._drive([], Trigger.RESUME, cancel)

    async def stream(self, *prompts: str | Turn, cancel: Cancel | None = None) -> AsyncIterator[Event]:
        """Run and read the events as they come, none of them lost: the run waits for its reader. Without prompts, resume.

        Who stops reading halts the run; close the iterator (`contextlib.aclosing`) to have it ended by a certain time.
        """
        token = (cancel or Cancel()).child()
        subscription = self.subscribe(on_full="block")
        running = self.run(*prompts, cancel=token) if prompts else self.resume(cancel=token)
        task = asyncio.ensure_future(running)
        task.add_done_callback(lambda _: subscription.close())
        try:
            async for event in subscription:
                yield event
            await task
        finally:
            token.cancel(_HALTED)
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # it was raised above, or nobody is there to be told

    # while it runs

    def steer(self, message: str | Turn) -> None:
        """Have the model hear this as soon as possible: calls of the turn that have not begun are skipped (U3)."""
        self._inbox.steering.append(said(message))

    def follow_up(self, message: str | Turn) -> None:
        """Say this once the model has nothing more to do."""
        self._inbox.follow_ups.append(said(message))

    def cancel(self, reason: str = "cancelled") -> None:
        """Stop the run that is going on, if any: it comes back as cancelled."""
        if self._token is not None:
            self._token.cancel(reason)

    def subscribe(self, *topics: str, buffer: int = 100, on_full: OnFull = "drop") -> Subscription:
        """Listen to the events of all runs (see `FanOut.subscribe`)."""
        return self.step.subscribe(*topics, buffer=buffer, on_full=on_full)

    @property
    def abandoned(self) -> int:
        """How many tools and turns that did not end when they were to are still running."""
        return self._bounds.abandoned + self.step.abandoned

    async def close(self) -> None:
        """Cancel what is going on, and tell nobody anything any more."""
        self.cancel("closed")
        while self._token is not None:
            await self._over.wait()
        await self._stream.close()

    async def __aenter__(self) -> AgentLoop:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        await self.close()

    async def _drive(self, prompts: list[Turn], trigger: Trigger, cancel: Cancel | None) -> AgentResult:
        if self._token is not None:
            raise HarnessError("a run is going on already", hint="steer() and follow_up() speak to it")
        run = Run(self._setup)
        token = self._token = (cancel or Cancel()).child()
        self._over.clear()
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            await token.run(run.drive(prompts, trigger))
        except asyncio.CancelledError:
            run.interrupted(Ending.HALTED if token.reason == _HALTED else Ending.CANCELLED, token.reason or "cancelled")
            if not token.cancelled or (task is not None and task.cancelling() > before):
                raise
        except BaseException as error:  # of a hook or a watcher: nothing of ours, but the run is over
            run.interrupted(Ending.ERROR, f"{type(error).__name__}: {error}", error)
            raise
        finally:
            self._token = None
            self._over.set()
        assert run.result is not None  # noqa: S101
        return run.result
