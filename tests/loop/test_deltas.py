"""Deltas: what is shown of a turn while it comes is what the turn turns out to be."""

from __future__ import annotations

from typing import Any

import pytest

from harness import StreamCollector, dialects
from harness.loop.artifacts import DELTAS, Artifact, ArtifactKind, Complete, Side, ToolCallDelta
from harness.loop.deltas import Deltas
from harness.loop.gathering import Accumulator
from harness.response import Reasoning, Refusal, Text, ToolCall
from tests.chat import calls, choice, chunk, frames, head, more, says, stops, text
from tests.laws.cases import Stream, each_stream

SHORTENED = (
    "openai-responses/ai__openai-responses-openai-phase-1",
    "openai-responses/ai__openai-responses-openai-shell-container-1",
    "openai-responses/openai/text-sequence-gap-or-duplicate",
    "openai-responses/openai/text-shell-call-command",
    "openai-responses/litellm/from-ollama-tools",
)
"""Recordings from which somebody took most of the pieces: their texts stand in full in the repetitions only. And one of a
gateway that mixes up the pieces of two calls, and repeats something else."""


def shown(dialect: str, *payloads: Any) -> list[Artifact]:
    collector, deltas = StreamCollector(dialect), Deltas(dialects.dialect(dialect))
    return [artifact for frame in frames(*payloads) for artifact in deltas.of(collector.add(frame))]


def folded(artifacts: list[Artifact]) -> list[Any]:
    gathered = Accumulator()
    for artifact in artifacts:
        assert not isinstance(artifact, Complete)
        if isinstance(artifact, DELTAS):
            gathered.add(artifact)
    return gathered.flush()


def plain(part: Any) -> Any:
    """A part as far as deltas can tell it."""
    if isinstance(part, ToolCall):
        return ("call", None if part.synthetic_id else part.id, part.name, part.shown_arguments() or {})
    return (type(part), part.text) if isinstance(part, Text | Reasoning | Refusal) and part.text else None


@each_stream
def test_deltas_of_a_stream_fold_to_its_parts(stream: Stream) -> None:
    collector, deltas = stream.collector(), Deltas(stream.dialect)
    artifacts = [artifact for frame in stream.frames for artifact in deltas.of(collector.add(frame))]
    told = [plain(part) for part in folded(artifacts)]
    due = [shown for part in collector.close().response.parts if (shown := plain(part)) is not None]
    if stream.case.id.startswith(SHORTENED):
        assert [part[0] for part in told] == [part[0] for part in due]
    elif b"partialArgs" in stream.body:  # arguments that come in places of their own are shown once they are whole
        assert [call[:3] for call in told] == [call[:3] for call in due]
    else:
        assert told == due


@each_stream
def test_texts_that_are_heard_without_edits_are_those_of_the_edits(stream: Stream) -> None:
    slowly, quickly = stream.collector(), stream.collector()
    of_edits, heard = Deltas(stream.dialect), Deltas(stream.dialect)
    artifacts = [artifact for frame in stream.frames for artifact in of_edits.of(slowly.add(frame))]
    quickly.extend(stream.frames, heard)
    assert heard.taken() == artifacts
    assert heard.taken() == []
    assert quickly.close().body == slowly.close().body


def test_a_call_is_shown_as_it_grows() -> None:
    artifacts = shown(
        "openai-chat", calls(head(0, "call_1", "get_tide")), calls(more(0, '{"port"')), calls(more(0, ':"Ribe"}'))
    )
    assert artifacts == [
        ToolCallDelta(slot=0, id="call_1"),
        ToolCallDelta(slot=0, name="get_tide"),
        ToolCallDelta(slot=0, arguments='{"port"'),
        ToolCallDelta(slot=0, arguments=':"Ribe"}'),
    ]


def test_calls_have_slots_of_their_own_and_keep_their_first_identity() -> None:
    told = folded(
        shown(
            "openai-chat",
            calls(head(0, "a", "f", "{"), head(1, "b", "g", "{")),
            calls(head(0, "", "", "}"), more(1, "}")),
        )
    )
    assert [(c.id, c.name, c.arguments) for c in told] == [("a", "f", "{}"), ("b", "g", "{}")]


def test_a_name_that_comes_late_is_shown_late() -> None:
    told = folded(shown("openai-chat", calls(head(0, None, None, "{}")), calls(head(0, "a", "f"))))
    assert [(c.id, c.name, c.arguments) for c in told] == [("a", "f", "{}")]


def test_the_deprecated_single_call_is_shown() -> None:
    told = folded(
        shown(
            "openai-chat",
            says({"function_call": {"name": "f", "arguments": ""}}),
            says({"function_call": {"arguments": "{}"}}),
        )
    )
    assert [(c.name, c.arguments, c.synthetic_id) for c in told] == [("f", "{}", True)]


def test_the_first_choice_is_shown_and_no_other() -> None:
    both = chunk(choice({"content": "other"}, index=1), choice({"content": "first"}, index=0))
    assert folded(shown("openai-chat", both, both)) == [Text(text="firstfirst")]


def test_thoughts_in_two_forms_are_shown_once() -> None:
    detail = {"type": "reasoning.text", "index": 0, "text": "Hm."}
    pieces = [says({"reasoning": "Hm.", "reasoning_details": [detail]})] * 2
    assert folded(shown("openai-chat", *pieces)) == [Reasoning(text="Hm.Hm.")]


def test_a_summary_after_the_thoughts_themselves_is_not_shown() -> None:
    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "output_index": 0, "item_id": "rs_1", **fields}

    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    artifacts = shown(
        "openai-responses",
        event("output_item.added", item=item),
        event("reasoning_text.delta", content_index=0, delta="thought"),
        event("reasoning_summary_text.delta", summary_index=0, delta="summary"),
        event("reasoning_text.delta", content_index=1, delta=", thought"),
    )
    assert folded(artifacts) == [Reasoning(text="thought, thought")]


def test_a_signature_is_told_beside_its_thoughts() -> None:
    def block(kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": f"content_block_{kind}", "index": 0, **fields}

    artifacts = shown(
        "anthropic-messages",
        block("start", content_block={"type": "thinking", "thinking": "", "signature": ""}),
        block("delta", delta={"type": "thinking_delta", "thinking": "Hm."}),
        block("delta", delta={"type": "signature_delta", "signature": "sig=="}),
    )
    assert artifacts[-1] == Side(kind=ArtifactKind.REASONING_SIGNATURE, value="sig==")


def test_the_signature_of_a_call_is_none_of_thoughts() -> None:
    part = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "sig=="}
    artifacts = shown("gemini", {"candidates": [{"content": {"role": "model", "parts": [part]}}]})
    assert artifacts == [ToolCallDelta(slot=0, name="f", arguments='{"a":1}')]


def test_what_is_not_known_is_told_with_its_place() -> None:
    assert shown("openai-chat", says({"content": "a"}, invented=1)) [-1] == Side(
        kind=ArtifactKind.UNKNOWN, value={"path": "/invented", "value": 1}
    )  # fmt: skip


def test_what_comes_whole_is_shown_once() -> None:
    done = {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "item_id": "m", "text": "All."}
    assert folded(shown("openai-responses", done, done)) == [Text(text="All.")]


@pytest.mark.parametrize("content", [None, "", 7, {"a": 1}])
def test_nothing_is_shown_of_what_is_no_text(content: Any) -> None:
    assert folded(shown("openai-chat", text(content), stops())) == []
