"""A large piece is cut into lines in blocks: nobody can tell."""

from __future__ import annotations

import pytest

from harness import Frame
from harness.framing import blocks
from harness.framing.sse import SSEFramer


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("long", [0, 100_000], ids=["short lines", "a line longer than a block"])
def test_a_large_piece_is_as_good_as_small_ones(eol: str, long: int) -> None:
    events = [f"event: e{n % 3}{eol}data: {n}{'x' * long}{eol}{eol}" for n in range(10)]
    events += [f": remark{eol}data: {n}{eol}data: {'y' * (n % 50)}{eol}{eol}" for n in range(12_000)]
    body = "".join(events).encode()
    assert fed(body, len(body)) == fed(body, 1000)


def fed(body: bytes, size: int) -> tuple[list[Frame], list[object]]:
    framer = SSEFramer()
    frames = [frame for start in range(0, len(body), size) for frame in framer.feed(body[start : start + size])]
    return frames + framer.close(), list(framer.findings)


@pytest.mark.parametrize("size", [0, 1, 128 * 1024, 128 * 1024 + 1, 1_000_003])
def test_blocks_are_the_data(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    pieces = list(blocks(data[:size]))
    assert b"".join(pieces) == data[:size]
    assert max(map(len, pieces)) <= 128 * 1024
