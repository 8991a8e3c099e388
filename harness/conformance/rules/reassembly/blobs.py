"""Laws of signatures, encrypted blobs and other data that a reader has to pass on as it came."""

from __future__ import annotations

from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading, short, signatures_of, strings
from harness.conformance.rules.rule import Breach, Said

BLOBS = Laws("REASM")
_MAPS = "the reassembly maps of wire/*.md"


@BLOBS.law(
    16,
    "signatures and encrypted blobs are the bytes that were streamed, each on its own part",
    kind="reader/signature",
    source=f"{_MAPS}; wire/google-generatecontent.md section 6",
    why="The API refuses a history whose signatures it did not write.",
    bad="two signatures joined into one",
    good="each signature with the part that it came with",
    seen="clients that join texts and everything beside them",
)
def signatures_are_untouched(it: Reading) -> Said:
    told = [signature for signature in it.account.signatures if not signature.alone]
    if it.seen.response is None or not it.account.signatures:
        return None
    known, seen = {signature.value for signature in it.account.signatures}, signatures_of(it.seen)
    foreign = [value for value in seen if value not in known]
    if foreign:
        return [Breach(f"a signature that was never streamed: {short(value)}", None, None, value) for value in foreign]
    lost = [signature.value for signature in told if signature.value not in _anywhere(it, seen)]
    return [Breach(f"a signature is lost: {short(value)}", None, value) for value in lost] or (True if told else None)


@BLOBS.law(
    17,
    "a part that holds only a signature is not dropped",
    kind="reader/signature-lost",
    source="GGL-026; wire/google-generatecontent.md section 6",
    why="The signature of the turn stands in an empty part at the end; without it the next request is refused, or thinks anew.",
    bad='parts without text are filtered out: {"text":"","thoughtSignature":"…"}',
    good="the signature stands on a part of the turn",
    seen="filters for empty parts",
)
def lone_signatures_stay(it: Reading) -> Said:
    alone = [signature.value for signature in it.account.signatures if signature.alone]
    if it.seen.response is None or not alone:
        return None
    kept = _anywhere(it, signatures_of(it.seen))
    lost = [value for value in alone if value not in kept]
    return [Breach(f"a part that held only a signature is gone: {short(value)}", None, value) for value in lost] or True


def _anywhere(it: Reading, signatures: list[str]) -> set[str]:
    """Signatures on parts, and texts of parts that are kept as they came."""
    parts = it.seen.response.parts if it.seen.response is not None else ()
    return {*signatures, *(text for part in parts for text in strings(getattr(part, "raw", None))), *strings(it.seen.body)}


@BLOBS.law(
    26,
    "base64 that comes in fragments is decoded before it is joined",
    kind="reader/base64",
    source="wire/bedrock-converse.md section 6; wire/openai-chat.md section 2 (audio)",
    why="Padding in the middle ends the data there for most decoders: sounds, images and blobs are cut short.",
    bad='"AAA=" + "BBBB"',
    good="b64encode(b64decode(one) + b64decode(other))",
    seen="clients that join strings",
)
def base64_is_joined_by_bytes(it: Reading) -> Said:
    other = it.under(changes.in_small_blobs)
    if other is None:
        return None
    one, two = signatures_of(it.seen), signatures_of(other)
    return True if one == two else Breach("a blob in two padded fragments comes to other bytes", None, one, two)
