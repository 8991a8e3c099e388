"""Behaviour of other people's clients that is known from reports and from our own reading is found again.

Needs their environments: `nox -s subjects`. Each row is a defect, or the absence of one, at the version that is pinned.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness import cassette as cassettes
from harness import inputs
from harness.adapters import environments, subjects
from harness.adapters.process import Process
from harness.cassette.model import Cassette
from harness.conformance.verdict import Grade, Verdict
from harness.matrix import Bench, Cell
from harness.serving import serving
from tests.shared import needed

pytestmark = pytest.mark.subjects


def graded(name: str, case: Cassette, fault: str | None = None) -> Verdict:
    subject = subjects.load()[name]
    where = environments.build(subject, environments.home())
    about = {"name": name, "packages": subject.packages}
    process = Process(environments.command(subject, where), about=about, environ=subject.environ)
    try:
        with serving([case]) as server:
            bench = Bench([case], server, omits=lambda _, dialect: subject.omits(dialect))
            return bench.verdict(Cell(subject=name, cassette=case.id, fault=fault), process)
    finally:
        process.close()


def shipped(name: str) -> Cassette:
    return cassettes.load_one(cassettes.shipped() / f"{name}.yaml")


@pytest.mark.parametrize(
    ("client", "case", "fault", "grade", "kind"),
    [
        # the calls of one index are welded, ids and names together
        ("openai-python", "openai-chat/litellm/from-ollama-tools-indexed", None, Grade.WRONG, "subject/calls"),
        # a stream that was cut is reported as a turn
        ("openai-python", "openai-chat/llamacpp/json-schema", "truncated", Grade.LOSSY, "subject/failure-hidden"),
        (
            "boto3",
            "bedrock-converse/bedrock/tool-call-empty-tool-input-delta",
            "truncated",
            Grade.LOSSY,
            "subject/failure-hidden",
        ),
        ("google-genai", "gemini/google/citations", "truncated", Grade.LOSSY, "subject/failure-hidden"),
        ("litellm", "gemini/google/citations", "truncated", Grade.WRONG, "subject/failure-hidden"),
        # the first event is lost behind a byte order mark
        ("openai-python", "openai-chat/together/text", "bom", Grade.WRONG, "subject/text"),
        # two calls that arrive on lines of their own become one
        ("litellm", "ollama-chat/ollama/parallel-tool-calls", None, Grade.WRONG, "subject/calls"),
        # and what is right stays right
        ("openai-python", "openai-chat/llamacpp/json-schema", "byte-by-byte", Grade.PASS, None),
        ("openai-node", "openai-chat/llamacpp/json-schema", "truncated", Grade.PASS, None),
        ("litellm", "openai-chat/litellm/from-llamacpp-tools", "error-in-band", Grade.PASS, None),
    ],
)
def test_it_is_found_again(client: str, case: str, fault: str | None, grade: Grade, kind: str | None) -> None:
    verdict = graded(client, shipped(case), fault)
    assert verdict.grade is grade, verdict.findings
    assert kind is None or kind in {finding.kind for finding in verdict.findings}


def test_two_calls_of_one_index_of_a_bug_report() -> None:
    """BR-002: the stream helper of the openai package joins ids and names."""
    (told,) = inputs.load(needed("spec/bug-inputs") / "BR-002.sse")
    (sent,) = told.exchanges
    exchange = replace(sent, request=replace(sent.request, target="/v1/chat/completions"))
    case = Cassette(id="openai-chat/report/br-002", dialect="openai-chat", provider="report", stream=exchange)
    verdict = graded("openai-python", case)
    assert verdict.grade is Grade.WRONG
    assert "subject/calls" in {finding.kind for finding in verdict.findings}
