"""Takes the goodbyes out of what an HTTP/2 client sends.

GOAWAY without an error says that no further request will come; what runs is to be finished (RFC 9113, section 6.8). The AWS
SDK for JavaScript says it as soon as a response begins. h2 holds the connection for closed from there on, hence it must not
hear it.
"""

from __future__ import annotations

_PREFACE = 24  # bytes before the first frame
_HEAD = 9  # bytes: length, type, flags, stream
_GOAWAY = 7


class Goodbyes:
    """`said` is whether the client has said goodbye."""

    def __init__(self) -> None:
        self.said = False
        self._waiting = b""
        self._preface = _PREFACE

    def feed(self, data: bytes) -> bytes:
        """What is to be heard of the next bytes. Of a frame whose end has not come yet nothing is."""
        data = self._waiting + data
        at, self._preface = min(self._preface, len(data)), max(0, self._preface - len(data))
        heard = data[:at]
        while len(data) - at >= _HEAD:
            end = at + _HEAD + int.from_bytes(data[at : at + 3], "big")
            if end > len(data):
                break
            if data[at + 3] == _GOAWAY and not any(data[at + 13 : at + 17]):
                self.said = True
            else:
                heard += data[at:end]
            at = end
        self._waiting = data[at:]
        return heard
