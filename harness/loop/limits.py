"""How far a run may go: checked before each turn, the first limit that is reached ends the run (semantics.md U5, row P39)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from harness.response import CostInfo, Usage, aggregate_costs, aggregate_usage


class Limit(StrEnum):
    TURNS = "turns"
    TOKENS = "tokens"
    TIME = "time"
    COST = "cost"


@dataclass(slots=True, kw_only=True)
class Spent:
    """What a run has used up so far. `since` is when it began, in seconds of the run's clock."""

    since: float
    turns: int = 0
    usages: list[Usage] = field(default_factory=list)
    costs: list[CostInfo] = field(default_factory=list)

    def add(self, usage: Usage | None, cost: CostInfo | None) -> None:
        """Count one turn. What it did not say is not counted: an unknown number of tokens is no number of tokens.

        Raises `HarnessError` if the cost is in another currency than those before it."""
        self.turns += 1
        if cost is not None:
            aggregate_costs([*self.costs[:1], cost])
        if usage is not None:
            self.usages.append(usage)
        if cost is not None:
            self.costs.append(cost)

    @property
    def usage(self) -> Usage | None:
        return aggregate_usage(self.usages)

    @property
    def cost(self) -> CostInfo | None:
        return aggregate_costs(self.costs)

    @property
    def tokens(self) -> int:
        """Everything that was read and written."""
        return sum((usage.all_input or 0) + (usage.all_output or 0) for usage in self.usages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A limit that was reached, and how to say so."""

    limit: Limit
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a run may use; None is no limit. `cost` is in the currency of the prices.

    Turns, tokens and cost are looked at between turns, so that the last turn may go beyond them. Time is kept more strictly:
    a tool that is running when it is over is stopped.
    """

    turns: int | None = 50
    tokens: int | None = 1_000_000
    seconds: float | None = 600.0
    cost: Decimal | None = None

    def hit(self, spent: Spent, now: float) -> Hit | None:
        """The first limit that is reached."""
        if self.turns is not None and spent.turns >= self.turns:
            return Hit(limit=Limit.TURNS, says=f"the limit of {self.turns} turns is reached")
        if self.tokens is not None and spent.tokens >= self.tokens:
            return Hit(limit=Limit.TOKENS, says=f"the limit of {self.tokens} tokens is reached")
        if self.seconds is not None and now - spent.since >= self.seconds:
            return Hit(limit=Limit.TIME, says=f"the limit of {self.seconds:g} s is reached")
        cost = spent.cost if self.cost is not None else None
        if self.cost is not None and cost is not None and cost.total_cost is not None and cost.total_cost >= self.cost:
            return Hit(limit=Limit.COST, says=f"the limit of {self.cost} {cost.currency} is reached")
        return None

    def left(self, spent: Spent, now: float) -> float | None:
        """Seconds until time is over; None where time has no limit."""
        return None if self.seconds is None else max(0.0, spent.since + self.seconds - now)
