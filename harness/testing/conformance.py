"""The class that the author of an adapter makes a subclass of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.testing.request import Request

if TYPE_CHECKING:
    from harness.cassette.model import Cassette
    from harness.testing.session import Case

FAULTS = ("none", "byte-by-byte", "truncated", "error-in-band")


@dataclass(frozen=True, slots=True)
class Known:
    """A deviation that is known: tests of these cassettes and faults (globs, one or several) are expected to fail, and fail if
    they pass."""

    cassettes: str | Sequence[str]
    reason: str
    fault: str | Sequence[str] = "*"

    def covers(self, cassette: str, fault: str | None) -> bool:
        return _any(cassette, self.cassettes) and _any(fault or "none", self.fault)


class ProviderConformance:
    """Asks an adapter for every cassette of its `dialects`, with every fault, one test each.

    `cassettes` are a folder, a file or several of them; none are the shipped ones. `select` are globs of cassette ids. What
    the adapter does not offer is said by flags, and its tests are deselected with that reason. `omits` are facts that it has no
    place for: `finish`, `reasoning`, `id`, `usage`, or a count such as `reasoning_tokens`. `timeout` is in seconds, `backend`
    is `asyncio` or `trio` for an `observe` that is a coroutine function. Reports call the adapter by the name of the class, or
    by `adapter`, and give its `version`.
    """

    dialects: ClassVar[str | Sequence[str]] = ()
    cassettes: ClassVar[str | Path | Sequence[str | Path]] = ()
    select: ClassVar[str | Sequence[str]] = ("*",)
    faults: ClassVar[str | Sequence[str]] = FAULTS
    known: ClassVar[Sequence[Known]] = ()
    omits: ClassVar[str | Sequence[str]] = ()
    timeout: ClassVar[float] = 5.0
    backend: ClassVar[str] = "asyncio"
    adapter: ClassVar[str] = ""
    version: ClassVar[str] = "unknown"

    supports_tools: ClassVar[bool] = True
    supports_parallel_tool_calls: ClassVar[bool] = True
    supports_hosted_tools: ClassVar[bool] = True
    supports_reasoning: ClassVar[bool] = True
    supports_several_choices: ClassVar[bool] = True
    supports_refusals: ClassVar[bool] = True
    supports_http_errors: ClassVar[bool] = True

    def observe(self, request: Request, base_url: str) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """Call the adapter: have it ask the server at `base_url` for `request`, streaming, with its retries switched off.

        Returns what it made of the turn: `text`, `reasoning`, `tool_calls` (each with `id`, `name`, `arguments`),
        `finish_reason` in its own words or the API's, `usage`, and `raw`, whatever else it keeps; or a `harness.Response`. What
        it raises is how the turn failed; `NotImplementedError` says that it cannot be asked this. May be a coroutine function.
        """
        raise NotImplementedError("observe is not written yet")

    def test_turn(self, streamproof_case: Case) -> None:
        """The turn is the one that was sent, or its failure was told."""
        streamproof_case.check(self)

    @classmethod
    def lacks(cls, case: Cassette) -> str | None:
        """Why a cassette is not for this adapter; None if it is."""
        for flag, needs in FLAGS.items():
            if not getattr(cls, flag) and needs(case):
                return f"{flag} is False"
        return None


def _any(name: str, globs: str | Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in ([globs] if isinstance(globs, str) else globs))


def _has(case: Cassette, *features: str) -> bool:
    return any(name.partition(":")[0] in features for name in (*case.features, *case.quirks))


def _calls(case: Cassette) -> int:
    from harness.testing.session import response_of

    response = response_of(case)
    return len(response.tool_calls) if response is not None else 0


def _thinks(case: Cassette) -> bool:
    from harness.testing.session import response_of

    response = response_of(case)
    return response is not None and response.reasoning is not None


FLAGS: dict[str, Callable[[Cassette], bool]] = {
    "supports_tools": lambda case: _calls(case) > 0,
    "supports_parallel_tool_calls": lambda case: _calls(case) > 1,
    "supports_hosted_tools": lambda case: _has(case, "builtin", "server_tool", "code_execution", "grounding", "url_context"),
    "supports_reasoning": _thinks,
    "supports_several_choices": lambda case: _has(case, "multi_choice"),
    "supports_refusals": lambda case: _has(case, "refusal"),
    "supports_http_errors": lambda case: case.stream is not None and case.stream.status >= 400,
}
