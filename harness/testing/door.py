"""The door for an adapter in the test's own process: it is called, and what it says is put in the protocol's words."""

from __future__ import annotations

import inspect
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import anyio
from pydantic import ValidationError

from harness.adapters.process import Answer, Ending
from harness.adapters.protocol import Failure, Said, ToldCall, ToldResponse, ToldUsage
from harness.response import COUNTS, Response
from harness.testing.loopback import alone
from harness.testing.request import Request

GRACE = 1.0
"""Seconds that an adapter has beyond the timeout that it was told."""
_FIELDS = frozenset(ToldResponse.model_fields) | {"raw"}

Observe = Callable[[Request, str], Any]


class NoObservation(TypeError):
    """What `observe` returned says nothing of a turn: a mistake in the test, and none of the adapter."""


class InProcess:
    """Asks `observe`, which may be a coroutine function; `backend` is the event loop that anyio is to run it on."""

    def __init__(self, observe: Observe, cassette: str, fault: str | None, backend: str = "asyncio") -> None:
        self._observe = observe
        self._cassette = cassette
        self._fault = fault
        self._backend = backend
        self.exception: BaseException | None = None
        """What the adapter raised, with its traceback."""

    def run(self, asked: Mapping[str, Any]) -> tuple[Said | None, Answer]:
        """Have it do one turn (`Process.run`). Raises `NoObservation`."""
        told: list[Any] = []
        request = Request.of(asked, self._cassette, self._fault)
        began = time.monotonic()
        with alone() as tried:
            worker = threading.Thread(target=self._call, args=(request, asked["base_url"], told), daemon=True)
            worker.start()
            worker.join(request.timeout + GRACE)
        seconds = time.monotonic() - began
        if worker.is_alive():
            return None, Answer(ending=Ending.HANG, evidence=f"no return within {request.timeout + GRACE:g} s", seconds=seconds)
        said = self._said(asked["id"], told).model_copy(update={"outside": sorted(set(tried))})
        return said, Answer(ending=Ending.REPLY, reply={}, seconds=seconds)

    def _call(self, request: Request, base_url: str, told: list[Any]) -> None:
        try:
            if inspect.iscoroutinefunction(self._observe):
                told.append(anyio.run(self._observe, request, base_url, backend=self._backend))
            else:
                told.append(self._observe(request, base_url))
        except BaseException as error:  # SystemExit too: it is how the turn ended
            self.exception = error

    def _said(self, number: str, told: list[Any]) -> Said:
        error = self.exception
        if isinstance(error, NotImplementedError):
            return Said(id=number, unsupported=str(error) or "observe raises NotImplementedError")
        if error is not None:
            return Said(id=number, error=Failure(type=_name(error), message=str(error)))
        return spoken(number, told[0])

    @property
    def trace(self) -> str:
        """The traceback of what the adapter raised; empty if it raised nothing."""
        error = self.exception
        if error is None or error.__traceback__ is None:
            return ""
        return "".join(traceback.format_exception(type(error), error, error.__traceback__.tb_next))  # without our own frame


def spoken(number: str, told: Any) -> Said:
    """A value that `observe` returned, in the protocol's words. Raises `NoObservation`."""
    if isinstance(told, Response):
        return Said(id=number, response=_of(told))
    if isinstance(told, ToldResponse):
        return Said(id=number, response=told)
    hint = f"return a dict with {', '.join(sorted(_FIELDS))}, or a harness.Response"
    if not isinstance(told, Mapping):
        raise NoObservation(f"observe returned {type(told).__name__}; {hint}")
    if unknown := sorted(map(str, set(told) - _FIELDS)):
        raise NoObservation(f"observe returned a dict with {', '.join(unknown)}; {hint}")
    try:
        response = ToldResponse.model_validate({name: value for name, value in told.items() if name != "raw"})
    except ValidationError as error:
        first = error.errors()[0]
        raise NoObservation(f"observe returned {'.'.join(map(str, first['loc']))}: {first['msg']}; {hint}") from None
    return Said(id=number, response=response, raw=_plain(told.get("raw")))


def _of(response: Response) -> ToldResponse:
    calls = [ToldCall(id=call.id, name=call.name, arguments=call.arguments) for call in response.tool_calls]
    usage = ToldUsage(**{name: getattr(response.usage, name) for name in COUNTS}) if response.usage is not None else None
    return ToldResponse(
        text=response.text,
        reasoning=response.reasoning,
        tool_calls=calls,
        finish_reason=response.raw_finish_reason or (response.finish_reason.value if response.finish_reason else None),
        usage=usage,
    )


def _plain(raw: Any, depth: int = 0) -> Any:
    """Whatever the adapter keeps, as far as facts can be looked for in it."""
    if depth > 12 or raw is None or isinstance(raw, (str, int, float, bool)):
        return raw if depth <= 12 else None
    if isinstance(raw, Mapping):
        return {str(name): _plain(value, depth + 1) for name, value in raw.items()}
    if isinstance(raw, (list, tuple, set, frozenset)):
        return [_plain(value, depth + 1) for value in raw]
    dump = getattr(raw, "model_dump", None)
    return _plain(dump() if callable(dump) else getattr(raw, "__dict__", None), depth + 1)


def _name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"
