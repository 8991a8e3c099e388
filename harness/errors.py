"""Every error of the harness, and the place that errors and findings point at.

    HarnessError                     something of ours: it names a place and ends in a hint
    ├── InputError                   what was given cannot be read (exit status 2)
    │   ├── CassetteError            … as a cassette or an exchange folder
    │   ├── KnownError               … as a list of known deviations
    │   └── UnsupportedDialectError  … a dialect that does not exist (also a ValueError)
    ├── MissingExtraError            an optional package is needed for this (exit status 2)
    ├── UnsupportedRequestError      an API has no words for what it is to be asked
    └── NoRecordingError             nothing that was recorded answers a request

What a provider did wrong is never one of these: that is a `Finding` or an `ApiError`, which are data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A place: from a red line in a report to a byte in a cassette.

    `exchange` and `frame` count from 0, `span` is a half-open range of byte offsets in the response body, `path` a JSON
    pointer into the frame's payload, or into the native body where the message says so.
    """

    cassette: str | None = None
    exchange: int | None = None
    frame: int | None = None
    span: tuple[int, int] | None = None
    path: str | None = None

    def within(self, outer: Where) -> Where:
        """The same place, with what only `outer` knows filled in."""
        return replace(
            self,
            cassette=self.cassette if self.cassette is not None else outer.cassette,
            exchange=self.exchange if self.exchange is not None else outer.exchange,
            frame=self.frame if self.frame is not None else outer.frame,
            span=self.span if self.span is not None else outer.span,
            path=self.path if self.path is not None else outer.path,
        )

    def as_dict(self) -> dict[str, Any]:
        """The known coordinates only, ready for JSON."""
        known = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in known.items() if v is not None}

    def __str__(self) -> str:
        parts = [self.cassette] if self.cassette is not None else []
        if self.exchange is not None:
            parts.append(f"exchange {self.exchange}")
        if self.frame is not None:
            parts.append(f"frame {self.frame}")
        if self.span is not None:
            parts.append("bytes {:,}–{:,}".format(*self.span).replace(",", " "))
        if self.path is not None:
            parts.append(self.path or "/")
        return " · ".join(parts)


class HarnessError(Exception):
    """Base of all our errors.

    `message` says what is wrong, `where` names the place in the input, `hint` says what to do next; without one, `usual_hint`
    of the class does.
    """

    usual_hint: ClassVar[str | None] = None

    def __init__(self, message: str, *, where: Where | str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = self.usual_hint if hint is None else hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where is not None and str(self.where) else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class InputError(HarnessError):
    """What was given cannot be read; the command line exits with status 2."""


class CassetteError(InputError):
    """A file or folder is no cassette, or a damaged one."""

    usual_hint = "docs/cassettes.md says what cassettes and exchange folders hold"


class KnownError(InputError):
    """A list of known deviations cannot be read."""


class MissingExtraError(HarnessError):
    """An optional package is needed and not installed."""


class UnsupportedRequestError(HarnessError):
    """An API cannot be asked for this."""


class NoRecordingError(HarnessError):
    """A request was made that no recording answers."""


class UnsupportedDialectError(InputError, ValueError):
    """A dialect that nobody registered (product contract, section 2)."""

    def __init__(self, name: object, supported: Iterable[str]) -> None:
        self.name = name
        self.supported = tuple(supported)
        close = get_close_matches(str(name), self.supported, n=1)
        hint = f"did you mean {close[0]!r}?" if close else None
        super().__init__(f"unsupported dialect {name!r}; supported are {', '.join(self.supported)}", hint=hint)
