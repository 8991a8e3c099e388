"""The order of events, as a table: which event may come in which state, and which rule is broken by one that may not.

A `Table` is data: rows of (state, symbol, next state, the rule that is broken if this happens). The interpreter below is all
the code there is; the diagrams of the documentation are drawn from the same rows. `ANY` stands for every symbol that a state
does not list; what a state does not mention at all changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.conformance.rules.rule import Breach

ANY = "*"
END = "end of stream"


class Row(NamedTuple):
    """In `state`, `symbol` leads to `next`; `breaks` names the rule that this breaks, `because` says what was expected.

    `kind` is the kind of the finding, where it is not the rule's own.
    """

    state: str
    symbol: str
    next: str
    breaks: str | None = None
    because: str = ""
    kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The order of events of one API, or of one of its parts (a block, an item); the first row's state is the first state.

    `ends` are the symbols that end it. What only an end can break is not judged before one comes.
    """

    name: str
    rows: tuple[Row, ...]
    ends: frozenset[str] = frozenset({END})
    _moves: dict[tuple[str, str], Row] = field(init=False, default_factory=dict)
    _stakes: dict[tuple[str, bool], tuple[str, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            if (row.state, row.symbol) in self._moves:
                raise ValueError(f"the table {self.name} says twice what {row.symbol} does in {row.state}")
            self._moves[row.state, row.symbol] = row
        for state in self.states:
            broken = [row for row in self.rows if row.state == state and row.breaks]
            self._stakes[state, True] = tuple(dict.fromkeys(row.breaks for row in broken if row.breaks))
            early = (row.breaks for row in broken if row.breaks and row.symbol not in self.ends)
            self._stakes[state, False] = tuple(dict.fromkeys(early))

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.state for row in self.rows))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the table judges."""
        return tuple(dict.fromkeys(row.breaks for row in self.rows if row.breaks))

    def move(self, state: str, symbol: str) -> Row | None:
        return self._moves.get((state, symbol)) or self._moves.get((state, ANY))

    def at_stake(self, state: str, symbol: str) -> tuple[str, ...]:
        """The rules that could be broken in this state by something such as `symbol`: an end, or anything before it."""
        return self._stakes.get((state, symbol in self.ends), ())

    def diagram(self) -> Iterator[str]:
        """The lines of a Mermaid state diagram; what breaks a rule is drawn with the rule's id."""
        names = {
            state: f"s{number}" for number, state in enumerate(dict.fromkeys([*self.states, *(r.next for r in self.rows)]))
        }
        yield "stateDiagram-v2"
        yield f"  [*] --> {names[self.rows[0].state]}"
        for state, name in names.items():
            yield f'  state "{state}" as {name}'
        for row in self.rows:
            symbol = "anything else" if row.symbol == ANY else row.symbol
            breaks = f" ✘ {row.breaks}" if row.breaks else ""
            yield f"  {names[row.state]} --> {names[row.next]} : {symbol}{breaks}"


class Machine:
    """Where one stream, or one part of it, is in a table.

    `breach` is told each broken rule with its breach; `holds` each rule that could have been broken by what happened, and was
    not.
    """

    __slots__ = ("_breach", "_holds", "_table", "state")

    def __init__(self, table: Table, holds: Callable[[str], None], breach: Callable[[str, Breach], None]) -> None:
        self._table = table
        self._holds = holds
        self._breach = breach
        self.state = table.rows[0].state

    def step(self, symbol: str, path: str | None = None) -> None:
        """Something happened, at `path` in the payload that is being looked at."""
        row = self._table.move(self.state, symbol)
        broken = row.breaks if row is not None else None
        for rule in self._table.at_stake(self.state, symbol):
            if rule != broken:
                self._holds(rule)
        if row is None:
            return
        if row.breaks is not None:
            self._breach(row.breaks, Breach(row.because, path, kind=row.kind))
        self.state = row.next
