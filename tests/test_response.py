"""The neutral response: its views, its calls, and what turns cost (semantics.md 1.10, rows C52–C56)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.response import (
    CostInfo,
    FinishReason,
    Other,
    Reasoning,
    Refusal,
    Response,
    Text,
    ToolCall,
    Usage,
    aggregate_costs,
)

D = Decimal


def call(arguments: str, **more: Any) -> ToolCall:
    return ToolCall(id="c1", name="tide", arguments=arguments, **more)


def test_an_empty_response() -> None:
    empty = Response()
    assert (empty.text, empty.reasoning, empty.tool_calls, empty.usage, empty.finish_reason) == (None, None, [], None, None)
    assert empty.as_dict() == {"text": None, "reasoning": None, "tool_calls": [], "finish_reason": None, "usage": None}


def test_flat_views() -> None:
    one, two = call("{}"), call("{}", synthetic_id=True)
    response = Response(
        parts=(Reasoning(text="hm "), Text(text="a"), one, Refusal(text="no"), Reasoning(text=None), Other(kind="x", raw={}),
               Text(text=""), Reasoning(text="ok"), two, Text(text="b")),
        finish_reason=FinishReason.TOOL_CALLS,
        raw_finish_reason="tool_use",
        usage=Usage(input_tokens=1, reasoning_tokens=0),
    )  # fmt: skip
    assert (response.text, response.reasoning, response.tool_calls) == ("ab", "hm ok", [one, two])
    assert response.as_dict() == {
        "text": "ab",
        "reasoning": "hm ok",
        "tool_calls": [{"id": "c1", "name": "tide", "arguments": {}}, {"id": None, "name": "tide", "arguments": {}}],
        "finish_reason": "tool_use",
        "usage": {
            "input_tokens": 1,
            "output_tokens": None,
            "total_tokens": None,
            "cached_tokens": None,
            "cache_write_tokens": None,
            "reasoning_tokens": 0,
        },
    }


def test_empty_text_is_not_absent_text() -> None:
    assert Response(parts=(Text(text=""),)).text == ""
    assert Response(parts=(Refusal(text="no"),)).text is None
    assert Response(parts=(Reasoning(text=""), Reasoning(text=None))).reasoning is None


def test_the_native_body_does_not_decide_on_equality() -> None:
    assert Response(id="a", raw={"x": 1}) == Response(id="a", raw={"y": 2})
    assert Response(id="a") != Response(id="b")


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"a":1}', {"a": 1}),
        ("", {}),
        (" \n", {}),
        ("[1]", [1]),
        ("null", None),
        ('{"a":"\\ud800"}', {"a": "\ud800"}),
        (' {"a" : 1} ', {"a": 1}),
    ],
)
def test_arguments_that_parse(arguments: str, value: Any) -> None:
    assert call(arguments).parsed_arguments() == value


@pytest.mark.parametrize("arguments", ["{", '{"a":1', "{'a':1}", '{"a":1}{"b":2}', "words", '{"a":"\n"}', "[" * 100_000])
def test_arguments_that_do_not_parse_are_never_repaired(arguments: str) -> None:
    with pytest.raises(ValueError):
        call(arguments).parsed_arguments()
    assert call(arguments).shown_arguments() == arguments


def test_arguments_as_reports_show_them() -> None:
    assert call('{"a":1}').shown_arguments() == {"a": 1}
    assert call("").shown_arguments() == ""


# costs


def test_C52_no_costs_are_no_cost() -> None:
    assert aggregate_costs([]) is None
    assert aggregate_costs(iter(())) is None


def test_C53_costs_are_summed_under_the_first_ones_identity() -> None:
    one = CostInfo(
        provider="openai", model="m-1", input_tokens=10, output_tokens=2, cached_tokens=4, currency="EUR",
        input_cost=D("0.1"), output_cost=D("0.2"), total_cost=D("0.3"), input_price=D(1), output_price=D(2),
        cache_read_price=D(3), metadata={"region": "x"},
    )  # fmt: skip
    two = CostInfo(
        provider="azure", model="m-2", input_tokens=5, output_tokens=1, cached_tokens=0, currency="EUR",
        input_cost=D("0.01"), output_cost=D("0.02"), total_cost=D("0.03"),
    )  # fmt: skip
    assert aggregate_costs([one, two]) == CostInfo(
        provider="openai", model="m-1", input_tokens=15, output_tokens=3, cached_tokens=4, currency="EUR",
        input_cost=D("0.11"), output_cost=D("0.22"), total_cost=D("0.33"), metadata={"aggregated": True, "count": 2},
    )  # fmt: skip


def test_C53_one_cost_is_aggregated_as_well() -> None:
    total = aggregate_costs([CostInfo(provider="p", total_cost=D("0.1"), input_price=D(1))])
    assert total == CostInfo(provider="p", total_cost=D("0.1"), metadata={"aggregated": True, "count": 1})


def test_C53_decimals_stay_exact() -> None:
    total = aggregate_costs([CostInfo(total_cost=D("0.1"))] * 3)
    assert total is not None
    assert str(total.total_cost) == "0.3"


def test_C54_what_nobody_knows_stays_unknown() -> None:
    total = aggregate_costs([CostInfo(input_tokens=1), CostInfo(output_tokens=2)])
    assert total == CostInfo(input_tokens=1, output_tokens=2, metadata={"aggregated": True, "count": 2})


def test_C54_what_some_know_is_the_sum_of_what_is_known() -> None:
    total = aggregate_costs([CostInfo(), CostInfo(total_cost=D(2), cached_tokens=0), CostInfo(total_cost=D(3))])
    assert total is not None
    assert (total.total_cost, total.input_cost, total.cached_tokens) == (D(5), None, 0)


def test_C54_nothing_is_not_zero() -> None:
    assert (CostInfo(input_tokens=1).total_tokens, CostInfo(input_tokens=1, output_tokens=0).total_tokens) == (None, 1)


USAGE = Usage(input_tokens=1000, output_tokens=500, cached_tokens=400)


def test_costs_by_price() -> None:
    cost = CostInfo.priced(USAGE, input_price=D(2), output_price=D(8), cache_read_price=D("0.5"), provider="p", model="m")
    assert (cost.input_cost, cost.output_cost, cost.total_cost) == (D("0.0014"), D("0.004"), D("0.0054"))
    assert (cost.provider, cost.model, cost.currency, cost.input_tokens, cost.cached_tokens) == ("p", "m", "USD", 1000, 400)


def test_cached_tokens_cost_what_others_do_where_they_have_no_price() -> None:
    assert CostInfo.priced(USAGE, input_price=D(2), output_price=D(8)).input_cost == D("0.002")


def test_costs_without_prices_or_counts_are_unknown() -> None:
    assert CostInfo.priced(USAGE).total_cost is None
    assert CostInfo.priced(Usage(), input_price=D(2), output_price=D(8)).total_cost is None
    partly = CostInfo.priced(Usage(input_tokens=1_000_000), input_price=D(2), output_price=D(8))
    assert (partly.input_cost, partly.output_cost, partly.total_cost) == (D(2), None, None)


def test_C55_cached_tokens_are_clamped_to_the_input() -> None:
    cost = CostInfo.priced(
        Usage(input_tokens=100, output_tokens=0, cached_tokens=150), input_price=D(10), output_price=D(1), cache_read_price=D(1)
    )
    assert (cost.cached_tokens, cost.input_cost) == (100, D("0.0001"))


@pytest.mark.parametrize("prices", [{"input_price": D(1)}, {"output_price": D(1)}])
def test_C55_one_price_alone_is_an_error(prices: dict[str, Decimal]) -> None:
    with pytest.raises(HarnessError, match="both an input price and an output price"):
        CostInfo.priced(USAGE, **prices)


def test_C56_currencies_are_never_mixed() -> None:
    with pytest.raises(HarnessError, match="USD and in EUR cannot be summed"):
        aggregate_costs([CostInfo(total_cost=D(1)), CostInfo(total_cost=D(1), currency="EUR")])
    with pytest.raises(HarnessError, match="convert them"):
        aggregate_costs([CostInfo(currency="EUR"), CostInfo(currency="EUR"), CostInfo()])
