"""What a turn raises when it does not come to its end.

`TurnFailed` says at which stage and why; a cancelled turn raises `asyncio.CancelledError` and nothing of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.api_error import ApiError
from harness.errors import HarnessError
from harness.response import Response

if TYPE_CHECKING:
    from harness.loop.events import Stage
    from harness.loop.state import TurnPart


class StepClosedError(HarnessError):
    """Something was asked of a step, or told to a fan-out, that is closed (semantics.md D9)."""

    usual_hint = "a step that was closed stays closed; make another"


class TurnOverError(HarnessError):
    """A provider had something to say after its turn had ended."""

    usual_hint = "a provider emits within `invoke` only, and awaits what it starts there"


class TurnFailed(Exception):
    """A turn that ended with an `ErrorEvent`.

    `error` is what the event says: an `ApiError`, or the exception of a transform, a callback or a handler; the exception
    that was raised stands in `__cause__`. `parts` are what had gathered, `response` is the provider's partial response.
    """

    def __init__(
        self,
        stage: Stage,
        error: ApiError | BaseException,
        *,
        parts: tuple[TurnPart, ...] = (),
        response: Response | None = None,
    ) -> None:
        said = error.message if isinstance(error, ApiError) else f"{type(error).__name__}: {error}"
        super().__init__(f"the turn failed ({stage.value}): {said}")
        self.stage = stage
        self.error = error
        self.parts = parts
        self.response = response
