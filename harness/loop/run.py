"""One run: turns of a model and its tools until there is nothing left to do (semantics.md 3.7).

Whether a turn follows is decided by what there is to answer, never by the model's stop reason: results of calls, steering, or a
follow-up once the model has come to its natural end (U1). However a run ends, each call in its log has a result, what was begun
is ended, and one event says that it is over.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from harness.api_error import ApiError
from harness.loop.calls import cancelled, unanswered
from harness.loop.context import RunContext
from harness.loop.costs import cost_of
from harness.loop.events import Event, TurnCompleteEvent
from harness.loop.failures import TurnFailed
from harness.loop.hooks import ask
from harness.loop.inbox import filtered
from harness.loop.limits import Spent
from harness.loop.run_events import (
    AgentResult,
    Ending,
    InputRejectedEvent,
    RunEndEvent,
    RunStartEvent,
    Trigger,
    TurnEndEvent,
    TurnStartEvent,
)
from harness.loop.setup import Setup
from harness.loop.state import Role, ToolResult, Turn, TurnPart
from harness.loop.stream_response import Reply
from harness.loop.tools import SKIPPED, failure
from harness.response import CostInfo, Response, Text, ToolCall, Usage


class _Over(Exception):
    """The run has come to an end."""

    def __init__(self, ending: Ending, reason: str | None = None, error: ApiError | BaseException | None = None) -> None:
        self.ending = ending
        self.reason = reason
        self.error = error


@dataclass(slots=True, kw_only=True)
class _Open:
    """A turn of the run that has begun and not ended, and what is known of it."""

    index: int
    results: list[ToolResult] = field(default_factory=list)


class Run:
    """`result` is None until the run is over."""

    def __init__(self, setup: Setup) -> None:
        self.result: AgentResult | None = None
        self._setup = setup
        self._spent = Spent(since=setup.clock())
        self._began = len(setup.state)
        self._open: _Open | None = None
        self._interrupt: BaseException | None = None

    async def drive(self, prompts: list[Turn], trigger: Trigger) -> None:
        """From the first event to the last. Raises nothing that a provider, a tool, a hook or a watcher does, but
        `CancelledError`; then `interrupted` is to be called."""
        try:
            await self._begin()
            await self._turns(await self._let_in(prompts), trigger)
        except _Over as over:
            self._end(over.ending, over.reason, over.error)
        except TurnFailed as failed:  # a handler, at a message or at a result
            self._end(Ending.ERROR, str(failed), failed.error)
        except Exception as error:
            self._end(Ending.ERROR, f"{type(error).__name__}: {error}", error)
        else:
            self._end(Ending.DONE)
        await ask(self._setup.hooks.after_run, self.result)

    def interrupted(self, ending: Ending, reason: str | None, error: BaseException | None = None) -> None:
        """End a run that was stopped from outside, unless it had ended before."""
        if self.result is None:
            self._end(ending, reason, error)

    # its turns

    async def _begin(self) -> None:
        if await ask(self._setup.hooks.before_run) is False:
            raise _Over(Ending.STOPPED, "the hook before_run said so")
        await self._tell(RunStartEvent())

    async def _turns(self, pending: list[Turn], trigger: Trigger | None) -> None:
        while trigger is not None:
            called = await self._turn(pending, trigger)
            pending, trigger = await self._next(called)

    async def _next(self, called: bool) -> tuple[list[Turn], Trigger | None]:
        """What the next turn answers, and why there is one; None where there is none."""
        inbox = self._setup.inbox
        steering = await self._heard(inbox.take_steering())
        if steering:
            return steering, Trigger.STEERING
        if called:
            return [], Trigger.TOOLS
        follow_ups = await self._heard(inbox.take_follow_ups())
        return follow_ups, Trigger.FOLLOW_UP if follow_ups else None

    async def _turn(self, pending: list[Turn], trigger: Trigger) -> bool:
        """One turn with its calls; returns whether there were any."""
        await self._may_go_on()
        opened = self._open = _Open(index=self._spent.turns + 1)
        await self._tell(TurnStartEvent(index=opened.index, trigger=trigger))
        for turn in pending:
            await self._submit(turn.role, *turn.parts)
        reply = await self._setup.stream.respond(self._context(), self._setup.config)
        cost = self._cost(reply)
        self._spent.add(_usage(reply), cost)
        if not reply.ok:
            await self._failed(reply, cost)
        await self._carry_out(reply.tool_calls, opened)
        await self._close(reply, cost, opened.results)
        return bool(opened.results)

    async def _may_go_on(self) -> None:
        """Limits are looked at before the hook (U5): one that is reached is told to the model as well, for the next run."""
        hit = self._setup.limits.hit(self._spent, self._setup.clock())
        if hit is not None:
            await self._submit(Role.USER, Text(text=f"[Agent stopped: {hit.says}]"))
            raise _Over(Ending.LIMIT, hit.says)
        if await ask(self._setup.hooks.before_turn, self._spent.turns + 1) is False:
            raise _Over(Ending.STOPPED, "the hook before_turn said so")

    async def _failed(self, reply: Reply, cost: CostInfo | None) -> NoReturn:
        self._answer_rest()
        if reply.cancelled:
            await self._close(reply, cost)
            raise _Over(Ending.CANCELLED, "the turn was cancelled")
        await ask(self._setup.hooks.on_error, reply)
        await self._close(reply, cost)
        raise _Over(Ending.ERROR, reply.error_message, reply.error)

    async def _close(self, reply: Reply, cost: CostInfo | None, results: Sequence[ToolResult] = ()) -> None:
        """The turn is over."""
        index = self._spent.turns
        event = TurnEndEvent(
            index=index,
            parts=reply.turn.parts if reply.ok else (),
            stop=reply.stop,
            usage=_usage(reply),
            cost=cost,
            results=tuple(results),
            error=reply.error_message,
        )
        self._open = None
        await self._tell(event)
        await ask(self._setup.hooks.after_turn, event)

    async def _carry_out(self, calls: Sequence[ToolCall], opened: _Open) -> None:
        """The calls of the turn, batch by batch; what users say in between comes before those that are left (U3)."""
        caller, clock = self._setup.caller, self._setup.clock
        for number, batch in enumerate(caller.batches(calls)):
            if number and self._setup.inbox.steering:
                results = [failure(call, SKIPPED) for call in batch]
            else:
                results = await caller.carry_out(batch, opened.index, lambda: self._setup.limits.left(self._spent, clock()))
            for result in results:
                opened.results.append(result)
                await self._submit(Role.TOOL, result)

    # what goes in

    async def _let_in(self, prompts: list[Turn]) -> list[Turn]:
        """The prompts as the filters let them pass. One that does not ends the run before any provider is called."""
        passed, rejected = await filtered(prompts, self._setup.filters)
        if rejected is not None:
            turn, verdict = rejected
            await self._tell(InputRejectedEvent(parts=turn.parts, reason=verdict.says))
            raise _Over(Ending.REJECTED, verdict.says)
        return passed

    async def _heard(self, turns: list[Turn]) -> list[Turn]:
        """Steering or follow-ups as the filters let them pass; rejected ones are left out, and the run goes on."""
        passed, rejected = await filtered(turns, self._setup.filters)
        if rejected is not None:
            await self._tell(InputRejectedEvent(parts=rejected[0].parts, reason=rejected[1].says))
        return passed

    def _context(self) -> RunContext:
        setup = self._setup
        return RunContext(system=setup.system, turns=setup.state.turns, tools=setup.caller.tools)

    # what goes out

    async def _submit(self, role: Role, *parts: TurnPart) -> None:
        await self._setup.stream.step.submit(self._setup.state, role, *parts)

    def _tell(self, event: Event) -> Awaitable[None]:
        return self._setup.stream.step.emit(event)

    def _cost(self, reply: Reply) -> CostInfo | None:
        response = _response(reply) or Response(usage=_usage(reply))
        return cost_of(response, self._setup.prices, provider=self._setup.stream.name, model=reply.model)

    # its end

    def _end(self, ending: Ending, reason: str | None = None, error: ApiError | BaseException | None = None) -> None:
        """End what is open, and tell that the run is over. Nothing here waits: a run that is stopped ends at once."""
        opened, self._open = self._open, None
        if opened is not None:
            results = (*opened.results, *self._answer_rest())
            self._tell_anyway(TurnEndEvent(index=opened.index, results=results, error=reason))
        self.result = AgentResult(
            ending=ending,
            reason=reason,
            error=error,
            turns=self._setup.state.turns[self._began :],
            usage=self._spent.usage,
            cost=self._spent.cost,
            costs=tuple(self._spent.costs),
        )
        self._tell_anyway(RunEndEvent(result=self.result))
        if self._interrupt is not None:
            raise self._interrupt

    def _answer_rest(self) -> list[ToolResult]:
        """A result for each call in the log that has none: no API takes a conversation that lacks one."""
        left = [cancelled(call) for call in unanswered(self._setup.state.turns[self._began :])]
        for result in left:
            self._tell_anyway(TurnCompleteEvent(role=Role.TOOL, parts=(result,)))
        return left

    def _tell_anyway(self, event: Event) -> None:
        """A watcher that fails keeps a run from nothing that it still has to do; one that means to end the program does so
        afterwards."""
        try:
            self._tell(event)
        except Exception:  # noqa: S110
            pass
        except BaseException as raised:
            self._interrupt = self._interrupt or raised


def _response(reply: Reply) -> Response | None:
    """What the API said, as far as it got."""
    return reply.response or reply.turn.response


def _usage(reply: Reply) -> Usage | None:
    response = _response(reply)
    return reply.usage or (response.usage if response is not None else None)
