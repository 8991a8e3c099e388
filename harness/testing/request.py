"""What an adapter under test is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One turn: `body` is the recorded request in the words of `dialect`; `model` the model that was asked, for APIs that have
    it in their paths. `timeout` is how many seconds the adapter may wait. `cassette` and `fault` say where the test stands."""

    dialect: str
    body: Mapping[str, Any]
    model: str
    timeout: float
    cassette: str
    fault: str | None = None
    stream: bool = True

    @classmethod
    def of(cls, asked: Mapping[str, Any], cassette: str, fault: str | None) -> Request:
        """The request that a message of the process protocol holds."""
        body, timeout = asked["request"], asked["timeout_s"]
        model = body.get("model") or asked.get("model") or "a-model"
        return cls(
            dialect=asked["dialect"],
            body=body,
            model=model,
            timeout=timeout,
            cassette=cassette,
            fault=fault,
            stream=asked["stream"],
        )
