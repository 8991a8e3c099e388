"""A token that stops what is running: a turn, a wait between two attempts, a tool (semantics.md 3.7 U6, rows P19 and P31).

asyncio cancels tasks; a token says *that the work is to stop* to whoever holds it, before, while or after tasks are made for
it. It is how we tell a turn that was stopped on purpose from one whose caller was cancelled: the first is a result, the
second an exception that goes up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class Cancel:
    """Belongs to one event loop; from another thread, use the loop's `call_soon_threadsafe(token.cancel)`."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._callbacks: dict[object, Callable[[], object]] = {}
        self._children: WeakSet[Cancel] = WeakSet()

    @property
    def cancelled(self) -> bool:
        return self.reason is not None

    def cancel(self, reason: str = "cancelled") -> None:
        """Stop the work. The first reason counts; asking again changes nothing. Raises what a callback raises, once all
        were called."""
        if self.cancelled:
            return
        self.reason = reason
        callbacks, self._callbacks = list(self._callbacks.values()), {}
        with ExitStack() as all_of_them:  # one that raises keeps none of the others from being called
            for child in list(self._children):
                all_of_them.callback(child.cancel, reason)
            for callback in reversed(callbacks):
                all_of_them.callback(callback)

    def child(self) -> Cancel:
        """A token that is cancelled with this one, and can be cancelled alone."""
        child = Cancel()
        if self.reason is not None:
            child.cancel(self.reason)
        self._children.add(child)
        return child

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have `callback` called when the work is to stop: at once if that is so already. Returns what takes it back."""
        if self.cancelled:
            callback()
            return _nothing_to_forget
        handle = object()
        self._callbacks[handle] = callback

        def forget() -> None:
            self._callbacks.pop(handle, None)

        return forget

    async def wait(self) -> None:
        """Returns when the work is to stop."""
        stopped = asyncio.Event()
        forget = self.on_cancel(stopped.set)
        try:
            await stopped.wait()
        finally:
            forget()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which runs as a task. When the token is cancelled that task is, and `CancelledError` comes
        out once the task has ended; with a token that is cancelled already `work` never begins."""
        task = asyncio.ensure_future(work)
        forget = self.on_cancel(task.cancel)
        try:
            return await task
        finally:
            forget()


def _nothing_to_forget() -> None:
    pass
