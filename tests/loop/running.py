"""Runs a coroutine in a test: with a deadline, and with an eye on what it leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T], *, deadline: float = 10.0) -> T:
    """What the coroutine returns. Fails the test if it takes longer than `deadline` seconds or leaves a task behind.

    The deadline is for what hangs: no test waits for it.
    """
    return asyncio.run(_watched(coroutine, deadline))


async def _watched(coroutine: Coroutine[Any, Any, T], deadline: float) -> T:
    limit = asyncio.timeout(deadline)
    try:
        async with limit:
            result = await coroutine
    except TimeoutError:
        if limit.expired():
            pytest.fail(f"not done after {deadline} s")
        raise
    if limit.expired():  # and somebody took the cancellation for their own
        pytest.fail(f"not done after {deadline} s")
    left = others()
    if left:
        pytest.fail(f"tasks left behind: {left}")
    return result


def others() -> list[asyncio.Task[Any]]:
    """The tasks that are running beside this one."""
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and not task.done()]


async def rounds(number: int = 5) -> None:
    """Let everything that can go on go on: so many rounds of the event loop, and no time."""
    for _ in range(number):
        await asyncio.sleep(0)
