"""The token that stops what is running."""

from __future__ import annotations

import asyncio
import gc

import pytest

from harness.loop.cancel import Cancel

from .running import others, rounds, run


def test_the_first_reason_counts_and_callbacks_are_called_once() -> None:
    cancel, called = Cancel(), []
    cancel.on_cancel(lambda: called.append("kept"))
    forget = cancel.on_cancel(lambda: called.append("forgotten"))
    forget()
    forget()
    assert not cancelled(cancel)
    cancel.cancel("enough")
    cancel.cancel("again")
    assert (cancel.reason, called) == ("enough", ["kept"])
    cancel.on_cancel(lambda: called.append("late"))()
    assert called == ["kept", "late"]


def cancelled(cancel: Cancel) -> bool:
    return cancel.cancelled


def test_a_callback_that_raises_stops_nobody_from_stopping() -> None:
    cancel, called = Cancel(), []
    child = cancel.child()

    def broken() -> None:
        raise OSError("broken")

    cancel.on_cancel(lambda: called.append(1))
    cancel.on_cancel(broken)
    cancel.on_cancel(lambda: called.append(2))
    with pytest.raises(OSError, match="broken"):
        cancel.cancel()
    assert (called, child.cancelled) == ([1, 2], True)


def test_children_stop_with_their_parent_and_not_the_other_way_round() -> None:
    parent = Cancel()
    one, two = parent.child(), parent.child()
    one.cancel("timeout")
    assert (parent.cancelled, two.cancelled) == (False, False)
    parent.cancel("user")
    assert (one.reason, two.reason, parent.child().reason) == ("timeout", "user", "user")


def test_children_that_nobody_holds_cost_nothing() -> None:
    parent = Cancel()
    for _ in range(100):
        parent.child()
    gc.collect()
    assert len(parent._children) == 0


def test_work_is_stopped_where_it_waits() -> None:
    async def scene() -> None:
        cancel, ended = Cancel(), []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, cancel.cancel)  # a round later, when the work has begun
        with pytest.raises(asyncio.CancelledError):
            await cancel.run(work())
        assert ended == [True]

    run(scene())


def test_work_that_ends_leaves_nothing_with_the_token() -> None:
    async def scene() -> None:
        cancel = Cancel()

        async def work() -> int:
            return 7

        assert await cancel.run(work()) == 7
        assert not cancel._callbacks
        cancel.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancel.run(work())

    run(scene())


def test_a_caller_who_is_cancelled_takes_the_work_along() -> None:
    async def scene() -> None:
        cancel = Cancel()
        task = asyncio.ensure_future(cancel.run(asyncio.Event().wait()))
        await rounds()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (others(), cancel.cancelled) == ([], False)

    run(scene())


def test_waiting_for_the_token() -> None:
    async def scene() -> None:
        cancel = Cancel()
        asyncio.get_running_loop().call_soon(cancel.cancel)
        await cancel.wait()
        await cancel.wait()

    run(scene())
