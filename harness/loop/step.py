"""The single-turn step: one question, one answer, and everything that a consumer is told on the way (semantics.md 2, 4.2).

Order of a turn: transforms, submitted, streaming, artifacts, turn complete, handlers, done. Every turn that was started ends
with exactly one terminal event, and nothing of the turn comes after it (law 9, D8):

    it came to its end              lifecycle `done`         `run_turn` returns the stored state
    a stage failed                  `ErrorEvent`             `run_turn` raises `TurnFailed` from the original exception
    who runs it was cancelled       lifecycle `cancelled`    `run_turn` raises `CancelledError`
    the step was closed meanwhile   lifecycle `cancelled`    `run_turn` raises `StepClosedError`

Nothing is stored here: the state that was bound takes in what `turn_complete` events say (D10).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.api_error import ApiError
from harness.errors import HarnessError
from harness.loop.events import ErrorEvent, Event, LifecycleEvent, Phase, Stage, TurnCompleteEvent
from harness.loop.failures import StepClosedError, TurnFailed
from harness.loop.fanout import OnFull, Pressure, Subscription
from harness.loop.handlers import Emitter, Handler, handle
from harness.loop.provider import Provider
from harness.loop.running import Running, Transform
from harness.loop.state import Role, State, Turn, TurnPart
from harness.loop.telling import OnEmit, Teller
from harness.response import Response

__all__ = ["Emitter", "Handler", "OnEmit", "Step", "Transform"]


class Step:
    """Runs turns of one conversation, one at a time, with `provider`.

    `transforms` make the view that the provider gets, `handlers` see the whole parts of every turn, `on_emit` callbacks are
    called with every event, in order, at once. `options` go with every request, below those of the call (row L34). `grace` is
    how long, in seconds, a cancelled turn may take to end; then it is left behind, `abandoned` counts those that still live.
    A callback that raises fails the turn at the stage that is running; others see the event all the same.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        transforms: Iterable[Transform] = (),
        handlers: Iterable[Handler] = (),
        on_emit: Iterable[OnEmit] = (),
        options: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        grace: float = 1.0,
    ) -> None:
        self.closed = False
        self._provider = provider
        self._transforms = tuple(transforms)
        self._handlers = tuple(handlers)
        self._options = dict(options or {})
        self._grace = grace
        self._teller = Teller(on_emit, clock)
        self._running: Running | None = None
        self._idle = asyncio.Event()
        self._turns = 0
        self._left: set[asyncio.Task[None]] = set()
        self._bound: State | None = None

    # turns

    async def run_turn(self, state: State, **options: Any) -> State:
        """One turn over `state`; returns the stored state, never a view of it (D10).

        Raises what the module says; `HarnessError` while another turn of this step runs. A callback that raises at `done` is
        raised as it is, since the turn is over by then.
        """
        running = self._begun()
        try:
            running.start(state, self._options, options)
            await running.over(self._grace)
            self._ended(running)
        except asyncio.CancelledError as cancelled:
            self._tell_last(running, LifecycleEvent(phase=Phase.CANCELLED), cancelled)
            raise
        finally:
            self._cleared(running)
        return state.base

    async def submit(self, state: State, role: Role, *parts: TurnPart) -> State:
        """Add a turn that no model is asked for: it is told, and handlers see its parts. No transforms, no lifecycle (L16).
        What is told belongs to no turn of the model's, even while one runs: its number is 0.

        A handler that raises: an `ErrorEvent` and `TurnFailed`; within a turn that runs only the latter.
        """
        self._check_open()
        emitter = Emitter(self._teller)
        try:
            await self._teller.emit(TurnCompleteEvent(role=role, parts=parts), turn=0)
            await handle(parts, self._handlers, emitter)
        except Exception as raised:
            failed = _failure(Stage.HANDLER, raised, parts)
            if self._running is None and not self.closed:
                self._tell(ErrorEvent(stage=failed.stage, error=failed.error), failed)
            raise failed from raised
        finally:
            emitter.close()
            if self._running is None:
                self._teller.context = {}
        return state.base

    # events

    def emit(self, event: Event) -> Pressure:
        """Tell an event to callbacks and subscribers, at once; await what is returned to wait for slow subscribers.

        A callback may call this: its event is told after the one that the callback was called for (L32). Raises
        `StepClosedError` after `close`, and `HarnessError` for an event that would end the turn that runs.
        """
        self._check_open()
        if event.terminal and self._running is not None:
            raise HarnessError(
                "only the step ends a turn that runs", hint="cancel the task that runs it, or raise an exception"
            )
        return self._teller.emit(event)

    def subscribe(self, *topics: str, buffer: int = 100, on_full: OnFull = "drop") -> Subscription:
        """Listen from now on: see `FanOut.subscribe`."""
        return self._teller.fanout.subscribe(*topics, buffer=buffer, on_full=on_full)

    def set_context(self, context: Mapping[str, str]) -> None:
        """What all events say from now on, until the next turn or `submit` has ended (V1)."""
        self._teller.context = dict(context)

    def bind_state(self, state: State) -> None:
        """Append every turn that is complete to `state`, before any callback is called. Raises `HarnessError` the second time,
        which would store every turn twice (L23)."""
        if self._bound is not None:
            raise HarnessError("a state is bound already", hint="one step stores into one state")
        self._bound = state
        self._teller.on_emit.insert(0, self._store)

    # the end

    @property
    def abandoned(self) -> int:
        """How many turns were cancelled, did not end in time, and still live. What they say is refused."""
        return len(self._left)

    async def close(self) -> None:
        """Take nothing more. A turn that runs is cancelled; what is queued is still delivered. May be called again.

        Called by a handler, a transform or a provider, it cancels the turn that it is part of and does not return.
        """
        self.closed = True
        if self._running is not None:
            self._running.stop()
            await self._idle.wait()
        self._teller.fanout.close()

    async def __aenter__(self) -> Step:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    # inside

    def _check_open(self) -> None:
        if self.closed:
            raise StepClosedError("this step is closed")

    def _begun(self) -> Running:
        self._check_open()
        if self._running is not None:
            raise HarnessError("a turn of this step is running", hint="await it, or use a step for each conversation")
        self._running = Running(self._teller, self._provider, self._transforms, self._handlers)
        self._idle.clear()
        self._turns += 1
        self._teller.turn = self._turns
        return self._running

    def _ended(self, running: Running) -> None:
        """Tell how a turn ended; raises accordingly."""
        if running.interrupted:
            closed = StepClosedError("the step was closed while a turn ran")
            self._tell_last(running, LifecycleEvent(phase=Phase.CANCELLED), closed)
            raise closed
        error = running.error
        if isinstance(error, asyncio.CancelledError):
            raise error
        if error is None:
            self._tell_last(running, LifecycleEvent(phase=Phase.DONE))
            return
        failed = _failure(running.stage, error, tuple(running.gathering.parts), running.response)
        self._tell_last(running, ErrorEvent(stage=failed.stage, error=failed.error), failed)
        raise failed from error

    def _tell_last(self, running: Running, event: Event, raised: BaseException | None = None) -> None:
        """Tell the terminal event of a turn, once; whatever is told afterwards, even by its callbacks, is not of the turn."""
        if not running.ended:
            running.ended = True
            self._tell(event, raised)

    def _tell(self, event: Event, raised: BaseException | None) -> None:
        """Tell a terminal event. The exception that is raised anyway counts more than those of callbacks, which it notes."""
        stamped = self._teller.stamped(event)
        self._teller.turn, self._teller.context = 0, {}
        try:
            self._teller.tell(stamped)
        except Exception as callback:
            if raised is None:
                raise
            raised.add_note(f"a callback failed at the event that told of this: {type(callback).__name__}: {callback}")

    def _cleared(self, running: Running) -> None:
        self._running = None
        self._teller.turn, self._teller.context = 0, {}
        self._left.add(running.task)
        running.task.add_done_callback(self._forget)
        if running.task.done():
            self._forget(running.task)
        self._idle.set()
        if self.closed:
            self._teller.fanout.close()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()  # it was told of, or is nobody's concern any more

    def _store(self, event: Event) -> None:
        if self._bound is not None and isinstance(event, TurnCompleteEvent):
            turn = Turn(role=event.role, parts=event.parts, at=event.at, response=event.response)
            self._bound.append(turn)


def _failure(
    stage: Stage, raised: BaseException, parts: tuple[TurnPart, ...] = (), response: Response | None = None
) -> TurnFailed:
    """What a turn raises. An exception that carries an `ApiError` is that error, and may carry what had come by then."""
    error = getattr(raised, "error", None)
    partial = getattr(raised, "response", None)
    return TurnFailed(
        stage,
        error if isinstance(error, ApiError) else raised,
        parts=parts,
        response=partial if isinstance(partial, Response) else response,
    )
