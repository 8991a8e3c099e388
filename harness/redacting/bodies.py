"""A body without its secrets: what was sent, as many bytes, cut anywhere.

It is looked at twice. As it stands, quoted or not, JSON or not: that finds what a body holds in one piece, in whatever form and
however damaged. And as its documents say, with escapes undone, base64 unpacked and fragments joined.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.redacting.buffers import Buffer, is_event_stream, with_checksums
from harness.redacting.documents import documents
from harness.redacting.joints import cover_texts
from harness.redacting.looks import Spot, find


def searched(body: bytes, secrets: Iterable[str] = ()) -> Buffer:
    """The body with the places of its secrets."""
    root = Buffer(body)
    secrets = tuple(secrets)
    literals = tuple(secret.encode().decode("latin-1") for secret in secrets)
    found = list(documents(root))
    cover_texts(found, secrets)
    for document in found:
        if len(document.runs) > 1:  # on several lines, between which a secret may lie
            for spot in find(document.data.decode("latin-1"), literals):
                document.buffer.spots += [Spot(*span, spot.kind) for span in document.in_buffer((spot.start, spot.end))]
    for buffer in root.all_buffers:
        buffer.spots += find(buffer.data.decode("latin-1"), literals)
    return root


def redacted_body(body: bytes, secrets: Iterable[str] = ()) -> bytes:
    """The body with placeholders for its secrets; of an event stream the checksums are right where they were."""
    root = searched(body, secrets)
    if not root.all_spots:
        return body
    covered = root.covered()
    return with_checksums(body, covered) if is_event_stream(body) else covered


def spots(body: bytes, secrets: Iterable[str] = ()) -> list[Spot]:
    """The places of the secrets of a body, in order; what lies in another counts once."""
    out: list[Spot] = []
    for spot in sorted(searched(body, secrets).all_spots, key=lambda spot: (spot.start, -spot.end)):
        if not out or spot.start >= out[-1].end:
            out.append(spot)
    return out
