"""The conversation that a loop works on: turns of parts, append-only (semantics.md 2.1, 4.2 D5, D10, D13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.errors import HarnessError
from harness.request import Image, Role, ToolResult, Turn, TurnPart

__all__ = ["Image", "Role", "State", "StateView", "ToolResult", "Turn", "TurnPart"]


class State:
    """The turns so far. Nothing is ever changed or taken away; `view` gives a derived state that leaves this one alone."""

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._turns: list[Turn] = list(turns)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(self._turns)

    @property
    def base(self) -> State:
        """The state that is stored: this one, unless it is a view."""
        return self

    def append(self, turn: Turn) -> None:
        self._turns.append(turn)

    def view(self, turns: Iterable[Turn]) -> StateView:
        """Another look at this state: other turns to read, the same state to append to (semantics.md X1)."""
        return StateView(self, turns)

    def sealed(self) -> StateView:
        """A view of the same turns for a transform: neither it nor a view of it can be appended to."""
        return StateView(self, self._turns, sealed=True)

    def __iter__(self) -> Iterator[Turn]:
        return iter(tuple(self._turns))

    def __len__(self) -> int:
        return len(self._turns)


class StateView(State):
    """What a transform made of a state."""

    def __init__(self, of: State, turns: Iterable[Turn], *, sealed: bool = False) -> None:
        super().__init__(turns)
        self._base = of.base
        self._above = of if isinstance(of, StateView) else None
        self._sealed: bool = sealed or (isinstance(of, StateView) and of._sealed)

    @property
    def base(self) -> State:
        return self._base

    def append(self, turn: Turn) -> None:
        """Append to this view and to the stored state."""
        if self._sealed:
            hint = "return state.view([*state, turn]); what is to be stored goes through submit or an emitter"
            raise HarnessError("a transform looks at the conversation and does not append to it", hint=hint)
        super().append(turn)
        above = self._base if self._above is None else self._above
        above.append(turn)
