"""The results file: JSON lines, one run, its verdicts, one summary (product contract, section 8).

Everything that people read is rendered from these lines and can be rendered again later. `Line` guards them when they are
read; `schema()` is the published JSON Schema.
"""

from __future__ import annotations

import itertools
import json
import math
import platform
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from harness.adapters.subjects import Subject
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import InputError
from harness.findings import Level
from harness.suite import Outcome


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PlaceLine(_Model):
    cassette: str | None = None
    exchange: int | None = None
    frame: int | None = None
    span: tuple[int, int] | None = None
    path: str | None = None


class FindingLine(_Model):
    rule: str | None
    kind: str
    level: Level
    message: str
    where: PlaceLine
    expected: Any = None
    got: Any = None
    blame: str | None = None
    known: str | None = None


class AboutLine(_Model):
    """What an adapter is made of: `packages` has the package and version that speaks each of its dialects, `omits` the facts
    that it has no place for."""

    language: str
    packages: dict[str, str]
    omits: dict[str, list[str]] | None = None


class RunLine(_Model):
    """What was run. `on` is the day; it is told where other people's clients are graded."""

    type: Literal["run"] = "run"
    streamproof: str
    python: str
    selection: list[str]
    adapters: dict[str, str]
    about: dict[str, AboutLine] | None = None
    on: date | None = None


class VerdictLine(_Model):
    type: Literal["verdict"] = "verdict"
    cassette: str
    dialect: str
    provider: str
    adapter: str
    fault: str | None
    check: Check
    grade: Grade
    known: str | None
    findings: list[FindingLine]
    events: int
    ms: float


class SummaryLine(_Model):
    type: Literal["summary"] = "summary"
    cassettes: int
    verdicts: int
    grades: dict[Grade, int]
    known: int
    findings: dict[Level, int]
    stale: list[str]
    seconds: float


Line = Annotated[RunLine | VerdictLine | SummaryLine, Field(discriminator="type")]
_HINT = "give the results.jsonl of a run"
_MOST_BITS = 10_000  # of whole numbers; Python refuses to write much longer ones
_LINE: TypeAdapter[RunLine | VerdictLine | SummaryLine] = TypeAdapter(Line)


def schema() -> dict[str, Any]:
    """The JSON Schema of one line."""
    return _LINE.json_schema()


def render(
    outcome: Outcome,
    *,
    version: str,
    selection: list[str],
    adapters: dict[str, str],
    about: dict[str, dict[str, Any]] | None = None,
) -> Iterator[str]:
    """The lines of a results file, without line ends. The same outcome gives the same lines, `ms`, `seconds` and the day
    excepted. `about` tells of other people's clients."""
    run = RunLine(
        streamproof=version,
        python=platform.python_version(),
        selection=selection,
        adapters=adapters,
        about={name: AboutLine(**told) for name, told in about.items()} if about else None,
        on=date.today() if about else None,
    )
    yield dumped(run.model_dump(mode="json", exclude_none=True))
    for verdict in outcome.verdicts:
        yield dumped(verdict.as_dict())
    yield dumped(summary(outcome).model_dump(mode="json"))


def summary(outcome: Outcome) -> SummaryLine:
    """The last line of a results file."""
    grades = Counter(v.grade for v in outcome.verdicts)
    levels = Counter(f.level for v in outcome.verdicts for f in v.findings)
    return SummaryLine(
        cassettes=outcome.cassettes,
        verdicts=len(outcome.verdicts),
        grades={grade: grades[grade] for grade in Grade if grades[grade]},
        known=sum(v.known is not None for v in outcome.verdicts),
        findings={level: levels[level] for level in Level},
        stale=outcome.stale,
        seconds=round(outcome.seconds, 3),
    )


def about(subject: Subject) -> dict[str, Any]:
    """What a client under test is made of."""
    packages = {dialect: f"{subject.package(dialect)} {subject.version(dialect)}" for dialect in subject.dialects}
    omits = {dialect: list(facts) for dialect in subject.dialects if (facts := subject.omits(dialect))}
    return {"language": subject.language, "packages": packages, "omits": omits or None}


def since(verdicts: Iterable[Verdict], baseline: Path) -> tuple[list[Verdict], list[str]]:
    """The verdicts, of which those that an earlier results file has with the same grade and kinds of findings are known; and
    what stands there with another grade and is better now, so that somebody renews it. Raises `InputError`."""
    before = {_cell(line): line for line in read(baseline) if isinstance(line, VerdictLine)}
    marked, better = [], []
    for verdict in verdicts:
        line = before.get(_cell(verdict))
        if line is not None and line.grade is verdict.grade and _kinds(line) == _kinds(verdict):
            marked.append(replace(verdict, known=f"as in {baseline.name}") if verdict.bad else verdict)
            continue
        if line is not None and not verdict.bad and line.grade is not verdict.grade:
            what = f"{verdict.adapter} · {verdict.cassette} · {verdict.fault or 'no fault'}"
            better.append(f"{what} is {verdict.grade.value} now, and was {line.grade.value} in {baseline.name}: renew it")
        marked.append(verdict)
    return marked, better


def _cell(told: VerdictLine | Verdict) -> tuple[str, str, str | None, str]:
    return told.adapter, told.cassette, told.fault, told.check


def _kinds(told: VerdictLine | Verdict) -> list[str]:
    return sorted({finding.kind for finding in told.findings})


class Draft:
    """The files of a run, which appear all at once in a folder of their own, or not at all.

    Used as a context: what is not published is gone at its end. Raises `InputError` where nothing can be written.
    """

    def __init__(self, reports: Path) -> None:
        self._reports = reports
        self._folder = reports / f".draft-{secrets.token_hex(4)}"
        self._is_new = not reports.exists()

    def __enter__(self) -> Draft:
        with self._telling():
            self._folder.mkdir(parents=True)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._is_new:
            with suppress(OSError):  # it is not empty, as it should be
                self._reports.rmdir()

    def write(self, name: str, lines: Iterable[str]) -> None:
        with (
            self._telling(),
            (self._folder / name).open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
        ):
            file.writelines(f"{line}\n" for line in lines)

    def publish(self, name: str) -> Path:
        """Let the files appear in the folder `name`, or `name-2` and so on where there is one already."""
        numbers = itertools.count(2)
        folder = self._reports / name
        while folder.exists():
            folder = self._reports / f"{name}-{next(numbers)}"
        with self._telling():
            return self._folder.rename(folder)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place, hint = str(error.filename or self._reports), "choose another folder with --reports"
            raise InputError(f"the report cannot be written: {error.strerror}", where=place, hint=hint) from None


def parsed(line: str) -> RunLine | VerdictLine | SummaryLine:
    """A line as a value. Raises pydantic's `ValidationError`."""
    return _LINE.validate_json(line)


def read(path: Path) -> Iterator[RunLine | VerdictLine | SummaryLine]:
    """The lines of a results file. Raises `InputError` with the line that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path), hint=_HINT) from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            yield _LINE.validate_json(line)
        except ValidationError as error:
            what = error.errors()[0]["msg"]
            raise InputError(f"no line of a results file: {what}", where=f"{path}:{number}", hint=_HINT) from None


def dumped(value: Any) -> str:
    """JSON that any reader takes: lone surrogates become U+FFFD, numbers that JSON lacks, or Python does not write, their
    names."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_writable(value), ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _writable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if isinstance(value, dict):
        return {name: _writable(field) for name, field in value.items()}
    return [_writable(element) for element in value] if isinstance(value, list) else value
