"""The same wire, none of the words: a cassette that may be shown to anybody.

Every text, argument, id, signature and file becomes other letters and digits of the same kind and length. Events, names of
fields, enumerations, models, numbers, nulls, cuts, times, damage and quirks stay, so that whatever a stream does wrong it still
does. What is replaced how stands in `words`, what stays in `policy`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import blake2b

from harness import dialects
from harness.anonymizing.exchanges import anonymized
from harness.anonymizing.texts import Texts
from harness.anonymizing.words import Words
from harness.cassette.model import Cassette, Exchange

_SPELLED = re.compile(rb'"bytes"\s*:\s*\[')


def anonymize(cassette: Cassette, seed: bytes | str) -> Cassette:
    """The cassette in other words, the same ones for the same seed. Who knows the seed but not the cassette learns nothing."""
    api = dialects.dialect(cassette.dialect)
    sides = [side for side in (cassette.stream, cassette.reference) if side is not None]
    narrow = any(_SPELLED.search(side.body) for side in sides)
    texts = Texts(Words(_key(seed, sides), narrow=narrow))
    stream, reference = (
        None if side is None else anonymized(side, api, texts, cassette.model) for side in (cassette.stream, cassette.reference)
    )
    origin = replace(cassette.provenance, kind="anonymized", by="streamproof anonymize", note=None)
    return replace(cassette, stream=stream, reference=reference, provenance=origin)


def _key(seed: bytes | str, sides: list[Exchange]) -> bytes:
    seed = seed.encode() if isinstance(seed, str) else seed
    said = blake2b(blake2b(seed).digest())
    for side in sides:
        said.update(side.request.body or b"")
        said.update(side.body)
    return said.digest()
