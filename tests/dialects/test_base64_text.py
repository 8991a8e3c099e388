"""Base64 in fragments: the bytes are joined, not the letters."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.dialects.base64_text import Base64Text
from harness.edits import METADATA, Edit, Op


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def gathered(fragments: list[str]) -> tuple[str, list[Edit]]:
    text = Base64Text(("audio", "data"), METADATA, "/audio/data")
    edits = [edit for number, fragment in enumerate(fragments) for edit in text.edits(fragment, number)]
    edits += text.close(-1)
    return "".join(edit.value for edit in edits), edits


@settings(deadline=None)
@given(st.lists(st.binary(max_size=7), max_size=8))
def test_the_bytes_are_joined(pieces: list[bytes]) -> None:
    joined, _ = gathered([encoded(piece) for piece in pieces])
    assert joined == encoded(b"".join(pieces))
    assert base64.b64decode(joined, validate=True) == b"".join(pieces)


@pytest.mark.parametrize(
    ("fragments", "joined"),
    [
        ([], ""),
        ([""], ""),
        (["YWJj", "ZGVm"], "YWJjZGVm"),  # whole groups: as they stand
        (["YQ==", "YmM="], "YWJj"),  # a, bc
        (["YQ==", "Yg==", "Yw==", "ZA=="], "YWJjZA=="),
        (["YWI="], "YWI="),
        (["not base64!", "YWJj"], "not base64!YWJj"),  # kept as it stands
        (["YQ==", "?", "Yg=="], "YQ==?Yg=="),  # what waits comes before it
        (["YQ"], "YQ"),  # without padding it is none
        (["é"], "é"),
        (["YQ==\n"], "YQ==\n"),
    ],
)
def test_fragments(fragments: list[str], joined: str) -> None:
    assert gathered(fragments)[0] == joined


def test_edits_say_where_and_when() -> None:
    _, edits = gathered(["YQ==", "YmM="])
    assert [(e.op, e.path, e.target.source, e.frame) for e in edits] == [
        (Op.CONCAT, ("audio", "data"), "/audio/data", 0),
        (Op.CONCAT, ("audio", "data"), "/audio/data", 1),
    ]


def test_no_target_comes_twice() -> None:
    """Otherwise payloads would be taken for repetitions of one another, and fragments joined by their letters."""
    _, edits = gathered([encoded(b"abc")] * 3 + [encoded(b"abcd")] * 2)
    assert len({id(edit.target) for edit in edits}) == len(edits)
