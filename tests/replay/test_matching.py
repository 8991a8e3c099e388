"""Which recording answers: looked up by digest, with the same answer as comparing one by one, and as fast among a thousand."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.errors import NoRecordingError
from harness.redacting import redacted, redacted_request
from harness.replay.matching import Index, Shelf, same_request
from tests.chat import encoded
from tests.exchanges import CHAT, exchange
from tests.framing.feeding import quick

VALUES = st.sampled_from(
    [None, b"", b"null", b"no JSON", b'{"a":1,"b":2}', b'{"b":2,"a":1}', b'{"a":1.0}', b'{"a":true}', b'{"a":1}']
)
REQUESTS = st.builds(
    Request,
    method=st.sampled_from(["POST", "post", "GET"]),
    target=st.sampled_from(["", "/a", "/a?x=1&y=2", "/a?y=2&x=1", "/a?key=1", "/%61"]),
    body=VALUES,
)


@quick
@given(st.lists(REQUESTS, max_size=8), st.lists(REQUESTS.filter(lambda request: request.target), max_size=8))
def test_the_index_answers_as_the_comparison_does(recorded: list[Request], asked: list[Request]) -> None:
    exchanges = [Exchange(request=request) for request in recorded]
    indexed = Shelf(exchanges, same_request, again=False)
    listed = Shelf(exchanges, partial(same_request), again=False)
    for request in asked:
        assert taken(indexed, request) is taken(listed, request)
        assert len(indexed) == len(listed)


def taken(shelf: Shelf, request: Request) -> Exchange | None:
    try:
        return shelf.take(request)
    except NoRecordingError:
        return None


def test_a_request_whose_secrets_were_covered() -> None:
    """The program asks as it did, with its secrets, and the recording has them no more."""
    body = encoded({"user": "keeper", "messages": [{"content": "mail harbour@tide.example"}]})
    asked = Request(target=f"{CHAT}?sig=abc", headers=Headers({"authorization": "Bearer t1de"}), body=body)
    recorded = redacted(Exchange(request=asked))
    assert b"keeper" not in (recorded.request.body or b"")
    assert Shelf([recorded], same_request, again=False).take(asked) is recorded
    assert same_request(asked, recorded.request) is None
    assert same_request(replace(asked, body=b'{"user":"keeper"}'), recorded.request) is not None


def test_the_first_of_several_and_again() -> None:
    first, second = exchange(b"1"), exchange(b"2")
    shelf = Shelf([first, second], same_request, again=True)
    assert [shelf.take(first.request) for _ in range(3)] == [first, second, first]


def per_exchange(count: int, rounds: int) -> float:
    """Seconds for one exchange of a recording of so many."""
    body: dict[str, Any] = {"model": "tide-1", "messages": [{"role": "user", "content": "when is the tide high? " * 40}]}
    exchanges = [
        Exchange(request=Request(target=CHAT, body=encoded({**body, "seed": number})), chunks=(Chunk(data=b"{}"),))
        for number in range(count)
    ]
    asked = [replace(each.request) for each in exchanges]
    best = float("inf")
    for _ in range(rounds):
        shelf = Shelf(exchanges, same_request, again=True)
        before = time.perf_counter()
        for request in reversed(asked):
            shelf.take(request)
        best = min(best, (time.perf_counter() - before) / count)
    return best


def test_a_thousand_cost_no_more_than_one() -> None:
    """By the best of several: what else the machine does is no cost of ours."""
    many, one = (min(per_exchange(*sizes) for _ in range(5)) for sizes in ((1000, 3), (1, 300)))
    assert many < 2 * one


def test_looking_leaves_a_recording_where_it_is() -> None:
    index = Index([Exchange(request=Request(target="/a", body=b'{"k": 1}'))])
    asked = Request(target="/a", body=b'{"k":1}')
    assert [index.look(asked), index.look(asked), index.take(asked), index.look(asked)] == [0, 0, 0, None]


def test_looking_may_pass_over_secrets() -> None:
    asked = Request(target="/a", body=b'{"key": "sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCDEF"}')
    index = Index([Exchange(request=redacted_request(asked))])
    assert (index.look(asked), index.look(asked, covering=False)) == (0, None)
