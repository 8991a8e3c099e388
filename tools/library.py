"""Makes the anonymized cassettes: `python tools/library.py CORPUS CASSETTES [TAKEN]`.

CORPUS is a folder of other people's recordings with a manifest that says what each one shows. As few of them are taken as show
everything that any of them shows (each feature and each quirk on each API, each provider, a stream with its twin), and then
one of each model. They become cassettes in other words (`harness.anonymizing`), named by what they show. TAKEN is a folder of
cassettes whose names are not used again. Run it again and the same files come out.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from harness import cassette as cassettes
from harness.anonymizing import anonymize
from harness.cassette.folders import MANIFEST
from harness.cassette.model import Cassette, Chunk, Exchange, Provenance

SEED = "streamproof"
NOTE = "a recording of another project's tests in other words; the wire is as it was{wire}"
REBUILT = ", but for its framing, which was not kept and is rebuilt"
LARGEST = 12_000  # bytes of a recording that is taken for its model's sake only
OVERHEAD = 3_000  # bytes of a file that say nothing new: what is preferred to a smaller recording must show more

BASES = (
    ("error", lambda shown: any(item.startswith(("status:", "http_error", "mid_stream_error")) for item in shown)),
    ("parallel-tool-calls", lambda shown: "parallel_tool_calls" in shown),
    ("tool-call", lambda shown: bool(shown & {"tool_calls", "finish:tool_use", "item:function_call", "block:tool_use"})),
    ("reasoning", lambda shown: bool(shown & {"reasoning", "thought_signature", "item:reasoning", "block:thinking"})),
    ("structured", lambda shown: bool(shown & {"req:structured_output", "req:json_mode"})),
)
"""What a turn is first of all, if it is more than a text."""

UNKNOWN = "not-recorded"

_INVENTED = re.compile(r"nonexistent|definitely|no-such|not-a-|invalid-model|^nope$")
_BLANK = re.compile(r"<(\w+)>")
_FILLED = {"AWS_REGION": "us-east-1", "GOOGLE_CLOUD_PROJECT": "project-1", "GOOGLE_CLOUD_LOCATION": "us-central1"}
_LOCAL = re.compile(r"local.*|.*workers\.dev")
_DATE = re.compile(rb'"(?:created_at|createTime|created)"\s*:\s*"?(\d{4}-\d\d-\d\d|1[5-9]\d{8})')
_RESET = re.compile(r"\d{4}-\d\d-\d\d(?=T)")


class Recording:
    """A case of the corpus, and what the manifest says of its sides."""

    def __init__(self, case: Cassette, rows: Sequence[dict[str, Any]]) -> None:
        self.case = case
        self.sides = [side for side in (case.stream, case.reference) if side is not None]
        self.features = sorted({feature for row in rows for feature in row["features"]})
        self.quirks = sorted({quirk for row in rows for quirk in row["quirks"]})
        self.provider = _LOCAL.sub("local", case.provider)
        self.size = sum(len(side.body) + len(side.request.body or b"") for side in self.sides)

    @cached_property
    def shown(self) -> frozenset[tuple[str, str]]:
        """What the recording shows of its API."""
        shown = [*self.features, *self.quirks, f"provider:{self.provider}"]
        if len(self.sides) == 2:
            shown.append(f"twin:{self.provider}")
        return frozenset((self.case.dialect, item) for item in shown)

    @cached_property
    def day(self) -> str | None:
        """The day of the recording, as its heads or its bodies tell."""
        found = (day for side in self.sides for day in (_day_of_head(side), _day_of_body(side)) if day is not None)
        return next(found, None)

    @property
    def price(self) -> int:
        """What it costs to take it; one that does not tell its day costs more."""
        return self.size + (OVERHEAD if self.day else 2 * OVERHEAD)

    @property
    def model(self) -> tuple[str, str, str | None]:
        return self.case.dialect, self.provider, self.case.model


def main(corpus: Path, target: Path, taken: Path | None = None) -> None:
    """Write every cassette."""
    for _, case in library(corpus, taken):
        cassettes.save(case, target / f"{case.id}.yaml")


def library(corpus: Path, taken: Path | None = None) -> Iterator[tuple[Cassette, Cassette]]:
    """The recordings that were chosen, each with what it becomes."""
    chosen = choose(list(recordings(corpus)))
    often = Counter(item for recording in chosen for item in recording.shown)
    used = _others(taken) if taken is not None else set()
    for recording in chosen:
        name = named(recording, often, used)
        used.add(name)
        _, provider, scenario = name.split("/")
        new = anonymize(filled_in(under_no_name(recording.case)), SEED)
        rebuilt = any(side.wire == "reconstructed" for side in recording.sides)
        origin = Provenance(
            kind="anonymized",
            on=recording.day,
            by="streamproof anonymize",
            note=NOTE.format(wire=REBUILT if rebuilt else ""),
        )
        yield (
            recording.case,
            replace(
                new,
                id=name,
                provider=provider,
                model=new.model or UNKNOWN,
                scenario=scenario,
                provenance=origin,
                features=tuple(recording.features),
                quirks=tuple(recording.quirks),
            ),
        )


def under_no_name(case: Cassette) -> Cassette:
    """The case, with another name of the same length where a test asked for a model that its author made up."""
    if case.model is None or not _INVENTED.search(case.model):
        return case
    old = case.model
    new = ("no-model-of-this-name" * 3)[: len(old)]

    def said(data: bytes) -> bytes:
        return data.replace(old.encode(), new.encode())

    def side(exchange: Exchange | None) -> Exchange | None:
        if exchange is None:
            return None
        asked = exchange.request
        target, body = asked.target.replace(old, new), None if asked.body is None else said(asked.body)
        whole = (Chunk(data=said(exchange.body)),)  # refusals come at once
        return replace(exchange, request=replace(asked, target=target, body=body), chunks=whole)

    return replace(case, model=new, stream=side(case.stream), reference=side(case.reference))


def filled_in(case: Cassette) -> Cassette:
    """The case with regions and projects where their keepers left a blank: a client would not take such an address."""

    def side(exchange: Exchange | None) -> Exchange | None:
        if exchange is None:
            return None
        asked = exchange.request
        host, target = (_BLANK.sub(lambda blank: _FILLED[blank[1]], said) for said in (asked.host, asked.target))
        return replace(exchange, request=replace(asked, host=host, target=target))

    return replace(case, stream=side(case.stream), reference=side(case.reference))


def recordings(corpus: Path) -> Iterator[Recording]:
    """The cases of a corpus, in their order."""
    rows = [json.loads(line) for line in (corpus / MANIFEST).read_text(encoding="utf-8").splitlines() if line.strip()]
    known = {f"{row['api']}/{row['id']}": row for row in rows}
    for case in cassettes.load(corpus):
        row = known[case.id]
        twins = [known[f"{row['api']}/{partner}"] for partner in row.get("pair_with") or []]
        two = case.stream is not None and case.reference is not None
        length = len(case.reference.body) if case.reference is not None else 0
        yield Recording(case, [row, *[twin for twin in twins if two and twin["bytes"] == length][:1]])


def choose(all_of_them: Sequence[Recording]) -> list[Recording]:
    """As few as show everything, the most telling for their size first; then a small one of each model that is not among
    them."""
    left = {item for recording in all_of_them for item in recording.shown}
    chosen: list[Recording] = []
    while left:
        best = max(all_of_them, key=lambda recording: len(recording.shown & left) / recording.price)
        chosen.append(best)
        left -= best.shown
    models = {recording.model for recording in chosen}
    for recording in sorted(all_of_them, key=lambda recording: (-len(recording.sides), recording.size)):
        if recording.model not in models and recording.size <= LARGEST:
            models.add(recording.model)
            chosen.append(recording)
    return sorted(chosen, key=lambda recording: (recording.size, recording.case.id))


def named(recording: Recording, often: Counter[tuple[str, str]], used: set[str]) -> str:
    """A name that says what a recording is and, if that name is taken, what is rare about it."""
    dialect = recording.case.dialect
    said = set(recording.features) | set(recording.quirks)
    base = next((name for name, fits in BASES if fits(said)), "text")
    rare = sorted(said, key=lambda item: (often[dialect, item], item))
    ends = ["", *(f"-{slug(item)}" for item in rare if slug(item) not in base), *(f"-{number}" for number in range(2, 99))]
    names = (f"{dialect}/{recording.provider}/{base}{end}" for end in ends)
    return next(name for name in names if name not in used)


def slug(item: str) -> str:
    """A feature or quirk as a part of a file's name."""
    words = re.sub(r"^(?:req|block|item|delta|builtin|resp_status|terminal)(?=:)", "", item)
    return re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-").lower()


def _day_of_head(side: Exchange) -> str | None:
    try:
        return parsedate_to_datetime(side.headers.get("date", "")).date().isoformat()
    except ValueError:
        resets = (_RESET.match(value) for name, value in side.headers.fields if name.lower().endswith("-reset"))
        return next((reset[0] for reset in resets if reset), None)


def _day_of_body(side: Exchange) -> str | None:
    told = _DATE.search(side.body)
    if told is None:
        return None
    said = told[1].decode()
    day = said if "-" in said else datetime.fromtimestamp(int(said), UTC).date().isoformat()
    return None if day.startswith("1970") else day


def _others(folder: Path) -> set[str]:
    """The names of the cassettes in a folder that this tool does not make."""
    return {case.id for case in cassettes.load(folder) if case.provenance.kind != "anonymized"}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
