"""Reading large documents piece by piece: JSON, YAML, tagged netstrings, and what is put aside meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.importing.json_items import Damaged, Items
from harness.importing.mitmproxy import values
from harness.importing.spool import Spool
from harness.importing.yaml_items import YamlItems
from tests.framing.feeding import cut, every_byte, quick

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def items(data: bytes, path: tuple[str, ...] = ("a", "b"), pieces: list[bytes] | None = None) -> tuple[list[Any], Items]:
    found = Items(pieces or [data], path, 1 << 20)
    return [json.loads(item) for item in found], found


@quick
@given(
    st.lists(VALUES, max_size=4),
    st.dictionaries(st.text(max_size=4).filter(lambda name: name not in "ab"), VALUES, max_size=3),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.lists(st.integers(0, 400), max_size=8),
)
def test_elements_are_what_json_says(wanted: Any, beside: Any, plain: bool, indent: int | None, places: list[int]) -> None:
    """However the document is written and cut."""
    data = json.dumps({**beside, "a": {"x": beside, "b": wanted, "y": 1}, "z": beside}, ensure_ascii=plain, indent=indent)
    encoded = data.encode("utf-8", "surrogatepass")
    for pieces in ([encoded], cut(encoded, places)):
        found, state = items(encoded, pieces=pieces)
        assert found == wanted
        assert state.found
        assert state.beside == {**beside, "x": beside, "y": 1, "z": beside}


def test_one_byte_at_a_time() -> None:
    data = rb' {"q":"\\\"]}{[","a":{"b":[{"c":"}\\"}, 12 ,"x\"y",[[]],null,-1.5e3]},"n":7}'
    found, state = items(data, pieces=every_byte(data))
    assert found == [{"c": "}\\"}, 12, 'x"y', [[]], None, -1500.0]
    assert state.beside == {"q": '\\"]}{[', "n": 7}


@pytest.mark.parametrize("data", [b'{"a":{"c":[1]}}', b"{}", b'{"a":[1]}', b'{"a":{"b":{}}}', b'{"b":[1]}'])
def test_an_array_that_is_not_there(data: bytes) -> None:
    found, state = items(data)
    assert (found, state.found) == ([], False)


@pytest.mark.parametrize(
    "data", [b"", b"[", b"7", b'{"a"', b'{"a":{"b":[1,', b'{"a":{"b":[{"c":"d', b"{]", b'{"a":{"b":[}', b"{1:2}"]
)
def test_a_damaged_document_says_where(data: bytes) -> None:
    with pytest.raises(Damaged, match="at byte"):
        items(data)


def test_a_value_that_is_too_long_is_refused() -> None:
    with pytest.raises(Damaged, match="longer than 1 MiB"):
        items(b"", pieces=[b'{"a":{"b":["', *[b"x" * (1 << 16)] * 64])


@quick
@given(st.lists(VALUES, max_size=4), st.sampled_from([None, True, False]))
def test_yaml_elements_are_what_yaml_says(wanted: Any, flow: bool | None) -> None:
    data = yaml.safe_dump({"b": 1, "interactions": wanted, "version": 1}, default_flow_style=flow, allow_unicode=True)
    reader = YamlItems([data.encode()], "interactions")
    assert list(reader) == yaml.safe_load(data)["interactions"]
    assert (reader.found, reader.beside) == (True, {"b": 1, "version": 1})


def test_yaml_anchors_reach_over_elements() -> None:
    data = b"interactions:\n- &one {a: [1]}\n- *one\n- <<: *one\n  b: 2\n"
    assert list(YamlItems(every_byte(data), "interactions")) == [{"a": [1]}, {"a": [1]}, {"a": [1], "b": 2}]


@pytest.mark.parametrize("data", [b"", b"- 1\n", b"a: 1\n", b"interactions: 3\n", b"text"])
def test_yaml_without_the_list(data: bytes) -> None:
    reader = YamlItems([data], "interactions")
    assert (list(reader), reader.found) == ([], False)


@pytest.mark.parametrize("data", [b"interactions:\n- {a: b\n", b"a: [\n", b"interactions:\n\t- x\n", b"a: \xff\n"])
def test_yaml_that_is_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="is not YAML"):
        list(YamlItems([data], "interactions"))


NETSTRINGS = {
    b"5:hello,": b"hello",
    b"2:\xc3\xa9;": "é",
    b"2:12#": 12,
    b"3:1.5^": 1.5,
    b"4:true!": True,
    b"0:~": None,
    b"8:1:1#1:2#]": [1, 2],
    b"8:1:a;1:2#}": {"a": 2},
    b"0:}": {},
}


def test_netstrings() -> None:
    data = b"".join(NETSTRINGS)
    for pieces in ([data], every_byte(data)):
        assert list(values(pieces)) == list(NETSTRINGS.values())


@pytest.mark.parametrize(
    "data", [b"5:hell", b"5", b"x:", b"1:a?", b"3:9:a,]", b"4:1:a;}", b"2:xx#", b"99999999999:", b"1234567890123", b"-1:a,"]
)
def test_netstrings_that_are_none(data: bytes) -> None:
    with pytest.raises(ValueError):
        list(values([data]))


def test_what_is_put_aside_comes_back() -> None:
    plain = Exchange(request=Request(body=None), chunks=(), status=500, ending="timeout")
    full = Exchange(
        request=Request(method="GET", scheme="http", host="h:1", target="/é?x", headers=Headers([("a", "ÿ")]), body=b"\xff"),
        headers=Headers([("b", "1"), ("b", "2")]),
        chunks=(Chunk(data=b"\x00\xff", at=0.125), Chunk(data=b"x", at=2.5)),
        ending="reset",
        wire="reconstructed",
    )
    with Spool() as spool:
        for exchange in (plain, full, plain):
            spool.add(exchange)
        assert len(spool) == 3
        for number, exchange in enumerate((plain, full, plain)):
            back = spool[number]
            assert (back.chunks, back.status, back.ending, back.wire) == (
                exchange.chunks,
                exchange.status,
                exchange.ending,
                exchange.wire,
            )
            assert back.headers.fields == exchange.headers.fields
            assert back.request.headers.fields == exchange.request.headers.fields
            assert (back.request.body, back.request.target) == (exchange.request.body, exchange.request.target)
