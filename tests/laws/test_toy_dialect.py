"""A new wire API needs one file, its registry line and its cassettes: a toy one is added here, and nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import cassette, dialects, suite
from harness.api_error import ApiError, api_error
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Provenance, Request
from harness.conformance.verdict import Check, Grade
from harness.detection import detect
from harness.dialects.base import BaseDialect
from harness.dialects.translating import BaseTranslator, as_object, as_text, setting
from harness.edits import Edit, Op, PartKind, PartRef, Target
from harness.framing import Frame
from harness.response import FinishReason, Response, Text
from harness.vocabulary import Shape

# the file that a new dialect is


class _ToyTranslator(BaseTranslator):
    shape = Shape("say end")

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._said = Target(Op.CONCAT, ("said",), PartRef(PartKind.TEXT), "/say")
        self._ended = False

    def missing(self) -> str | None:
        return None if self._ended else "no line with `end` was sent"

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        edits = [Edit(self._said, body["say"], frame.index)] if isinstance(body.get("say"), str) else []
        if "end" in body:
            self._ended = True
            edits.append(setting(("end",), body["end"], frame))
        return edits


class Toy(BaseDialect):
    name = "toy"
    framings = ("ndjson",)
    vendors = frozenset({"toymaker"})

    def matches(self, method: str, path: str, body: Any) -> bool:
        return path == "/toy"

    def translator(self, request: Any = None) -> _ToyTranslator:
        return _ToyTranslator(request)

    def read(self, body: Any) -> Response:
        said, end = as_text(as_object(body).get("said")), as_text(as_object(body).get("end"))
        parts = () if said is None else (Text(text=said),)
        return Response(parts=parts, finish_reason=FinishReason.OTHER if end else None, raw_finish_reason=end, raw=body)

    def read_error(self, status: int, headers: Any, body: Any) -> ApiError:
        return api_error(body, status=status)


# its cassettes


def _case(stream: bytes, twin: Any, **more: Any) -> Cassette:
    request = Request(target="/toy", body=b'{"stream": true}')
    headers = Headers({"content-type": "application/x-ndjson"})
    return Cassette(
        id="toy/toymaker/text",
        dialect="toy",
        provider="toymaker",
        match="exact",
        provenance=Provenance(kind="authored"),
        stream=Exchange(request=request, headers=headers, chunks=(Chunk(data=stream),), **more),
        reference=Exchange(request=replace(request, body=b"{}"), chunks=(Chunk(data=json.dumps(twin).encode()),)),
    )


GOOD = _case(b'{"say":"to"}\n{"say":"y"}\n{"end":"done"}\n', {"said": "toy", "end": "done"})


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    dialects.register(Toy())
    yield
    dialects.unregister("toy")


def _grades(case: Cassette, folder: Path) -> dict[Check, Grade]:
    cassette.save(case, folder / f"{case.id}.yaml")
    outcome = suite.run(cassette.load(folder))
    return {verdict.check: verdict.grade for verdict in outcome.verdicts}


def test_the_main_job_judges_it(tmp_path: Path) -> None:
    assert _grades(GOOD, tmp_path) == {
        Check.FRAMING: Grade.PASS,
        Check.REASSEMBLY: Grade.PASS,
        Check.REFERENCE: Grade.PASS,
        Check.EVENTS: Grade.PASS,
        Check.RULES: Grade.PASS,
    }


@pytest.mark.parametrize(
    ("case", "check"),
    [
        (_case(b'{"say":"to"}\n{"end":"done"}\n', {"said": "toy", "end": "done"}), Check.REFERENCE),
        (_case(b'{"say":"toy"}\n', {"said": "toy", "end": "done"}), Check.REASSEMBLY),
        (_case(b'{"say":"toy","zz":1}\n{"end":"done"}\n', {"said": "toy", "end": "done"}), Check.REASSEMBLY),
        (_case(b'{"say":"toy"}\n{"end":"done"}\n{"say":', {"said": "toy", "end": "done"}), Check.FRAMING),
    ],
    ids=["a delta lost", "no end", "a field that nobody knows", "a line cut"],
)
def test_and_finds_what_is_wrong(case: Cassette, check: Check, tmp_path: Path) -> None:
    assert _grades(case, tmp_path)[check] is Grade.WRONG


def test_everything_that_asks_the_registry_knows_it() -> None:
    assert "toy" in dialects.names()
    assert dialects.dialect("toy").name == "toy"
    found = detect(b'{"say":"toy"}\n{"end":"done"}\n', "ndjson")
    assert found is not None
    assert found.name == "toy"
