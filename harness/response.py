"""The neutral response: what any native body, streamed or not, says in the same words (product contract, section 3).

Absent text is None, absent calls are an empty list, an unknown count is None and is not zero: on both sides alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from harness import payload
from harness.errors import HarnessError


class FinishReason(StrEnum):
    """Why the model stopped, normalised (semantics.md 4.5)."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"
    CANCELLED = "cancelled"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Visible text, with the citations that point into it as the API sends them."""

    text: str
    annotations: tuple[Any, ...] = ()
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """Thinking: its text (None when only an encrypted form was sent), and what must go back with it unchanged."""

    text: str | None
    signature: str | None = None
    encrypted: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the client is to carry out.

    `arguments` is the text of the arguments, verbatim where the API sends text, compactly encoded where it sends objects.
    `id` is what the API sent; where it sent none, a deterministic `call_<position>`, and `synthetic_id` is set.
    """

    id: str
    name: str
    arguments: str
    kind: str = "function"
    signature: str | None = None
    synthetic_id: bool = False

    def parsed_arguments(self) -> Any:
        """The arguments as a value; an empty text is `{}`. Raises `ValueError` when they are no JSON: they are never
        repaired (semantics.md D4)."""
        return payload.from_text(self.arguments) if self.arguments.strip() else {}

    def shown_arguments(self) -> Any:
        """The arguments as reports show them: the value if they parse, else the text as it is."""
        try:
            return payload.from_text(self.arguments)
        except ValueError:
            return self.arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The model's own refusal, where the API keeps it apart from text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A part that is none of the above (hosted tools, images, audio, code): its kind in the API's words, and its body."""

    kind: str
    raw: Any


Part = Text | Reasoning | ToolCall | Refusal | Other


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the API sends them; None means that it did not say.

    APIs do not agree on what the two main counts include. What they leave out stands in `input_apart` (cache reads and writes
    in Messages and Converse, results of hosted tools in Gemini) and `output_apart` (Gemini's thoughts), so that what is paid
    for is known for all of them: `all_input`, `all_output`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_apart: int | None = field(default=None, compare=False, repr=False)
    output_apart: int | None = field(default=None, compare=False, repr=False)

    @property
    def all_input(self) -> int | None:
        """All tokens that the model read."""
        return None if self.input_tokens is None else self.input_tokens + (self.input_apart or 0)

    @property
    def all_output(self) -> int | None:
        """All tokens that the model wrote, thoughts included."""
        return None if self.output_tokens is None else self.output_tokens + (self.output_apart or 0)

    def totalled(self) -> Usage:
        """The same counts, with the total added up where the API gave both parts and no total (semantics.md D6)."""
        if self.total_tokens is not None or self.input_tokens is None or self.output_tokens is None:
            return self
        return replace(self, total_tokens=self.input_tokens + self.output_tokens)

    def as_dict(self) -> dict[str, int | None]:
        return {name: getattr(self, name) for name in COUNTS}


COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
"""The counts of a `Usage` that are compared and shown (product contract, section 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostInfo:
    """What a turn cost, in decimals of `currency` (semantics.md 1.10).

    Prices are per million tokens; both or neither must be given. Costs that are given are never recomputed. `input_tokens` and
    `output_tokens` are what is paid for: the input with what was read from a cache or written to it, the output with the
    thoughts.
    """

    provider: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    input_cost: Decimal | None = None
    output_cost: Decimal | None = None
    total_cost: Decimal | None = None
    currency: str = "USD"
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    cache_read_price: Decimal | None = None
    cache_write_price: Decimal | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    @classmethod
    def priced(
        cls,
        usage: Usage,
        *,
        input_price: Decimal | None = None,
        output_price: Decimal | None = None,
        cache_read_price: Decimal | None = None,
        cache_write_price: Decimal | None = None,
        provider: str | None = None,
        model: str | None = None,
        currency: str = "USD",
    ) -> CostInfo:
        """The cost of `usage` at these prices per million tokens; cached tokens never count for more than the input.

        What is read from the cache, or written to it, costs what other input does where it has no price of its own. Raises
        `HarnessError` if only one of the two main prices is given.
        """
        if (input_price is None) != (output_price is None):
            raise HarnessError("a cost needs both an input price and an output price", hint="give both, or neither")
        given, answered = usage.all_input, usage.all_output
        cached = _at_most(usage.cached_tokens, given or 0)
        written = _at_most(usage.cache_write_tokens, (given or 0) - (cached or 0))
        input_cost = output_cost = None
        if input_price is not None and given is not None:
            read_at = input_price if cache_read_price is None else cache_read_price
            written_at = input_price if cache_write_price is None else cache_write_price
            read, kept = cached or 0, written or 0
            input_cost = ((given - read - kept) * input_price + read * read_at + kept * written_at) / 1_000_000
        if output_price is not None and answered is not None:
            output_cost = answered * output_price / 1_000_000
        both = input_cost is not None and output_cost is not None
        return cls(
            provider=provider,
            model=model,
            input_tokens=given,
            output_tokens=answered,
            cached_tokens=cached,
            cache_write_tokens=written,
            input_cost=input_cost,
            output_cost=output_cost,
            total_cost=input_cost + output_cost if both else None,  # type: ignore[operator]
            currency=currency,
            input_price=input_price,
            output_price=output_price,
            cache_read_price=cache_read_price,
            cache_write_price=cache_write_price,
        )


def aggregate_costs(costs: Iterable[CostInfo]) -> CostInfo | None:
    """The sum of several turns' costs, or None for none (semantics.md 1.10, rows C52–C56).

    Token counts and costs are summed over the entries that know them (None if none does); identity and currency are the
    first entry's; prices are dropped. Raises `HarnessError` when the currencies differ: they are never summed silently.
    """
    entries = list(costs)
    if not entries:
        return None
    first = entries[0]
    other = next((c.currency for c in entries if c.currency != first.currency), None)
    if other is not None:
        raise HarnessError(
            f"costs in {first.currency} and in {other} cannot be summed", hint="convert them to one currency first"
        )
    return CostInfo(
        provider=first.provider,
        model=first.model,
        input_tokens=_sum(c.input_tokens for c in entries),
        output_tokens=_sum(c.output_tokens for c in entries),
        cached_tokens=_sum(c.cached_tokens for c in entries),
        cache_write_tokens=_sum(c.cache_write_tokens for c in entries),
        input_cost=_sum(c.input_cost for c in entries),
        output_cost=_sum(c.output_cost for c in entries),
        total_cost=_sum(c.total_cost for c in entries),
        currency=first.currency,
        metadata={"aggregated": True, "count": len(entries)},
    )


def aggregate_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of several turns' counts, each over the turns that know it (None if none does); None if no turn knows any."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(**{name: _sum(getattr(usage, name) for usage in known) for name in (*COUNTS, "input_apart", "output_apart")})


def _at_most(count: int | None, most: int) -> int | None:
    return None if count is None else min(count, most)


_N = TypeVar("_N", int, Decimal)


def _sum(values: Iterable[_N | None]) -> _N | None:
    known = [v for v in values if v is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One turn of the model: the normalised view of a native body, which stands in `raw`."""

    id: str | None = None
    model: str | None = None
    parts: tuple[Part, ...] = ()
    finish_reason: FinishReason | None = None
    raw_finish_reason: str | None = None
    usage: Usage | None = None
    cost: CostInfo | None = None
    raw: Any = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str | None:
        """All text, joined; None if the body has no text part at all, `""` if it has an empty one."""
        texts = [p.text for p in self.parts if isinstance(p, Text)]
        return "".join(texts) if texts else None

    @property
    def reasoning(self) -> str | None:
        """All reasoning text, joined; None if there is none."""
        texts = [p.text for p in self.parts if isinstance(p, Reasoning) and p.text]
        return "".join(texts) if texts else None

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [p for p in self.parts if isinstance(p, ToolCall)]

    def as_dict(self) -> dict[str, Any]:
        """The response as `check --json` prints it (product contract, section 5)."""
        calls = [
            {"id": None if c.synthetic_id else c.id, "name": c.name, "arguments": c.shown_arguments()} for c in self.tool_calls
        ]
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "tool_calls": calls,
            "finish_reason": self.raw_finish_reason,
            "usage": self.usage.as_dict() if self.usage else None,
        }
