"""Which recorded exchange answers which request.

Order is one answer: the first request gets the first exchange. The other is to compare: a request gets the first recording,
among those not played yet, of one that asked for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote

from harness.cassette.model import Exchange, Request
from harness.edits import pointer
from harness.errors import NoRecordingError

Match = Callable[[Request, Request], str | None]
"""Given what is asked and what was recorded, says what is different; None where the one answers the other."""

_CREDENTIALS = frozenset({"key", "api_key", "apikey", "api-key", "access_token", "token", "sig", "signature"})
"""Parameters of a query that a recording has masked."""


def same_request(asked: Request, recorded: Request) -> str | None:
    """What differs between two requests: the method, the path with its query, or the body as a JSON value.

    Hosts, headers and credentials in the query may differ. What was not recorded differs from nothing.
    """
    if asked.method.upper() != recorded.method.upper():
        return f"the method is {recorded.method}"
    if recorded.target and _address(asked.target) != _address(recorded.target):
        return f"the path is {recorded.target}"
    if recorded.body is None or asked.body == recorded.body:
        return None
    if asked.json is None or recorded.json is None:
        return "the body is another one"
    place = _difference(asked.json, recorded.json, ())
    return None if place is None else f"the body differs at {pointer(place) or 'its top'}"


class Shelf:
    """The exchanges of a recording, taken one by one. With `again` they never run out."""

    def __init__(self, exchanges: Sequence[Exchange], match: Match | None, *, again: bool) -> None:
        self._exchanges = tuple(exchanges)
        self._match = match
        self._again = again
        self._left = list(range(len(self._exchanges)))

    def __len__(self) -> int:
        return len(self._left)

    def take(self, asked: Request) -> Exchange:
        """The exchange that answers a request. Raises `NoRecordingError`."""
        found = self._find(asked)
        if found is None and self._again and len(self._left) < len(self._exchanges):
            self._left = list(range(len(self._exchanges)))
            found = self._find(asked)
        if found is None:
            raise self._unanswered(asked)
        return self._exchanges[self._left.pop(found)]

    def _find(self, asked: Request) -> int | None:
        return next((place for place, number in enumerate(self._left) if self._differs(asked, number) is None), None)

    def _differs(self, asked: Request, number: int) -> str | None:
        return None if self._match is None else self._match(asked, self._exchanges[number].request)

    def _unanswered(self, asked: Request) -> NoRecordingError:
        if not self._left:
            message = f"all {len(self._exchanges)} recorded exchanges were played before {asked.method} {asked.target}"
            return NoRecordingError(message, hint="a client that asks more often than it did needs `again=True`")
        reasons = [str(self._differs(asked, number)) for number in self._left]
        told = "; ".join(list(dict.fromkeys(reasons))[:3])
        message = f"no recording answers {asked.method} {asked.target}: of the {len(reasons)} left, {told}"
        return NoRecordingError(message, hint="record it, or leave out `match` to play the exchanges in their order")


def _address(target: str) -> tuple[str, list[tuple[str, str]]]:
    path, _, query = target.partition("?")
    fields = parse_qsl(query, keep_blank_values=True)
    return unquote(path), sorted(field for field in fields if field[0].lower() not in _CREDENTIALS)


def _difference(one: Any, other: Any, place: tuple[str | int, ...]) -> tuple[str | int, ...] | None:
    """The first place where two JSON values differ; the order of fields says nothing, 1 and true are two things."""
    if isinstance(one, dict) and isinstance(other, dict):
        steps: list[Any] = [*one, *(name for name in other if name not in one)]
        odd = next((step for step in steps if step not in one or step not in other), None)
    elif isinstance(one, list) and isinstance(other, list):
        steps = list(range(min(len(one), len(other))))
        odd = len(steps) if len(one) != len(other) else None
    else:
        return None if type(one) is type(other) and one == other else place
    inner = (_difference(one[step], other[step], (*place, step)) for step in steps if step != odd and _both(one, other, step))
    found = next((at for at in inner if at is not None), None)
    return found if found is not None or odd is None else (*place, odd)


def _both(one: Any, other: Any, step: Any) -> bool:
    return isinstance(one, list) or (step in one and step in other)
