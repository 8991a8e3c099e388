"""Known deviations: what a provider is known to do differently, with the reason, kept honest (product contract, section 6).

A `known.toml` beside the cassettes of a provider, or a file given by `--known`, has one table for each deviation:

    [[known]]
    rule = "reference/value"            # a rule id or a kind of finding
    cassettes = ["tool-call-*"]         # optional: globs of cassette ids, below the folder that the file stands in
    path = "/choices/*/message/content" # optional: only there; a glob for each step, /** for all below
    reason = "…"                        # why this is no failure
    evidence = "…"                      # where it was seen
    until = 2027-01-01                  # optional: from that day on the entry fails
    adapters = ["litellm"]              # optional: about these clients under test, and not about the stream; globs
    faults = ["none", "truncated"]      # optional, with adapters: only there; globs

An entry that explains no finding of the cassettes that it names is a failure itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.conformance.rules import RULES
from harness.conformance.rules.choice import no_such
from harness.conformance.verdict import Grade, Verdict
from harness.errors import KnownError
from harness.findings import KINDS, Finding, Level

_OF_CLIENTS = (Grade.WRONG, Grade.LOSSY, Grade.CRASH, Grade.HANG)
"""Grades of a client under test that can be known; our own pipeline never crashes or hangs."""
FILE = "known.toml"
_FORM = "an entry is a table [[known]] with rule, reason and evidence, and optionally cassettes, path and until"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    rule: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    evidence: str = Field(min_length=1)
    cassettes: list[str] = ["*"]
    path: str | None = None
    until: date | None = None
    adapters: list[str] = []
    faults: list[str] = ["*"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    known: list[_Entry] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One known deviation. `place` says in which file it stands, `cassettes` are globs of cassette ids."""

    place: str
    rule: str
    reason: str
    evidence: str
    cassettes: tuple[str, ...]
    path: str | None = None
    until: date | None = None
    adapters: tuple[str, ...] = ()
    """Globs of the clients under test that it is about; none: it is about the stream, as our own pipeline reads it."""
    faults: tuple[str, ...] = ("*",)
    partial: bool = False
    """Only some of the cassettes that it is about are looked at: it cannot be told to be stale."""

    def covers(self, verdict: Verdict) -> bool:
        if self.adapters and not (_any(verdict.adapter, self.adapters) and _any(verdict.fault or "none", self.faults)):
            return False
        return _any(verdict.cassette, self.cassettes)

    def explains(self, finding: Finding) -> bool:
        if self.rule not in (finding.rule, finding.kind):
            return False
        return self.path is None or _is_at(finding.where.path or "", self.path)


def load(path: Path, below: str = "", *, partial: bool = False) -> list[Known]:
    """The entries of a file; globs are taken below the cassette id `below`. Raises `KnownError`."""
    try:
        text = path.read_text(encoding="utf-8")
        entries = _File.model_validate(tomllib.loads(text)).known
    except OSError as error:
        raise KnownError(f"cannot be read: {error.strerror}", where=str(path), hint="give a file that is there") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KnownError(f"is no TOML: {error}", where=str(path), hint=_FORM) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f" entry {step + 1}" if isinstance(step, int) else f" {step}" for step in first["loc"])
        raise KnownError(first["msg"], where=f"{path}{place}", hint=_FORM) from None
    for number, entry in enumerate(entries, 1):
        if entry.rule not in RULES and entry.rule not in KINDS:
            unknown = no_such(entry.rule)
            raise KnownError(unknown.message, where=f"{path} known entry {number} rule", hint=unknown.hint)
    return [
        Known(
            place=f"{path} entry {number}",
            rule=entry.rule,
            reason=entry.reason,
            evidence=entry.evidence,
            cassettes=tuple(f"{below}/{glob}" if below else glob for glob in entry.cassettes),
            path=entry.path,
            until=entry.until,
            adapters=tuple(entry.adapters),
            faults=tuple(entry.faults),
            partial=partial,
        )
        for number, entry in enumerate(entries, 1)
    ]


def apply(verdicts: Iterable[Verdict], known: Sequence[Known], today: date) -> tuple[list[Verdict], list[str]]:
    """Mark the findings that known deviations explain, and the verdicts that have no other; also returns what is wrong with
    the entries themselves."""
    used: set[int] = set()
    covered: set[int] = set()
    marked = []
    for verdict in verdicts:
        mine = [n for n, entry in enumerate(known) if entry.covers(verdict)]
        covered.update(mine)
        findings = []
        for finding in verdict.findings:
            entries = [n for n in mine if known[n].explains(finding)]
            used.update(entries)
            findings.append(replace(finding, known=known[entries[0]].reason) if entries else finding)
        of_clients = any(known[n].adapters for n in mine)
        told = [f for f in findings if f.level is Level.MUST or (of_clients and verdict.grade is Grade.LOSSY)]
        reasons = dict.fromkeys(f.known for f in told if f.known is not None)
        can_be = _OF_CLIENTS if of_clients else (Grade.WRONG,)
        explained = verdict.grade in can_be and bool(reasons) and all(f.known is not None for f in told)
        marked.append(replace(verdict, findings=tuple(findings), known="; ".join(reasons) if explained else None))
    return marked, list(_complaints(known, used, covered, today))


def _complaints(known: Sequence[Known], used: set[int], covered: set[int], today: date) -> Iterable[str]:
    for number, entry in enumerate(known):
        if entry.until is not None and entry.until <= today:
            yield f"{entry.place}: {entry.rule} was to be looked at by {entry.until}; renew or remove it"
        elif number in covered and number not in used and not entry.partial:
            yield f"{entry.place}: {entry.rule} explains nothing any more ({entry.reason}); remove it"


def _is_at(path: str, pattern: str) -> bool:
    """Whether a place is one that the pattern means, step for step: `*` is any element, or a part of one name; `**` at the end
    is everything below."""
    steps, globs = path.split("/"), pattern.split("/")
    if globs[-1] == "**":
        globs.pop()
        steps = steps[: len(globs)] if len(steps) > len(globs) else []
    return len(steps) == len(globs) and all(map(fnmatchcase, steps, globs))


def _any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
