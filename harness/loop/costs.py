"""What a turn cost, in decimals (semantics.md 1.10). We keep no prices of our own: they come from whoever runs the loop, or
from the maintained list of the package `genai-prices` (extra `prices`).

A cost that the API itself states is never recomputed; a model that nobody has a price for has no cost, which is not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Protocol

from harness.errors import MissingExtraError
from harness.response import CostInfo, Response, Usage

_OWN_PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google",
    "bedrock-converse": "aws",
    "bedrock-invoke": "aws",
    "anthropic-messages": "anthropic",
}
"""Who answers where only the API is known. Ollama runs on the user's own machine and has no price."""


class Prices(Protocol):
    """Says what tokens cost."""

    def cost(self, usage: Usage, *, model: str | None, provider: str | None) -> CostInfo | None:
        """The cost of one turn; None where there is no price for it. `provider` is who answered, or the name of the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPrices:
    """Prices per million tokens, the same for every model."""

    input_price: Decimal
    output_price: Decimal
    cache_read_price: Decimal | None = None
    cache_write_price: Decimal | None = None
    currency: str = "USD"

    def cost(self, usage: Usage, *, model: str | None, provider: str | None) -> CostInfo | None:
        return CostInfo.priced(
            usage,
            input_price=self.input_price,
            output_price=self.output_price,
            cache_read_price=self.cache_read_price,
            cache_write_price=self.cache_write_price,
            provider=provider,
            model=model,
            currency=self.currency,
        )


class MaintainedPrices:
    """The prices that `genai-prices` has for a model at a provider, in US dollars; the list is the installed package's.

    `now` gives the time in seconds since the epoch that prices are to be of (they change); without it, the package takes the
    present. Raises `MissingExtraError` where the package is not installed.
    """

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        try:
            import genai_prices
        except ImportError as error:
            raise MissingExtraError(
                "prices of models need the package genai-prices", hint="pip install 'streamproof[prices]'"
            ) from error
        self._package: Any = genai_prices
        self._now = now

    def cost(self, usage: Usage, *, model: str | None, provider: str | None) -> CostInfo | None:
        if not model or usage.all_input is None or usage.all_output is None:
            return None
        unpriced = CostInfo.priced(usage, provider=provider, model=model)
        counts = {
            "input_tokens": usage.all_input,
            "output_tokens": usage.all_output,
            "cache_read_tokens": unpriced.cached_tokens,
            "cache_write_tokens": unpriced.cache_write_tokens,
        }
        at = datetime.fromtimestamp(self._now(), UTC) if self._now is not None else None
        try:
            found = self._package.calc_price(
                self._package.Usage(**counts),
                model,
                provider_id=_OWN_PROVIDERS.get(provider or "", provider),
                genai_request_timestamp=at,
            )
        except (LookupError, ValueError):  # a model or a provider that the list lacks, or counts that contradict each other
            return None
        return _priced(unpriced, found)


def _priced(cost: CostInfo, found: Any) -> CostInfo:
    return CostInfo(
        provider=cost.provider,
        model=cost.model,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        cached_tokens=cost.cached_tokens,
        cache_write_tokens=cost.cache_write_tokens,
        input_cost=found.input_price,
        output_cost=found.output_price,
        total_cost=found.total_price,
        metadata={"prices": "genai-prices", "priced_as": f"{found.provider.id}/{found.model.id}"},
    )


def cost_of(
    response: Response, prices: Prices | None, *, provider: str | None = None, model: str | None = None
) -> CostInfo | None:
    """The cost of a response: what the API itself says, else what `prices` say for its counts; None where nobody says.

    `provider` says who answered, `model` which model was asked, in case the response does not name its own.
    """
    if response.cost is not None:
        return response.cost
    if prices is None or response.usage is None:
        return None
    return prices.cost(response.usage, model=response.model or model, provider=provider)
