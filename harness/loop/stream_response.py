"""One answer of a model, from context to message: assemble, ask with retry, tell, and always come back with a reply.

What the seed calls stream_assistant_response (semantics.md section 3). A `ResponseStream` is a step with a working context in
front of it and a retry inside: its transform makes the turns of the request, its provider asks as often as the policy lets
it, and its events are those of any step, with the request and the retries among them. Whatever goes wrong in a turn is told
as that turn's one terminal event and returned as a `Reply`; nothing is raised for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import random as _random
from types import TracebackType

from harness.api_error import ApiError
from harness.errors import HarnessError
from harness.loop.artifacts import DELTAS, PARTS, Emit, Finish
from harness.loop.cancel import Cancel
from harness.loop.context import Origin, Placed, RunContext, StreamConfig, sent_turns, settings
from harness.loop.events import ArtifactEvent, Event, LifecycleEvent, Phase, RequestEvent, Stage, TurnCompleteEvent
from harness.loop.failures import StepClosedError, TurnFailed
from harness.loop.gathering import gathered
from harness.loop.provider import Provider
from harness.loop.retry import Random, Refresh, Retrying, RetryPolicy, Sleep
from harness.loop.state import Role, State, Turn, TurnPart
from harness.loop.step import Handler, Step
from harness.request import TurnRequest
from harness.response import FinishReason, Response, Text, ToolCall, Usage

_NO_PROVIDER = "unknown"  # who answered a turn that nobody answered (row P30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How a turn came out.

    If it failed, `error` says why and at which `stage`, and `turn` is an empty text that nobody persists, unless it was a
    handler that failed: then the turn is whole and persisted. A cancelled turn has the stop reason `cancelled` and no error.
    `partial` and `response` are what had come until then; of a whole turn, `response` is where it comes from.
    """

    turn: Turn
    stop: FinishReason | None
    raw_stop: str | None = None
    usage: Usage | None = None
    provider: str = _NO_PROVIDER
    model: str = ""
    error: ApiError | BaseException | None = None
    stage: Stage | None = None
    partial: tuple[TurnPart, ...] = ()
    response: Response | None = None

    @property
    def ok(self) -> bool:
        return self.error is None and not self.cancelled

    @property
    def cancelled(self) -> bool:
        return self.stop is FinishReason.CANCELLED

    @property
    def error_message(self) -> str | None:
        if isinstance(self.error, ApiError):
            return self.error.message
        return None if self.error is None else str(self.error) or type(self.error).__name__

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls to carry out: none of a turn that failed."""
        return tuple(part for part in self.turn.parts if isinstance(part, ToolCall)) if self.ok else ()


class ResponseStream:
    """Asks `provider` for one turn after another. `step` is where to subscribe, emit, submit and bind a state.

    `retry`, `refresh`, `sleep` and `random` are for `Retrying`, the rest is for `Step`.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        retry: RetryPolicy | None = None,
        refresh: Refresh | None = None,
        handlers: Iterable[Handler] = (),
        on_emit: Iterable[Callable[[Event], None]] = (),
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        random: Random = _random,
        grace: float = 1.0,
    ) -> None:
        self.name = provider.name
        self._asking = _Asking(RunContext(), StreamConfig())
        self._busy = False
        self.step = Step(
            self,
            transforms=(self._assembled,),
            handlers=handlers,
            on_emit=(self._seen, *on_emit),
            clock=clock,
            grace=grace,
        )
        policy = RetryPolicy() if retry is None else retry
        self._provider = Retrying(provider, policy, tell=self.step.emit, refresh=refresh, sleep=sleep, random=random)

    # what the step sees: a provider and a transform

    async def invoke(self, request: TurnRequest, emit: Emit) -> None:
        """Tell what is asked, once, and ask for it (B5, row P10)."""
        await self.step.emit(RequestEvent(request=request, origins=self._asking.origins(request.turns)))
        await asyncio.sleep(0)  # who saw what is asked may have stopped it: then it is never sent
        await self._provider.invoke(request, emit)

    async def _assembled(self, state: State) -> State:
        asking = self._asking
        asking.placed = await sent_turns(asking.context, asking.config)
        return state.view([placed.turn for placed in asking.placed])

    def _seen(self, event: Event) -> None:
        asking = self._asking
        if isinstance(event, ArtifactEvent):
            asking.told.append(event)
        elif event.terminal:
            asking.end = event
        elif isinstance(event, TurnCompleteEvent) and event.role is Role.ASSISTANT and asking.whole is None:
            asking.whole = event

    # one turn

    async def respond(self, context: RunContext, config: StreamConfig, *, cancel: Cancel | None = None) -> Reply:
        """Ask for the next turn. A turn that fails or that `cancel` stops is a reply as well.

        Raises `StepClosedError` if this was closed before, `HarnessError` if it is asked for two turns at once, and
        `CancelledError` if the task that awaits it is cancelled.
        """
        if self.step.closed:
            raise StepClosedError("a closed response stream was asked for a turn")
        if self._busy:
            raise HarnessError("a response stream was asked for a turn within a turn", hint="make one for each conversation")
        asking = self._asking = _Asking(context, config)
        self._busy = True
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        token = cancel or Cancel()
        try:
            await token.run(self.step.run_turn(State(context.turns), **settings(context, config)))
        except TurnFailed as failure:
            return asking.failed(failure)
        except (asyncio.CancelledError, StepClosedError):
            # a cancellation of the task may have been on its way already when this was called
            if (task is not None and task.cancelling() > before) or not (token.cancelled or self.step.closed):
                raise
            return asking.stopped(self.name)
        finally:
            self._busy = False
        return asking.answered(self.name)

    async def close(self) -> None:
        await self.step.close()

    async def __aenter__(self) -> ResponseStream:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        await self.close()


