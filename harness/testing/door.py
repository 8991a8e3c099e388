"""The door for an adapter in the test's own process: it is called, and what it says is put in the protocol's words."""

from __future__ import annotations

import inspect
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import TracebackType
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from harness.adapters.process import Answer, Ending
from harness.adapters.protocol import Failure, Said, ToldCall, ToldResponse, ToldUsage
from harness.response import COUNTS, Response
from harness.testing.loopback import alone
from harness.testing.request import Request

GRACE = 1.0
"""Seconds that an adapter has beyond the timeout that it was told."""
_FIELDS = (*ToldResponse.model_fields, "raw")
_OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception, pytest.exit.Exception, KeyboardInterrupt)
"""What ends the test, and says nothing of the turn."""
_SLIPS = (AttributeError, LookupError, NameError, TypeError, AssertionError)

Observe = Callable[[Request, str], Any]

debugged = threading.Event()
"""Somebody is looking at a test with a debugger: he may take his time."""


class NoObservation(TypeError):
    """What `observe` did says nothing of a turn: a mistake in the test, and none of the adapter."""


@dataclass(slots=True)
class _Told:
    """What came of one call of `observe`: one that hung may still write to its own when the next is called."""

    value: Any = None
    error: BaseException | None = None


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
        """Have it do one turn (`Process.run`). Raises `NoObservation`, and whatever ends the test itself."""
        told = _Told()
        debugged.clear()
        request = Request.of(asked, self._cassette, self._fault)
        began = time.monotonic()
        with alone() as tried:
            call = (self._call, request, asked["base_url"], told)
            worker = threading.Thread(target=copy_context().run, args=call, name="streamproof observe", daemon=True)
            worker.start()
            worker.join(request.timeout + GRACE)
            if debugged.is_set():
                worker.join()
        seconds = time.monotonic() - began
        if worker.is_alive():
            return None, Answer(ending=Ending.HANG, evidence=f"no return within {request.timeout + GRACE:g} s", seconds=seconds)
        self.exception = told.error
        said = self._said(asked["id"], told).model_copy(update={"outside": sorted(set(tried))})
        return said, Answer(ending=Ending.REPLY, reply={}, seconds=seconds)

    def _call(self, request: Request, base_url: str, told: _Told) -> None:
        try:
            value = self._observe(request, base_url)
            told.value = anyio.run(_awaited, value, backend=self._backend) if inspect.isawaitable(value) else value
        except BaseException as error:  # SystemExit too: it is how the turn ended
            told.error = error

    def _said(self, number: str, told: _Told) -> Said:
        error = told.error
        if isinstance(error, _OUTCOMES):
            raise error
        if isinstance(error, NotImplementedError):
            return Said(id=number, unsupported=str(error) or "observe raises NotImplementedError")
        if error is not None:
            return Said(id=number, error=Failure(type=_name(error), message=str(error)))
        return spoken(number, told.value)

    @property
    def trace(self) -> str:
        """The traceback of what the adapter raised; empty if it raised nothing."""
        error = self.exception
        if error is None or error.__traceback__ is None:
            return ""
        of: TracebackType | None = error.__traceback__
        while of is not None and not _is_of(of.tb_frame.f_code.co_filename, self._observe):
            of = of.tb_next  # without our own frames, and those of the event loop
        return "".join(traceback.format_exception(type(error), error, of or error.__traceback__.tb_next))

    @property
    def slip(self) -> bool:
        """Whether what was raised is a slip in the lines around `observe`, such as reading a count where there is none:
        the adapter did not tell by it that a turn failed."""
        if not isinstance(self.exception, _SLIPS):
            return False
        *_, (frame, _) = traceback.walk_tb(self.exception.__traceback__)
        return _is_of(frame.f_code.co_filename, self._observe)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _is_of(file: str, observe: Observe) -> bool:
    code = getattr(inspect.unwrap(observe), "__code__", None)
    return code is not None and code.co_filename == file


def spoken(number: str, told: Any) -> Said:
    """A value that `observe` returned, in the protocol's words. Raises `NoObservation`."""
    if isinstance(told, Response):
        return Said(id=number, response=_of(told))
    if isinstance(told, ToldResponse):
        return Said(id=number, response=told)
    if not isinstance(told, Mapping):
        hint = f"a dict with {', '.join(_FIELDS)}, or a harness.Response"
        raise NoObservation(f"observe returned {type(told).__name__}; it returns {hint}")
    _strangers("the dict", told, _FIELDS)
    _strangers("usage", told.get("usage"), COUNTS)
    for call in told["tool_calls"] if isinstance(told.get("tool_calls"), list) else ():
        _strangers("a tool call", call, tuple(ToldCall.model_fields))
    try:
        said = {name: _word(value) for name, value in told.items() if name != "raw" and value is not None}
        response = ToldResponse.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        raise NoObservation(f"observe returned {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return Said(id=number, response=response, raw=_plain(told.get("raw")))


def _strangers(what: str, told: Any, known: tuple[str, ...]) -> None:
    """Names that say nothing: what they were meant to tell would be taken for lost."""
    if isinstance(told, Mapping) and (unknown := sorted(map(str, set(told) - {*known}))):
        raise NoObservation(f"observe returned {what} with {', '.join(unknown)}; it has {', '.join(known)}")


def _word(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value


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
    if is_dataclass(raw):
        return {each.name: _plain(getattr(raw, each.name, None), depth + 1) for each in fields(raw)}
    dump = getattr(raw, "model_dump", None)
    return _plain(dump() if callable(dump) else getattr(raw, "__dict__", None), depth + 1)


def _name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"
