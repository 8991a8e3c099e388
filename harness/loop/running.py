"""One turn while it runs: transforms, the provider, what it says, handlers (semantics.md 2.3, 2.5, 2.7, decision D7).

The turn runs in a task of its own, so that whoever cancels the step gets it back even from a provider, a transform or a handler
that does not care (rows L11, L12). The step that started it alone tells how it ended: nothing here tells a terminal event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from inspect import isawaitable
from typing import Any, cast

from harness.errors import HarnessError
from harness.loop.artifacts import DELTAS, SIDES, Artifact, ArtifactKind, Complete, Settled, Side, kind_of
from harness.loop.events import LifecycleEvent, Phase, Stage, TurnCompleteEvent
from harness.loop.failures import TurnOverError
from harness.loop.fanout import NOTHING
from harness.loop.gathering import Gathering
from harness.loop.handlers import Emitter, Handler, handle
from harness.loop.provider import Provider
from harness.loop.state import Role, State, TurnPart
from harness.loop.telling import Teller
from harness.request import TurnRequest
from harness.response import Part, Response

Transform = Callable[[State], State | Awaitable[State]]

_KINDS: dict[type, ArtifactKind] = {delta: delta.kind for delta in DELTAS}

_ROUND = 64
"""After so many artifacts everybody else gets a round of the event loop, whatever the provider waits for: a provider that has
its whole answer at hand can be cancelled too."""


class Running:
    """A turn from its start to its end. `error` is why it failed, `interrupted` says that it was stopped from outside."""

    def __init__(
        self, teller: Teller, provider: Provider, transforms: Sequence[Transform], handlers: Sequence[Handler]
    ) -> None:
        self.stage = Stage.TRANSFORM
        self.gathering = Gathering()
        self.response: Response | None = None
        self.interrupted = False
        self.ended = False  # whether its terminal event was told
        self._teller = teller
        self._provider = provider
        self._transforms = transforms
        self._handlers = handlers
        self._emitter = Emitter(teller, self._stopped)
        self._failed: Exception | None = None
        self._streaming = False
        self._spoken = False
        self._count = 0
        self._telling = asyncio.Lock()
        self._alone = False  # whether a fragment may be told at once: the turn streams, and nobody holds the lock
        self._cancelling: Callable[[], int]  # how often whoever started the turn was cancelled
        self._cancels: int  # … before it did
        self._stop: asyncio.Future[None]
        self.task: asyncio.Task[None]

    # from outside

    def start(self, state: State, *options: Mapping[str, Any]) -> None:
        """Begin. The task that calls this is the one whose cancellation cancels the turn."""
        loop = asyncio.get_running_loop()
        owner = asyncio.current_task()
        self._cancelling = owner.cancelling if owner is not None else _never
        self._cancels = self._cancelling()
        self._stop = loop.create_future()
        self.task = loop.create_task(self._run(state, options))

    def stop(self) -> None:
        """Interrupt the turn: whoever waits for it gets it back."""
        if not self._stop.done():
            self._stop.set_result(None)

    async def over(self, grace: float) -> None:
        """Wait until the turn is over. When it is stopped, or who waits is cancelled, it gets `grace` seconds to end; its task
        may still be alive afterwards."""
        try:
            await asyncio.wait({self.task, self._stop}, return_when=asyncio.FIRST_COMPLETED)
            await self._interrupt(grace)
        except asyncio.CancelledError:
            with suppress(asyncio.CancelledError):  # cancelled again: no more waiting
                await self._interrupt(grace)
            raise
        finally:
            self._spoken = True
            self._emitter.close()

    async def _interrupt(self, grace: float) -> None:
        if not self.task.done() and not self.interrupted:
            self.interrupted = True
            self.task.cancel()
            await asyncio.wait({self.task}, timeout=grace)

    @property
    def error(self) -> BaseException | None:
        """Why a turn that is over did not come to its end; the exception of a callback before all others."""
        if self.task.cancelled():
            return asyncio.CancelledError()
        return self._failed or self.task.exception()

    # the turn

    async def _run(self, state: State, options: tuple[Mapping[str, Any], ...]) -> None:
        view = await self._transformed(state)
        self.stage = Stage.PROVIDER
        await self._teller.emit(LifecycleEvent(phase=Phase.SUBMITTED))
        self._go_on()
        await self._asked(TurnRequest.of(view.turns, *options))
        parts = tuple(self.gathering.parts)
        self.stage = Stage.HANDLER
        await self._teller.emit(self._complete(parts))
        await handle(parts, self._handlers, self._emitter)

    async def _transformed(self, state: State) -> State:
        """What the transforms make of the state, one after the other; none of them can append to it (X1)."""
        view: State = state.sealed()
        for transform in self._transforms:
            made = transform(view)
            view = await made if isawaitable(made) else made
            if not isinstance(view, State):
                raise HarnessError(f"a transform returned {type(view).__name__}, not a state", hint="return state.view([...])")
            self._go_on()
        return view

    async def _asked(self, request: TurnRequest) -> None:
        try:
            await self._provider.invoke(request, self.emit)
            self._go_on()
            if self._failed is not None:
                raise self._failed
        except Exception as raised:
            await self._flush(raised)  # what had come is told before the error is (R1)
            raise
        await self._flush()

    async def _flush(self, failed: Exception | None = None) -> None:
        """The provider has had its say. Why it failed counts more than a callback that fails now."""
        self._spoken = True
        self._go_on()
        try:
            await self._tell(_whole(self.gathering.flush()))
        except Exception as raised:
            if failed is None:
                raise
            failed.add_note(f"a callback failed as well: {type(raised).__name__}: {raised}")
        self._go_on()

    def _stopped(self) -> bool:
        """Whether the turn was cancelled or its step closed; from that moment on, before the event loop gets to it."""
        return self.interrupted or self._stop.done() or self._cancelling() > self._cancels

    def _go_on(self) -> None:
        """Whoever made nothing of being cancelled does not get further."""
        if self._stopped():
            raise asyncio.CancelledError

    def _complete(self, parts: tuple[TurnPart, ...]) -> TurnCompleteEvent:
        usage, finish = self.gathering.usage, self.gathering.finish
        if self.response is None:
            reason, raw = (finish.reason, finish.raw) if finish else (None, None)
            told = cast(tuple[Part, ...], parts)
            self.response = Response(parts=told, finish_reason=reason, raw_finish_reason=raw, usage=usage)
        return TurnCompleteEvent(role=Role.ASSISTANT, parts=parts, usage=usage, finish=finish, response=self.response)

    # what the provider says

    async def emit(self, artifact: Artifact) -> None:
        """Take an artifact from the provider (see `artifacts.Emit`)."""
        # what `_stopped` says, without a call: there is one artifact for every fragment
        if self._spoken or self.interrupted or self._stop.done() or self._cancelling() > self._cancels:
            await self._refuse()
        self._count += 1
        if not self._count % _ROUND:
            await asyncio.sleep(0)
        try:
            kind = _KINDS.get(type(artifact)) if self._alone else None
            if kind is not None:
                self.gathering.add(artifact)  # type: ignore[arg-type]
                pressure = self._teller.artifact(kind, artifact)
                if pressure is not NOTHING:
                    await pressure
            else:
                await self._whole_tale(artifact)
        except Exception as raised:
            self._failed = self._failed or raised  # a provider that makes nothing of it does not save the turn
            raise

    async def _whole_tale(self, artifact: Artifact) -> None:
        """What is told because of one artifact stays together, whoever else emits meanwhile."""
        async with self._telling:
            self._alone = False
            try:
                await self._tell(self._taken(artifact))
            finally:
                self._alone = self._streaming

    def _taken(self, artifact: Artifact) -> list[tuple[ArtifactKind, Any]]:
        """What is to be told because of an artifact: the blocks that it closes come first (M3)."""
        gathering = self.gathering
        if isinstance(artifact, DELTAS):
            gathering.add(artifact)
            return [(artifact.kind, artifact)]
        if isinstance(artifact, Complete):
            blocks = gathering.flush()
            gathering.whole(artifact.part)
            return [*_whole(blocks), (artifact.kind, artifact.part)]
        if isinstance(artifact, Settled):
            self.response = artifact.response or self.response
            return _whole(gathering.settle(artifact.parts))
        if isinstance(artifact, Side) and artifact.kind in SIDES:
            return [(artifact.kind, gathering.side(artifact.kind, artifact.value))]
        raise HarnessError(f"{artifact!r} is no artifact", hint="a provider emits deltas, Complete, Side and Settled")

    async def _tell(self, told: list[tuple[ArtifactKind, Any]]) -> None:
        if told and not self._streaming:
            self._streaming = True
            await self._teller.emit(LifecycleEvent(phase=Phase.STREAMING))
        for kind, value in told:
            self._go_on()
            await self._teller.artifact(kind, value)

    async def _refuse(self) -> None:
        await asyncio.sleep(0)  # whoever tries for ever keeps nobody else from going on
        self._go_on()
        raise TurnOverError("a provider spoke after its turn")


def _never() -> int:
    return 0


def _whole(parts: Iterable[TurnPart]) -> list[tuple[ArtifactKind, Any]]:
    return [(kind_of(part), part) for part in parts]
