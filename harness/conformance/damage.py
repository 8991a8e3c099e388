"""What became of the bytes of an exchange after they were sent: a recording that was cut off, or changed by whoever kept it, is
no misbehaving server.

What can be told from the bytes: how the connection ended; a body that is shorter or longer than `content-length` says; a body
that is plain though its headers name an encoding; binary data that was saved as text, so that U+FFFD stands where no text was.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.cassette.decoding import is_encoded
from harness.cassette.model import Exchange
from harness.conformance.rules.rule import Blame
from harness.errors import Where
from harness.findings import Finding

_LOST = "\ufffd".encode()  # what editors and libraries write for bytes that are no text
_MANGLED_GZIP = (b"\x1f" + _LOST, b"\x1f\xc2\x8b")  # 1F 8B as UTF-8 with a replacement, or through Latin-1
_HEAD = 16  # bytes that encodings are told by


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """`findings` say what is known of it; `cut` who ended the body before its end, if not the server; `altered` whether what is
    wrong in it was done to it later."""

    findings: tuple[Finding, ...] = ()
    cut: Blame | None = None
    altered: bool = False


def damage(exchange: Exchange, framing: str, *, suspect: bool) -> Damage:
    """What the bytes tell of what was done to an exchange after its server sent it. Of a body that is not `suspect`, since
    nothing is wrong with its frames, only length and headers are looked at."""
    head = b"".join(chunk.data[:_HEAD] for chunk in exchange.chunks[:_HEAD])[:_HEAD]
    text = _text(exchange, framing, head) if suspect else None
    length = _length(exchange, head) if text is None else None
    found = [said for said in (_decoded(exchange, head), text, length) if said is not None]
    cut = Blame.NETWORK if exchange.ending != "eof" else None
    if length is not None and length.got < length.expected:
        cut = Blame.RECORDING
    return Damage(findings=tuple(found), cut=cut, altered=text is not None)


def _decoded(exchange: Exchange, head: bytes) -> Finding | None:
    encoding = _encoding(exchange)
    if not head or encoding is None or is_encoded(encoding, head) or head.startswith(_MANGLED_GZIP):
        return None
    message = f"the headers say {encoding}, and the body is not encoded: whoever recorded it kept the header of what it decoded"
    return Finding(kind="recording/decoded", message=message)


def _length(exchange: Exchange, head: bytes) -> Finding | None:
    """Of a body that was decoded the length is another one by right, and so it is of one that broke off."""
    said = exchange.headers.get("content-length", "")
    encoding = _encoding(exchange)
    if not said.isdecimal() or exchange.ending != "eof" or (encoding is not None and not is_encoded(encoding, head)):
        return None
    expected, got = int(said), sum(len(chunk.data) for chunk in exchange.chunks)
    if expected == got:
        return None
    what = "some of it was lost, or it was written anew" if got < expected else "it was written anew"
    message = f"content-length says {expected} bytes and the body has {got}: {what} by whoever kept it"
    return Finding(kind="recording/length", message=message, expected=expected, got=got)


def _text(exchange: Exchange, framing: str, head: bytes) -> Finding | None:
    """An event stream has binary lengths and checksums in each frame: a whole one that is valid UTF-8 is hardly possible."""
    if head.startswith(_MANGLED_GZIP):
        what = "gzip data"
    elif framing == "event-stream" and _LOST in exchange.body and _is_text(exchange.body):
        what = "an event stream"
    else:
        return None
    at = max(exchange.body.find(_LOST), 0)
    message = f"the body was {what} and has been saved as text: bytes that are no text became U+FFFD, and are lost"
    return Finding(kind="recording/text", message=message, where=Where(span=(at, at + len(_LOST))))


def _encoding(exchange: Exchange) -> str | None:
    name = exchange.headers.get("content-encoding", "").strip().lower()
    return None if name in ("", "identity") else name


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
