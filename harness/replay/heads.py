"""The header fields of a recorded response, as far as they are true of what is played."""

from __future__ import annotations

from harness.cassette.decoding import is_encoded
from harness.cassette.model import Exchange

_HEAD = 64  # bytes, enough to tell whether a body is encoded


def head_of(exchange: Exchange) -> list[tuple[bytes, bytes]]:
    """The recorded header fields, without those that no longer are true of the body: the transfer coding is undone, and a
    recorder may have undone the content encoding as well."""
    false = {"transfer-encoding"}
    size, encoding = exchange.headers.get("content-length"), exchange.headers.get("content-encoding")
    if size is not None and size.strip() != str(len(exchange.body)) and exchange.ending == "eof":
        false.add("content-length")
    if encoding is not None and not is_encoded(encoding, exchange.body[:_HEAD]):
        false |= {"content-encoding", "content-length"}
    fields = (field for field in exchange.headers.fields if field[0].lower() not in false)
    return [(name.encode("latin-1", "replace"), _value(value)) for name, value in fields]


def _value(text: str) -> bytes:
    """The bytes of a header's value: as recorders read them, one letter for each, unless there are more letters than that."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
