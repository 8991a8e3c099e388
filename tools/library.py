"""Makes the anonymized cassettes: `python tools/library.py CORPUS CASSETTES [TAKEN]`.

CORPUS is a folder of other people's recordings with a manifest that says what each one shows. As few of them are taken as show
everything that any of them shows: each feature, each quirk and each provider on each API; small ones, and streams that have
their twin, are preferred. They become cassettes in other words (`harness.anonymizing`), named by what they show. TAKEN is a
folder of cassettes whose names are not used again. Run it again and the same files come out.
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
from harness.redacting import redacted_cassette

SEED = "streamproof"
NOTE = "a recording of another project's tests in other words; the wire is as it was{wire}"
REBUILT = ", but for its framing, which was not kept and is rebuilt"
OVERHEAD = 20_000  # bytes that a cassette costs whatever its size: each is judged, cut and replayed again and again
ALONE = 1.5  # how much dearer one is that has no twin

THINKING = {"reasoning", "thought_signature", "item:reasoning", "block:thinking", "block:redacted_thinking"}
CALLING = {"tool_calls", "finish:tool_use", "item:function_call", "block:tool_use"}
CUT = {"finish:length", "finish:max_tokens", "finish:MAX_TOKENS", "done:length", "incomplete:max_output_tokens"}
BASES = (
    ("error", lambda shown: any(item.startswith(("status:", "http_error", "mid_stream_error")) for item in shown)),
    ("parallel-tool-calls", lambda shown: "parallel_tool_calls" in shown),
    ("tool-call", lambda shown: bool(shown & CALLING)),
    ("length", lambda shown: bool(shown & CUT)),
    ("reasoning", lambda shown: bool(shown & THINKING)),
    ("json-schema", lambda shown: "req:structured_output" in shown),
    ("json", lambda shown: "req:json_mode" in shown),
)
"""What a turn is first of all, if it is more than a text."""

FAMILIES = {"amazon.nova": "nova", "amazon.titan": "titan", "meta": "llama"}
"""What the families inside Bedrock are called in names, where it is not what the manifest calls them."""

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
        return frozenset((self.case.dialect, item) for item in (*self.features, *self.quirks, f"provider:{self.provider}"))

    @property
    def base(self) -> str:
        """What it is first of all, and whose."""
        name = next((name for name, fits in BASES if fits({*self.features, *self.quirks})), "text")
        family = next((item.removeprefix("family:") for item in self.features if item.startswith("family:")), None)
        return f"{FAMILIES.get(family, family)}-{name}" if family and name != "error" else name

    @cached_property
    def day(self) -> str | None:
        """The day of the recording, as its heads or its bodies tell."""
        found = (day for side in self.sides for day in (_day_of_head(side), _day_of_body(side)) if day is not None)
        return next(found, None)

    @property
    def price(self) -> float:
        """What it costs to take it; one that does not tell its day, or has no twin, costs more."""
        return (self.size + (OVERHEAD if self.day else 2 * OVERHEAD)) * (1 if len(self.sides) == 2 else ALONE)


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
        shown = replace(
            new,
            id=name,
            provider=provider,
            model=new.model or UNKNOWN,
            scenario=scenario,
            provenance=origin,
            features=tuple(recording.features),
            quirks=tuple(recording.quirks),
        )
        yield recording.case, redacted_cassette(shown)


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
    """As few as show everything: the most telling for their price, and then without those whose showing others do as well."""
    left = {item for recording in all_of_them for item in recording.shown}
    chosen: list[Recording] = []
    while left:
        best = max(all_of_them, key=lambda recording: len(recording.shown & left) / recording.price)
        chosen.append(best)
        left -= best.shown
    often = Counter(item for recording in chosen for item in recording.shown)
    for recording in sorted(chosen, key=lambda recording: recording.price, reverse=True):
        if all(often[item] > 1 for item in recording.shown):
            chosen.remove(recording)
            often.subtract(recording.shown)
    return sorted(chosen, key=lambda recording: (recording.size, recording.case.id))


def named(recording: Recording, often: Counter[tuple[str, str]], used: set[str]) -> str:
    """A name that says what a recording is and, if that name is taken, what is rare about it."""
    dialect = recording.case.dialect
    said = {item for item in (*recording.features, *recording.quirks) if not item.startswith("family:")}
    rare = sorted(said, key=lambda item: (often[dialect, item], item))
    telling = [slug(item) for item in rare if slug(item) not in recording.base]
    ends = ["", *(f"-{item}" for item in telling), *(f"-{number}" for number in range(2, 99))]
    names = (f"{dialect}/{recording.provider}/{recording.base}{end}" for end in ends)
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
