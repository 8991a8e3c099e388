"""Which recorded exchange answers which request.

Order is one answer: the first request gets the first exchange. The other is to compare: a request gets the first recording,
among those not played yet, of one that asked for the same. Recordings are looked up by a digest of what they were asked, so
that a thousand of them cost no more than one. Their secrets are covered: a request that is found nowhere is looked up once
more with its own secrets covered.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

from harness.cassette.model import Exchange, Request
from harness.edits import pointer
from harness.errors import NoRecordingError
from harness.redacting import redacted_request
from harness.redacting.exchanges import is_secret_parameter

Match = Callable[[Request, Request], str | None]
"""Given what is asked and what was recorded, says what is different; None where the one answers the other."""


def same_request(asked: Request, recorded: Request) -> str | None:
    """What differs between two requests: the method, the path with its query, or the body as a JSON value.

    Hosts, headers and credentials in the query may differ, and what is covered in the recording because it is secret. What was
    not recorded differs from nothing.
    """
    differs = _differs(asked, recorded)
    if differs is None or (recorded.body is None and not recorded.target):
        return differs
    return None if _differs(redacted_request(asked), recorded) is None else differs


def _differs(asked: Request, recorded: Request) -> str | None:
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
        self._left: _Left = Index(self._exchanges) if match is same_request else _Listed(self._exchanges, match)

    def __len__(self) -> int:
        return len(self._left)

    def take(self, asked: Request) -> Exchange:
        """The exchange that answers a request. Raises `NoRecordingError`."""
        found = self._left.take(asked)
        if found is None and self._again and len(self._left) < len(self._exchanges):
            self._left.refill()
            found = self._left.take(asked)
        if found is None:
            raise self._unanswered(asked)
        return self._exchanges[found]

    def _unanswered(self, asked: Request) -> NoRecordingError:
        numbers = list(self._left)
        if not numbers:
            message = f"all {len(self._exchanges)} recorded exchanges were played before {asked.method} {asked.target}"
            return NoRecordingError(message, hint="a client that asks more often than it did needs `again=True`")
        reasons = [str(self._match and self._match(asked, self._exchanges[number].request)) for number in numbers]
        told = "; ".join(list(dict.fromkeys(reasons))[:3])
        message = f"no recording answers {asked.method} {asked.target}: of the {len(reasons)} left, {told}"
        return NoRecordingError(message, hint="record it, or leave out `match` to play the exchanges in their order")


class _Left(Protocol):
    """The numbers of the exchanges that were not played yet."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...

    def take(self, asked: Request) -> int | None:
        """The first that answers a request, which is not left any more then."""

    def refill(self) -> None:
        """All are left again."""


class _Listed:
    """Asks each recording that is left, in order: for comparisons of which nothing is known."""

    def __init__(self, exchanges: Sequence[Exchange], match: Match | None) -> None:
        self._exchanges = exchanges
        self._match = match
        self._numbers: dict[int, None] = {}
        self.refill()

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def take(self, asked: Request) -> int | None:
        match = self._match
        found = next((n for n in self._numbers if match is None or match(asked, self._exchanges[n].request) is None), None)
        if found is not None:
            del self._numbers[found]
        return found

    def refill(self) -> None:
        self._numbers = dict.fromkeys(range(len(self._exchanges)))


class Index:
    """Knows of each recording what it answers (`same_request`). Recordings are named by their numbers."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._keys = [_key(exchange.request) for exchange in exchanges]
        self._numbers: dict[Hashable, deque[int]] = {}
        self._count = 0
        self.refill()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(number for numbers in self._numbers.values() for number in numbers))

    def take(self, asked: Request) -> int | None:
        found = self._found(asked)
        if found is None:
            return None
        self._count -= 1
        return self._numbers[found].popleft()

    def look(self, asked: Request, *, covering: bool = True) -> int | None:
        """The first that answers a request; it stays. `covering`: the request's own secrets may be covered to find it."""
        found = self._found(asked) if covering else self._first(asked)
        return self._numbers[found][0] if found is not None else None

    def _found(self, asked: Request) -> Hashable | None:
        found = self._first(asked)
        return self._first(redacted_request(asked)) if found is None else found

    def _first(self, asked: Request) -> Hashable | None:
        """The key of the first recording that answers a request."""
        method, address, digest = _key(asked)
        wide = {(method, a, d) for a in (address, None) for d in (digest, None)}
        return min((key for key in wide if self._numbers.get(key)), key=lambda key: self._numbers[key][0], default=None)

    def refill(self) -> None:
        self._numbers = defaultdict(deque)
        for number, key in enumerate(self._keys):
            self._numbers[key].append(number)
        self._count = len(self._keys)


def _key(request: Request) -> tuple[str, Hashable, bytes | None]:
    """What a request asks for; None for what is not known of it."""
    return request.method.upper(), _address(request.target) if request.target else None, _digest(request)


def _digest(request: Request) -> bytes | None:
    """A digest of the body as a JSON value, in which the order of fields says nothing."""
    if request.body is None:
        return None
    try:
        data = request.body if request.json is None else json.dumps(request.json, sort_keys=True).encode()
    except (RecursionError, TypeError):
        data = request.body
    return sha256(data).digest()


def _address(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    path, _, query = target.partition("?")
    fields = parse_qsl(query, keep_blank_values=True)
    return unquote(path), tuple(sorted(field for field in fields if not is_secret_parameter(field[0])))


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
