"""What a vendor's SDK gives of a turn, in one form for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.response import Response


@dataclass
class Said:
    """One turn. Pieces are simply joined: no SDK's own accumulator is trusted.

    `usage` is what the SDK gives of it, `counts` the tokens in and out; `others` is everything else that it gives.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    finish: str | None = None
    usage: Any = None
    counts: tuple[int | None, int | None] = (None, None)
    others: list[Any] = field(default_factory=list)

    @property
    def flat(self) -> tuple[Any, ...]:
        """What can be compared with a response of ours."""
        return self.text, self.reasoning, self.calls, self.finish


def flat(response: Response | None) -> tuple[Any, ...]:
    assert response is not None
    calls = [(call.name, call.shown_arguments()) for call in response.tool_calls]
    return response.text or "", response.reasoning or "", calls, response.raw_finish_reason
