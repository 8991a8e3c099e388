"""Our recordings of servers and gateways: every deviation that was seen in them by hand is found where it was seen.

The list is that of the recordings' README, in its order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest

from harness import suite
from harness.cassette import loading
from harness.cassette.model import Cassette
from harness.findings import KINDS, Finding, Level
from tests.shared import needed


class Seen(NamedTuple):
    """A deviation: what was seen, in which recording, and a finding of this kind; `path` is where, or `words` are in its
    message, `level` how grave it is. `rule` is the one that says so, where one does."""

    what: str
    recording: str
    kind: str
    rule: str | None = None
    path: str | None = None
    words: str = ""
    level: Level | None = None


M, S, I = Level.MUST, Level.SHOULD, Level.INFO  # noqa: E741
CONTENT = "/choices/0/message/content"
REASONED = "/usage/completion_tokens_details/reasoning_tokens"
TOTAL = "/usageMetadata/totalTokenCount"
TOOLS, THINKING, PROXY = "llamacpp-tools", "llamacpp-reasoning", "ollama-openai-proxy"
SEEN = [
    # llama.cpp: the stream against the plain answer
    Seen("a call cut in its head", f"{TOOLS}/chat-tools-cut-in-name-stream", "reference/value", path=CONTENT),
    Seen("the same in Responses", f"{TOOLS}/responses-tools-cut-in-name-stream", "reference/absent", path="/output/0"),
    Seen("the same in Messages", f"{TOOLS}/messages-tools-cut-in-name-stream", "reference/absent", path="/content/0"),
    Seen("no content in a turn of calls", f"{TOOLS}/chat-tools-one-stream", "reference/value", path=CONTENT),
    Seen("arguments cut", f"{TOOLS}/messages-tools-cut-in-arguments-stream", "reference/value", path="/content/0/input"),
    Seen("status in_progress", f"{THINKING}/responses-reasoning-then-text-stream", "reference/value", path="/output/0/status"),
    Seen("completed_at in the plain answer only", "llamacpp/responses-text-stream", "reference/absent", path="/completed_at"),
    # llama.cpp: Chat Completions
    Seen("a first delta of null", "llamacpp/chat-text-stream", "delta/content-null", level=I),
    Seen("timings on the last chunk", "llamacpp/chat-text-stream", "field/foreign", path="/timings", level=I),
    Seen("error.code is a number", "llamacpp/error-bad-json", "error/code-number", level=I),
    Seen("errors have no param", "llamacpp/error-bad-json", "error/param-missing", level=I),
    Seen("log probabilities have an id", "llamacpp/chat-logprobs-stream", "field/foreign", words="`id`", level=I),
    Seen("n=2 is refused", "llamacpp/chat-n2-stream", "error/http", words="400"),
    Seen("an unknown model is accepted", "llamacpp/error-unknown-model", "request/model-other", level=I),
    Seen("an unknown role is accepted", "llamacpp/error-bad-role", "request/role-unknown", level=I),
    Seen("a demanded function is ignored", "llamacpp/chat-tools-named-stream", "request/choice-ignored", level=I),
    Seen("two calls for one", f"{TOOLS}/chat-tools-single-only-stream", "request/parallel-ignored", level=I),
    # llama.cpp: Responses
    Seen("no sequence_number", "llamacpp/responses-text-stream", "responses/sequence-missing", "RSP-048", level=S),
    Seen("no output_index", "llamacpp/responses-text-stream", "responses/index-missing", "RSP-054", path="/output_index"),
    Seen("no content_index", "llamacpp/responses-text-stream", "responses/content-index-missing", level=I),
    Seen("response.created has hardly a field", "llamacpp/responses-text-stream", "responses/begins-full", "RSP-011", level=M),
    Seen("no arguments.done", f"{TOOLS}/responses-tools-one-stream", "responses/arguments-done-missing", "RSP-050", level=M),
    Seen("no text.done", f"{THINKING}/responses-reasoning-then-text-stream", "responses/part-not-announced", "RSP-021"),
    Seen("items overlap", f"{TOOLS}/responses-tools-text-then-call-stream", "responses/items-overlap", "RSP-043", level=I),
    Seen("cut by the limit, and completed", "llamacpp/responses-length-stream", "finish/length-lost", level=I),
    # llama.cpp: Messages
    Seen("ids of Chat", "llamacpp/messages-text-stream", "anthropic/id-form", level=I),
    Seen("blocks overlap", f"{TOOLS}/messages-tools-text-then-call-stream", "anthropic/block-not-stopped", "ANT-007", level=M),
    Seen("late stops", f"{TOOLS}/messages-tools-text-then-call-stream", "anthropic/block-not-open", "ANT-006", level=M),
    Seen("errors of the form of OpenAI", "llamacpp/error-context-overflow-messages-stream", "error/other-form", level=I),
    Seen("a context too long", "llamacpp/error-context-overflow-stream", "error/http", words="400"),
    Seen("no key", "llamacpp/error-no-auth", "error/http", words="401"),
    Seen("no such path", "llamacpp/ollama-api-chat-stream", "error/http", words="404"),
    # LiteLLM
    Seen("two calls at index 0", "litellm/chat-from-ollama-tools-stream", "tool/index-reused", "OAI-C-025", level=M),
    Seen("the same with indexes", "litellm/chat-from-ollama-tools-indexed-stream", "tool/index-reused", "OAI-C-025", level=M),
    Seen("again in Responses", "litellm/responses-from-ollama-tools-stream", "tool/arguments-invalid-json", "RSP-031", level=M),
    Seen("every chunk has an id of its own", "litellm/chat-from-ollama-text-stream", "chunk/id-changes", "OAI-C-004", level=M),
    Seen("usage on a choice", "litellm/chat-from-gemini-text-stream", "usage/on-chunk-with-choices", "OAI-C-058", level=M),
    Seen("usage of Gemini's form is 0", "litellm/gemini-api-from-ollama-text-stream", "usage/zero", level=I),
    Seen("and not so in the plain answer", "litellm/gemini-api-from-ollama-text-stream", "reference/value", path=TOTAL),
    Seen("few numbers", "litellm/responses-from-bedrock-text-stream", "responses/sequence-partial", "RSP-006", level=M),
    Seen("items closed out of order", "litellm/responses-from-bedrock-tools-stream", "responses/items-overlap", "RSP-043"),
    Seen("[DONE] in Responses", "litellm/responses-from-bedrock-text-stream", "responses/marker", level=I),
    Seen("reasoning_tokens added", "litellm/chat-from-gemini-text-stream", "reference/extra", path=REASONED),
    Seen("a missing key is the server's fault", "litellm/error-no-auth", "http/error-form", "HTTP-007", level=M),
    # Portkey
    Seen("a cut ends as a whole body", "portkey/chat-from-gemini-cut", "stream/truncated", "OAI-C-014", level=M),
    Seen("the same from Bedrock", "portkey/chat-from-bedrock-cut", "stream/truncated", "OAI-C-014", level=M),
    Seen("no [DONE] from Gemini", "portkey/chat-from-gemini-text-stream", "stream/done-missing", "OAI-C-001", level=M),
    Seen("`stop` after an exception", "portkey/chat-from-bedrock-late", "stream/finish-missing", "OAI-C-014", level=M),
    Seen("and inside the delta", "portkey/chat-from-bedrock-late", "field/unknown", path="/choices/0/delta/finish_reason"),
    Seen("an error becomes empty choices", "portkey/chat-from-gemini-late", "choices/empty", "OAI-C-008", level=M),
    Seen("calls that stop", "portkey/chat-from-gemini-tools-stream", "finish/stop-with-tool-calls", "OAI-C-019", level=S),
    Seen("bad JSON is the server's fault", "portkey/error-bad-json", "http/blames-server", level=I),
    Seen("a role in every chunk", "portkey/chat-from-gemini-text-stream", "delta/role-repeated", "OAI-C-012", level=S),
    Seen("llama.cpp streamed fails", "portkey/chat-from-llamacpp-text-stream", "error/http", words="500"),
    # ollama-openai-proxy
    Seen("the shape of generate", f"{PROXY}/chat-text-stream", "reference/absent", path="/message", level=M),
    Seen("a first line with null", f"{PROXY}/chat-text-stream", "ollama/content-missing", "OLL-007", level=M),
    Seen("two lines are the last", f"{PROXY}/chat-text-stream", "stream/data-after-done", "NDJ-005", level=M),
    Seen("calls in fragments of text", f"{PROXY}/chat-tools-stream", "tool/arguments-not-object", "OLL-008", level=M),
    Seen("no counts", f"{PROXY}/chat-text-stream", "usage/missing", "OLL-012", level=S),
    Seen("durations that are made up", f"{PROXY}/chat-text-stream", "ollama/duration-made-up", level=I),
    # cyllama
    Seen("no stream came", "cyllama/chat-text-stream", "http/not-a-stream", "HTTP-003", level=M),
    Seen("cut by the limit, and stop", "cyllama/chat-text-stream", "finish/length-lost", level=I),
    Seen("an empty answer", "cyllama/chat-text-stream", "answer/empty", level=I),
]  # fmt: skip


@cache
def recordings() -> dict[str, Cassette]:
    return {cassette.id: cassette for cassette in loading.load(needed("recordings"))}


@cache
def findings(recording: str) -> tuple[Finding, ...]:
    """What a run says of a recording. The twins of llama.cpp were recorded at temperature 0: every word must be the same."""
    cassette = recordings()[recording]
    if cassette.provider == "llamacpp":
        cassette = replace(cassette, match="exact")
    outcome = suite.run([cassette])
    assert not outcome.harness_failed
    return tuple(finding for verdict in outcome.verdicts for finding in verdict.findings)


def is_it(finding: Finding, seen: Seen) -> bool:
    return (
        finding.kind == seen.kind
        and (seen.rule is None or finding.rule == seen.rule)
        and (seen.path is None or finding.where.path == seen.path)
        and (seen.level is None or finding.level is seen.level)
        and seen.words in finding.message
    )


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen.recording}: {seen.what}")
def test_what_was_seen_is_found(seen: Seen) -> None:
    assert seen.kind in KINDS
    found = findings(seen.recording)
    told = [f"{f.level.value} {f.rule} {f.kind} {f.where.path} {f.message}" for f in found]
    assert any(is_it(finding, seen) for finding in found), "\n".join(told)


@pytest.mark.parametrize(
    "recording",
    ["chat-from-bedrock-cut", "chat-from-gemini-late", "responses-from-ollama-cut", "messages-from-gemini-late"],
)
def test_what_is_well_done_is_no_fault(recording: str) -> None:
    """LiteLLM makes an error event of a cut, and of a late failure: the turn failed, and nothing is wrong with its end."""
    found = findings(f"litellm/{recording}")
    assert "error/in-band" in {finding.kind for finding in found}
    assert not [f for f in found if f.level is Level.MUST and f.kind.startswith(("stream/", "error/"))]


@pytest.mark.parametrize("recording", ["litellm/chat-from-gemini-err", "litellm/chat-from-ollama-err"])
def test_errors_of_the_provider_pass_through(recording: str) -> None:
    assert not [finding for finding in findings(recording) if finding.level is Level.MUST]