class _Asking:
    """One turn: what it is asked for, what the provider gets, what was told of it, and the whole turn once it is."""

    def __init__(self, context: RunContext, config: StreamConfig) -> None:
        self.context = context
        self.config = config
        self.placed: tuple[Placed, ...] = ()
        self.told: list[ArtifactEvent] = []
        self.whole: TurnCompleteEvent | None = None
        self.end: Event | None = None

    def origins(self, turns: Iterable[Turn]) -> tuple[str, ...]:
        known = {id(placed.turn): placed.origin.value for placed in self.placed}
        return tuple(known.get(id(turn), Origin.HOOK.value) for turn in turns)

    def answered(self, provider: str) -> Reply:
        whole = self.whole or TurnCompleteEvent(role=Role.ASSISTANT, parts=())
        finish = whole.finish or Finish()
        response: Response | None = whole.response
        return Reply(
            turn=self._turn(),
            stop=finish.reason,
            raw_stop=finish.raw if response is None else response.raw_finish_reason,
            usage=whole.usage,
            provider=provider,
            model=(response.model if response is not None else None) or self.config.model,
            response=response,
        )

    def failed(self, failure: TurnFailed) -> Reply:
        return Reply(
            turn=self._turn(),
            stop=FinishReason.ERROR,
            model=self.config.model,
            error=failure.error,
            stage=failure.stage,
            partial=failure.parts,
            response=failure.response,
        )

    def stopped(self, provider: str) -> Reply:
        """The reply when the work was cancelled. Who cancels at the very end of a turn finds it over: the reply is what the
        terminal event said (law 9). Nothing is flushed of a cancelled turn; what was told of it still counts for who asked."""
        if isinstance(self.end, LifecycleEvent) and self.end.phase is Phase.DONE:
            return self.answered(provider)
        entries = (event.value for event in self.told if isinstance(event.value, DELTAS) or event.artifact in PARTS)
        seen = tuple(gathered(entries))
        return Reply(turn=self._turn(), stop=FinishReason.CANCELLED, model=self.config.model, partial=seen)

    def _turn(self) -> Turn:
        """The turn if it was told of, else one empty text (row P30)."""
        if self.whole is None:
            return Turn(role=Role.ASSISTANT, parts=(Text(text=""),))
        return Turn(role=Role.ASSISTANT, parts=self.whole.parts, at=self.whole.at, response=self.whole.response)


async def stream_response(
    context: RunContext,
    config: StreamConfig,
    emit: Callable[[Event], None] | None = None,
    *,
    provider: Provider,
    retry: RetryPolicy | None = None,
    refresh: Refresh | None = None,
    cancel: Cancel | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
    random: Random = _random,
) -> Reply:
    """One turn and nothing around it: `emit` gets its events, the reply is how it came out."""
    on_emit = () if emit is None else (emit,)
    stream = ResponseStream(provider, retry=retry, refresh=refresh, on_emit=on_emit, clock=clock, sleep=sleep, random=random)
    async with stream:
        return await stream.respond(context, config, cancel=cancel)
