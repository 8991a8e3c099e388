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
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from harness.conformance.verdict import Check, Grade
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


class RunLine(_Model):
    type: Literal["run"] = "run"
    streamproof: str
    python: str
    selection: list[str]
    adapters: dict[str, str]


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


def render(outcome: Outcome, *, version: str, selection: list[str], adapters: dict[str, str]) -> Iterator[str]:
    """The lines of a results file, without line ends. The same outcome gives the same lines, `ms` and `seconds` excepted."""
    run = RunLine(streamproof=version, python=platform.python_version(), selection=selection, adapters=adapters)
    yield dumped(run.model_dump(mode="json"))
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
