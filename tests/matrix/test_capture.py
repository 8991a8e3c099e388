"""What reaches a client is what was recorded: the same bytes, cut at the same places. Listened to on the wire itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import cassette as cassettes
from harness.adapters import environments, subjects
from harness.adapters.process import Process
from harness.conformance.verdict import Grade
from harness.matrix import Bench, Cell
from harness.serving import serving

CASE = cassettes.load_one(cassettes.shipped() / "openai-chat/llamacpp/parallel-tool-calls.yaml")
_TCP, _IPV4 = 6, 4


@contextmanager
def listening(port: int) -> Iterator[list[bytes]]:
    """What the server at a port of loopback sends, one entry for each segment that carries data, in the order of the stream."""
    try:
        ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    except (AttributeError, PermissionError) as error:
        pytest.skip(f"packets cannot be listened to: {error}")
    heard: dict[int, bytes] = {}
    said: list[bytes] = []
    over = threading.Event()
    ear.bind(("lo", 0))
    ear.settimeout(0.2)

    def listen() -> None:
        while not over.is_set():
            try:
                packet = ear.recv(1 << 17)[14:]  # after the Ethernet head
            except TimeoutError:
                continue
            if packet[0] >> 4 != _IPV4 or packet[9] != _TCP:
                continue
            size = (packet[0] & 15) * 4
            segment = packet[size : int.from_bytes(packet[2:4], "big")]
            data = segment[(segment[12] >> 4) * 4 :]
            if int.from_bytes(segment[:2], "big") == port and data:
                heard[int.from_bytes(segment[4:8], "big")] = data  # loopback shows each packet twice

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield said
    finally:
        over.set()
        thread.join()
        ear.close()
        said += [heard[number] for number in sorted(heard)]


def test_a_client_gets_the_bytes_and_the_boundaries_of_the_recording() -> None:
    subject = subjects.load()["ours"]
    process = Process(environments.command(subject, Path()), about={"name": "ours"})
    with serving([CASE]) as server:
        process.describe()
        port = int(server.url.rpartition(":")[2])
        with listening(port) as segments:
            verdict = Bench([CASE], server).verdict(Cell(subject="ours", cassette=CASE.id), process)
    process.close()
    assert verdict.grade is Grade.PASS
    assert CASE.stream is not None
    wire = [chunk.data for chunk in CASE.stream.chunks]
    bodies = [
        segment.split(b"\r\n", 1)[1][: int(segment.split(b"\r\n", 1)[0], 16)] for segment in segments if _is_chunk(segment)
    ]
    assert bodies == wire
    assert len(wire) > 5


def _is_chunk(segment: bytes) -> bool:
    """Whether a segment is a chunk of a body: a size in hexadecimal digits, and the data."""
    size, mark, _ = segment.partition(b"\r\n")
    return bool(mark) and size not in (b"", b"0") and all(letter in b"0123456789abcdefABCDEF" for letter in size)
