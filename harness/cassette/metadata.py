"""`metadata.streamproof` of a cassette: what vcrpy's format has no place for (product contract, section 6)."""

from __future__ import annotations

import math
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, ValidationError, model_validator

from harness.cassette.model import Cassette, Chunk, Ending, Exchange, Match, PairKind, Provenance, ProvenanceKind, Wire
from harness.errors import CassetteError, Where

Index = Annotated[int, Field(ge=0, strict=True)]
Marks = list[tuple[FiniteFloat, NonNegativeInt]]
"""Of each chunk of a body: when it arrived, in seconds, and where it ends."""


class Origin(BaseModel):
    """`provenance` as it is written."""

    model_config = ConfigDict(extra="forbid")

    kind: ProvenanceKind = "recorded"
    on: date | None = None
    by: str | None = None
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _on_is_a_word(cls, value: Any) -> Any:
        """YAML 1.1 reads a bare `on` as true, and the contract writes it bare."""
        if isinstance(value, dict) and True in value:
            return {"on" if name is True else name: field for name, field in value.items()}
        return value


class Metadata(BaseModel):
    """The block as it is written; the dictionaries have numbers of interactions for keys."""

    model_config = ConfigDict(extra="forbid")

    id: str
    dialect: str
    provider: str = "unknown"
    model: str | None = None
    scenario: str | None = None
    stream: Index | None = None
    reference: Index | None = None
    match: Match = "shape"
    provenance: Origin = Origin()
    pair_kind: PairKind | None = None
    features: list[str] = []
    quirks: list[str] = []
    wire: dict[NonNegativeInt, Wire] = {}
    chunks: dict[NonNegativeInt, Marks] = {}
    ending: dict[NonNegativeInt, Ending] = {}


_SAID_ONLY_IF_SET = ("pair_kind", "features", "quirks", "wire", "chunks", "ending")


def described(cassette: Cassette) -> dict[str, Any]:
    """What the file of a cassette says in its metadata. Raises pydantic's `ValidationError` for what could not be read back."""
    sides = [side for side in (cassette.stream, cassette.reference) if side is not None]
    origin = cassette.provenance
    metadata = Metadata(
        id=cassette.id,
        dialect=cassette.dialect,
        provider=cassette.provider,
        model=cassette.model,
        scenario=cassette.scenario,
        stream=None if cassette.stream is None else 0,
        reference=None if cassette.reference is None else len(sides) - 1,
        match=cassette.match,
        provenance=Origin(kind=origin.kind, on=origin.on, by=origin.by, note=origin.note),  # type: ignore[arg-type]
        pair_kind=cassette.pair_kind,
        features=list(cassette.features),
        quirks=list(cassette.quirks),
        wire={number: side.wire for number, side in enumerate(sides) if side.wire != "original"},
        chunks={number: _marks(side) for number, side in enumerate(sides) if not _came_at_once(side)},
        ending={number: side.ending for number, side in enumerate(sides)},
    )
    said = {name: value for name, value in metadata.model_dump().items() if value or name not in _SAID_ONLY_IF_SET}
    said["provenance"] = {name: value for name, value in said["provenance"].items() if value is not None}
    if "chunks" in said:
        said["chunks"] = {number: list(map(list, marks)) for number, marks in said["chunks"].items()}
    return said


def provenance(origin: Origin) -> Provenance:
    return Provenance(kind=origin.kind, on=origin.on.isoformat() if origin.on else None, by=origin.by, note=origin.note)


def whole(body: bytes) -> tuple[Chunk, ...]:
    """A body of which only the bytes are known: it came at once."""
    return (Chunk(data=body),) if body else ()


def cut(body: bytes, marks: list[tuple[float, int]]) -> tuple[Chunk, ...]:
    """The chunks of a body. Raises `ValueError` if the offsets do not fit it, or a time is none that ever comes."""
    ends = [end for _, end in marks]
    if not all(math.isfinite(at) for at, _ in marks):
        raise ValueError("a time of the chunks is no finite number")
    if ends != sorted(ends) or (ends and ends[0] < 0):
        raise ValueError("the end offsets of the chunks go back")
    if (ends[-1] if ends else 0) != len(body):
        raise ValueError(f"the chunks end at byte {ends[-1] if ends else 0}, the body at byte {len(body)}")
    starts = [0, *ends][: len(ends)]
    return tuple(Chunk(data=body[start:end], at=at) for start, (at, end) in zip(starts, marks, strict=True))


def misfit(error: ValidationError, where: Where, above: str) -> CassetteError:
    """The first thing that the metadata got wrong."""
    first, more = error.errors()[0], error.error_count() - 1
    place = Where(path=above + "".join(f"/{step}" for step in first["loc"])).within(where)
    others = f" (and {more} more)" if more else ""
    return CassetteError(f"{first['msg']}, got {first['input']!r:.80}{others}", where=place)


def _came_at_once(side: Exchange) -> bool:
    return side.chunks == whole(side.body)


def _marks(side: Exchange) -> Marks:
    marks, end = [], 0
    for chunk in side.chunks:
        end += len(chunk.data)
        marks.append((chunk.at, end))
    return marks
