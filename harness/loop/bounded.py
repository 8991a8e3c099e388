"""Work that may never end, and that we do not wait for beyond its time: tools.

The first choice is to cancel it. A task that swallows that is left behind and counted; a thread, which nobody can stop, is left
behind without more ado. Either way a tool that never returns costs a run its time limit and nothing more.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from harness.loop.cancel import Cancel

Sleep = Callable[[float], Awaitable[Any]]


class OutOfTimeError(Exception):
    """The time for some work was over before the work was."""


class Bounds:
    """Keeps work within its time. `grace` is how long, in seconds, work that was cancelled may take to end."""

    def __init__(self, sleep: Sleep, grace: float) -> None:
        self._sleep = sleep
        self._grace = grace
        self._left: set[asyncio.Future[Any]] = set()

    @property
    def abandoned(self) -> int:
        """How much of what was left behind is still running."""
        return len(self._left)

    async def run(self, work: Coroutine[Any, Any, Any], cancel: Cancel, seconds: float | None) -> Any:
        """What `work` returns, or raises. Raises `OutOfTimeError` after `seconds`, with `cancel` set; if the caller is
        cancelled, so is the work."""
        task = asyncio.ensure_future(work)
        watch = None if seconds is None else asyncio.ensure_future(_slept(self._sleep, seconds))
        why = "cancelled"
        try:
            await asyncio.wait({task} if watch is None else {task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                why = "timed out"
                raise OutOfTimeError
        finally:
            if watch is not None:
                watch.cancel()
            if task.done():
                self._ended(task)
            else:
                cancel.cancel(why)
                await self._end(task)
        if task.cancelled():  # nobody asked for that
            raise RuntimeError("it cancelled itself")
        return task.result()

    async def _end(self, task: asyncio.Future[Any]) -> None:
        """Have the task end, or leave it behind."""
        task.cancel()
        grace = asyncio.ensure_future(_slept(self._sleep, self._grace))
        try:
            await asyncio.wait({task, grace}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            grace.cancel()
            self._left.add(task)
            if task.done():
                self._ended(task)
            else:
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told of an error that nobody waits for


async def _slept(sleep: Sleep, seconds: float) -> None:
    await sleep(seconds)


async def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns: a coroutine function's in this loop, any other's in a thread that does not keep the
    program from ending. Neither can end the program: what is no `Exception` comes out as a `RuntimeError`, but for an interrupt
    of the user's that happens to come while the loop is here."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        return await _harmless(function(*arguments))
    value = await _in_thread(function, *arguments)
    return await _harmless(value) if inspect.isawaitable(value) else value


async def _harmless(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise _tamed(error) from error


def _tamed(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[tuple[Any, Exception | None]] = loop.create_future()

    def settle(value: Any, error: Exception | None) -> None:
        if not outcome.done():
            outcome.set_result((value, error))

    def work() -> None:
        value: Any = None
        raised: Exception | None = None
        try:
            value = function(*arguments)
        except BaseException as error:  # it ends this thread, and not the program
            raised = _tamed(error)
        with suppress(RuntimeError):  # the loop has ended long ago
            loop.call_soon_threadsafe(settle, value, raised)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True, name="streamproof-tool").start()
    value, error = await outcome
    if error is not None:
        raise error
    return value
