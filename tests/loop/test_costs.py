"""What turns cost: prices given, prices maintained by others, and what an API counts where (semantics.md 1.10)."""

from __future__ import annotations

import builtins
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from harness import dialects
from harness.errors import MissingExtraError
from harness.loop.costs import FixedPrices, MaintainedPrices, cost_of
from harness.response import CostInfo, Response, Usage, aggregate_usage

D = Decimal
PRICES = FixedPrices(input_price=D(10), output_price=D(100), cache_read_price=D(1), cache_write_price=D("12.5"), currency="EUR")
MILLION = 1_000_000


def read(dialect: str, **body: Any) -> Usage:
    usage = dialects.dialect(dialect).read(body).usage
    assert usage is not None
    return usage


ANTHROPIC = {
    "usage": {"input_tokens": 100, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 200, "output_tokens": 50}
}
CONVERSE = {"usage": {"inputTokens": 100, "cacheReadInputTokens": 700, "cacheWriteInputTokens": 200, "outputTokens": 50}}
CHAT = {
    "usage": {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 200},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
}
GEMINI = {
    "usageMetadata": {
        "promptTokenCount": 900,
        "toolUsePromptTokenCount": 100,
        "cachedContentTokenCount": 700,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 1050,
    }
}


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic-messages", ANTHROPIC),
        ("bedrock-converse", CONVERSE),
        ("bedrock-invoke", {**ANTHROPIC, "type": "message"}),
        ("openai-chat", CHAT),
        ("gemini", GEMINI),
    ],
)
def test_all_that_was_read_and_written_whatever_the_api_counts_apart(dialect: str, body: dict[str, Any]) -> None:
    usage = read(dialect, **body)
    assert (usage.all_input, usage.all_output, usage.cached_tokens) == (1000, 50, 700)
    assert set(usage.as_dict()) == {
        "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens",
    }  # fmt: skip


@pytest.mark.parametrize("case", [("anthropic-messages", ANTHROPIC), ("bedrock-converse", CONVERSE), ("openai-chat", CHAT)])
def test_the_same_tokens_cost_the_same_through_every_api(case: tuple[str, dict[str, Any]]) -> None:
    dialect, body = case
    cost = PRICES.cost(read(dialect, **body), model="m", provider="p")
    assert cost is not None
    assert cost.input_cost == (100 * D(10) + 700 * D(1) + 200 * D("12.5")) / MILLION
    assert cost.output_cost == 50 * D(100) / MILLION
    assert (cost.input_tokens, cost.cached_tokens, cost.cache_write_tokens, cost.output_tokens) == (1000, 700, 200, 50)
    assert (cost.currency, cost.provider, cost.model, cost.total_tokens) == ("EUR", "p", "m", 1050)


def test_thoughts_are_paid_for_where_the_api_counts_them_apart() -> None:
    cost = PRICES.cost(read("gemini", **GEMINI), model=None, provider=None)
    assert cost is not None
    assert (cost.output_tokens, cost.output_cost) == (50, 50 * D(100) / MILLION)


def test_what_is_cached_never_exceeds_the_input() -> None:
    usage = Usage(input_tokens=100, output_tokens=0, cached_tokens=80, cache_write_tokens=80)
    cost = CostInfo.priced(usage, input_price=D(1), output_price=D(1))
    assert (cost.cached_tokens, cost.cache_write_tokens, cost.input_cost) == (80, 20, D(100) / MILLION)


def test_counts_of_several_turns() -> None:
    one = Usage(input_tokens=1, output_tokens=2, cached_tokens=3, input_apart=3)
    two = Usage(input_tokens=10, total_tokens=7, input_apart=4)
    total = aggregate_usage([one, None, two])
    assert total == Usage(input_tokens=11, output_tokens=2, total_tokens=7, cached_tokens=3)
    assert (total.all_input, total.all_output) == (18, 2)
    assert aggregate_usage([None]) is None


def test_what_the_api_states_is_never_recomputed() -> None:
    stated = CostInfo(total_cost=D("0.007"))
    assert cost_of(Response(cost=stated, usage=Usage(input_tokens=5, output_tokens=5)), PRICES) is stated


@pytest.mark.parametrize("response", [Response(), Response(usage=Usage(input_tokens=1))])
def test_without_prices_or_counts_there_is_no_cost(response: Response) -> None:
    assert cost_of(response, None) is None
    assert cost_of(Response(), PRICES) is None


def test_the_model_that_answered_counts_before_the_one_that_was_asked() -> None:
    usage = Usage(input_tokens=1, output_tokens=1)
    answered = cost_of(Response(model="m-exact", usage=usage), PRICES, model="m")
    asked = cost_of(Response(usage=usage), PRICES, model="m")
    assert (answered and answered.model, asked and asked.model) == ("m-exact", "m")


# the maintained list

WHEN = datetime(2026, 10, 20, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def maintained() -> MaintainedPrices:
    pytest.importorskip("genai_prices")
    return MaintainedPrices(now=lambda: WHEN)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o"),
        ("openai-chat", "gpt-4o-2024-08-06"),
        ("anthropic-messages", "claude-sonnet-4-5"),
        ("bedrock-converse", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("gemini", "gemini-2.5-pro"),
        (None, "gpt-4o"),
    ],
)
def test_maintained_prices(maintained: MaintainedPrices, provider: str | None, model: str) -> None:
    whole = maintained.cost(Usage(input_tokens=1000, output_tokens=100), model=model, provider=provider)
    cached = maintained.cost(Usage(input_tokens=1000, output_tokens=100, cached_tokens=800), model=model, provider=provider)
    apart = maintained.cost(
        Usage(input_tokens=200, output_tokens=100, cached_tokens=800, input_apart=800), model=model, provider=provider
    )
    assert whole is not None
    assert cached is not None
    assert isinstance(whole.total_cost, Decimal)
    assert whole.total_cost == whole.input_cost + whole.output_cost > cached.total_cost > 0
    assert apart == cached
    assert (whole.currency, whole.model, whole.metadata["prices"]) == ("USD", model, "genai-prices")


@pytest.mark.parametrize(
    ("provider", "model"), [("nobody", "gpt-4o"), ("openai", "no-such-model"), ("ollama-chat", "llama3"), ("openai", None)]
)
def test_no_maintained_price_is_no_cost(maintained: MaintainedPrices, provider: str, model: str | None) -> None:
    assert maintained.cost(Usage(input_tokens=1, output_tokens=1), model=model, provider=provider) is None


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(input_tokens=-5, output_tokens=1)])
def test_counts_that_cannot_be_priced_are_no_cost(maintained: MaintainedPrices, usage: Usage) -> None:
    assert maintained.cost(usage, model="gpt-4o", provider="openai") is None


def test_the_package_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "genai_prices":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"streamproof\[prices\]"):
        MaintainedPrices()
