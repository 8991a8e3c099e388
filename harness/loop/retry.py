"""Asking again when a provider fails (semantics.md 3.4, D11, D12).

`RetryPolicy` says whether and when; it is arithmetic and knows no clock. `Retrying` is a provider around a provider: for the
step that runs it, however many attempts are one turn.

A turn is asked for again only as long as nobody has seen anything of it: what was shown cannot be taken back. In buffered mode
nothing is shown until an attempt has ended, so that every failure may be retried, at the price of live events.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import random as _random

from harness.api_error import ApiError, ErrorKind
from harness.errors import HarnessError
from harness.loop.artifacts import Artifact, Emit
from harness.loop.events import NoticeEvent
from harness.loop.provider import Provider, ProviderFailure
from harness.request import TurnRequest

Refresh = Callable[[ApiError], bool | Awaitable[bool]]
"""Renews the credentials after an authentication error; says whether there is any point in asking again."""
Random = Callable[[], float]
Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a failed attempt is followed by another. Delays are in seconds.

    `max_retries` counts the attempts after the first. Without a hint from the server the n-th of them waits
    `initial_delay · multiplier^(n-1)`, at most `max_delay`, times a random factor within `jitter` of 1. A hint is waited for
    exactly, neither capped nor spread; one above `max_retry_after` is a refusal: waiting less would be of no use, and waiting
    a year is no outcome (None: however long it is).
    """

    max_retries: int = 3
    initial_delay: float = 1.0
    multiplier: float = 2.0
    max_delay: float = 30.0
    jitter: float = 0.2
    respect_retry_after: bool = True
    max_retry_after: float | None = 600.0
    buffered: bool = False

    @classmethod
    def none(cls) -> RetryPolicy:
        """One attempt and no other."""
        return cls(max_retries=0)

    def delay(self, retry: int, error: ApiError, random: Random = _random) -> float | None:
        """How long to wait before the `retry`-th retry (from 1); None if the server asks for more patience than we have.
        `random` gives numbers from 0 up to 1."""
        if retry < 1:
            raise HarnessError(f"there is no retry number {retry}", hint="retries count from 1")
        hint = error.retry_after
        if self.respect_retry_after and hint is not None and hint >= 0:
            return hint if self.max_retry_after is None or hint <= self.max_retry_after else None
        return self._backoff(retry) * (1 - self.jitter + 2 * self.jitter * random())

    def _backoff(self, retry: int) -> float:
        try:
            grown = self.initial_delay * self.multiplier ** (retry - 1)
        except OverflowError:
            grown = math.inf
        return min(grown, self.max_delay)


class Retrying:
    """`provider`, asked again as `policy` says.

    `tell` is told of every retry before it is waited for. `refresh` is asked once a turn, after an authentication error; that
    retry follows at once and does not count. `sleep` and `random` are given by who tests. Whatever is no `ProviderFailure` is
    no matter of ours and goes up.
    """

    def __init__(
        self,
        provider: Provider,
        policy: RetryPolicy,
        *,
        tell: Callable[[NoticeEvent], Awaitable[object]],
        refresh: Refresh | None = None,
        sleep: Sleep = asyncio.sleep,
        random: Random = _random,
    ) -> None:
        self.provider = provider
        self.policy = policy
        self._tell = tell
        self._refresh = refresh
        self._sleep = sleep
        self._random = random

    @property
    def name(self) -> str:
        return self.provider.name

    async def invoke(self, request: TurnRequest, emit: Emit) -> None:
        """One turn, in as many attempts as it takes; raises the last `ProviderFailure`."""
        retries, refreshed = 0, False
        while True:
            attempt = _Attempt(emit, buffered=self.policy.buffered)
            try:
                await self.provider.invoke(request, attempt.emit)
            except ProviderFailure as failure:
                again = not attempt.shown and not refreshed and await self._refreshes(failure)
                delay = 0.0 if again else self._wait(failure.error, retries, attempt)
                if delay is None:
                    await attempt.show()
                    raise
                refreshed, retries = refreshed or again, retries + (not again)
                await self._pause(failure.error, retries, delay, refreshed=again)
            else:
                await attempt.show()
                return

    def _wait(self, error: ApiError, retries: int, attempt: _Attempt) -> float | None:
        """How long to wait before another attempt; None: there is none."""
        if attempt.shown or not error.retryable or retries >= self.policy.max_retries:
            return None
        return self.policy.delay(retries + 1, error, self._random)

    async def _refreshes(self, failure: ProviderFailure) -> bool:
        """Whether the credentials are new. If renewing them fails it is still the provider's failure, and that is its cause."""
        if self._refresh is None or failure.error.kind is not ErrorKind.AUTH:
            return False
        try:
            answer = self._refresh(failure.error)
            return bool(await answer if inspect.isawaitable(answer) else answer)
        except Exception as error:
            failure.__cause__ = error
            return False

    async def _pause(self, error: ApiError, retries: int, delay: float, *, refreshed: bool) -> None:
        when = f"in {round(delay, 3):.12g} s" if delay else "at once"
        why = "the credentials were renewed" if refreshed else error.message
        await self._tell(
            NoticeEvent(
                message=f"asking again {when}: {why}",
                attempt=retries,
                max_attempts=self.policy.max_retries,
                delay=delay,
                error=error,
            )
        )
        await asyncio.sleep(0)  # if a watcher of the notice has stopped the turn, it stops here
        if delay:
            await self._sleep(delay)
            await asyncio.sleep(0)  # … or while we waited, on a clock of which asyncio knows nothing


class _Attempt:
    """What one attempt has said: passed on at once, or kept until the attempt has ended."""

    def __init__(self, emit: Emit, *, buffered: bool) -> None:
        self.shown = False
        self.emit: Emit = self._keep if buffered else self._pass
        self._emit = emit
        self._kept: list[Artifact] = []

    def _pass(self, artifact: Artifact) -> Awaitable[None]:
        self.shown = True
        return self._emit(artifact)

    async def _keep(self, artifact: Artifact) -> None:
        self._kept.append(artifact)

    async def show(self) -> None:
        """Pass on what was kept: this is the attempt that counts."""
        for artifact in self._kept:
            await self._emit(artifact)
