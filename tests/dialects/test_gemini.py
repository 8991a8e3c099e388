"""The dialect `gemini`: translation, reading, errors, and what it makes of chunks that are not as they should be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect, framer
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.dialects.gemini.reader import read
from harness.dialects.gemini.streamed_call import steps_of
from harness.edits import Edit, Op
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Text, ToolCall, Usage

GEMINI = dialect("gemini")


def candidate(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": list(parts)}, **fields}


def chunk(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"candidates": [candidate(*parts, **fields)]}


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"text": said, **more}


def call(**fields: Any) -> dict[str, Any]:
    return {"functionCall": fields}


def piece(path: Any, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


def collected(*chunks: Any, request: Any = None, framing: str = "sse") -> Collected:
    body = json.dumps(chunks) if framing == "json-array" else "".join(f"data: {json.dumps(each)}\r\n\r\n" for each in chunks)
    frames = framer(framing)
    collector = StreamCollector("gemini", request)
    collector.extend(frames.feed(body.encode()) + frames.close())
    return collector.close()


def parts(out: Collected) -> Any:
    return out.body["candidates"][0]["content"]["parts"]


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


STOP = {"finishReason": "STOP"}


# parts


def test_pure_texts_of_one_kind_join() -> None:
    out = collected(
        chunk(text("Think", thought=True)),
        chunk(text(" twice.", thought=True), text("It ")),
        chunk(text("is")),
        chunk(text(" low."), **STOP),
    )
    assert parts(out) == [text("Think twice.", thought=True), text("It is low.")]


def test_a_text_with_more_about_it_does_not_join() -> None:
    noted = text("b", partMetadata={"from": "index"})
    out = collected(chunk(text("a"), noted, text("c")), chunk(text("d"), **STOP))
    assert parts(out) == [text("a"), noted, text("cd")]
    assert out.response.text == "abcd"


@pytest.mark.parametrize("last", [text("", thoughtSignature="c2ln"), {"thoughtSignature": "c2ln"}])
def test_a_trailing_signature_goes_to_the_text_it_would_join(last: dict[str, Any]) -> None:
    out = collected(chunk(text("It is ")), chunk(text("low.")), chunk(last, **STOP))
    assert parts(out) == [text("It is low.", thoughtSignature="c2ln")]
    assert out.response.parts == (Text(text="It is low.", signature="c2ln"),)


@pytest.mark.parametrize("before", [call(name="f", args={}), text("why", thought=True), text("a", thoughtSignature="b25l")])
def test_a_trailing_signature_stays_apart_from_other_parts(before: dict[str, Any]) -> None:
    last = text("", thoughtSignature="c2ln")
    assert parts(collected(chunk(before), chunk(last, **STOP))) == [before, last]


def test_a_signed_text_joins_no_more() -> None:
    out = collected(chunk(text("a")), chunk(text("b", thoughtSignature="b25l")), chunk(text("c")), chunk(text("d"), **STOP))
    assert parts(out) == [text("ab", thoughtSignature="b25l"), text("cd")]


def test_an_empty_text_is_left_out_unless_nothing_else_comes() -> None:
    assert parts(collected(chunk(text("")), chunk(call(name="f")), chunk(text(""), **STOP))) == [call(name="f")]
    out = collected(chunk(text("")), chunk(text(""), finishReason="MAX_TOKENS"))
    assert (parts(out), out.response.text) == ([text("")], "")


def test_the_role_is_the_models_where_none_is_sent() -> None:
    out = collected({"candidates": [{"content": {"parts": [text("Ca")]}}]}, chunk(text("lm"), **STOP))
    assert out.body["candidates"][0]["content"] == {"role": "model", "parts": [text("Calm")]}


def test_other_parts_are_kept_as_they_are() -> None:
    given_parts = [
        {"executableCode": {"language": "PYTHON", "code": "1 + 1"}, "thoughtSignature": "c2ln"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"inlineData": {"mimeType": "image/png", "data": "AAECAw=="}},
        {"inlineData": {"mimeType": "audio/pcm", "data": "AAE="}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["tide"]}, "id": "t"}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}, "id": "t"}},
    ]
    out = collected(*(chunk(part) for part in given_parts), chunk(text("Two."), **STOP))
    assert parts(out) == [*given_parts, text("Two.")]
    assert [p.kind for p in out.response.parts if isinstance(p, Other)] == [next(iter(p)) for p in given_parts]
    assert (out.response.tool_calls, out.unknown) == ([], ())


# streamed calls


def test_streamed_arguments_are_rebuilt() -> None:
    out = collected(
        chunk({**call(name="draft", willContinue=True), "thoughtSignature": "c2ln"}),
        chunk(call(partialArgs=[piece("$.to[1].name", stringValue="An", willContinue=True)], willContinue=True)),
        chunk(call(partialArgs=[piece("$.to[1].name", stringValue="na", willContinue=True)], willContinue=True)),
        chunk(call(partialArgs=[piece("$.to[1].name", stringValue="")], willContinue=True)),
        chunk(call(willContinue=True)),
        chunk(call(partialArgs=[piece("$.to[0]['given name']", stringValue="Bo")], willContinue=True)),
        chunk(
            call(
                partialArgs=[
                    piece("$.n", numberValue=0.5),
                    piece("$.sure", boolValue=False),
                    piece("$.by", nullValue="NULL_VALUE"),
                ],
                willContinue=True,
            )
        ),
        chunk(call(), **STOP),
    )
    arguments = {"to": [{"given name": "Bo"}, {"name": "Anna"}], "n": 0.5, "sure": False, "by": None}
    assert parts(out) == [{**call(name="draft", args=arguments), "thoughtSignature": "c2ln"}]
    assert (kinds(out), out.unknown, out.complete) == (["tool/id-synthetic"], (), True)


@pytest.mark.parametrize("end", [text(""), text("Done."), call(name="g", args={}), {"fileData": {"fileUri": "u"}}])
def test_what_ends_a_streamed_call(end: dict[str, Any]) -> None:
    """Its end may be told by nothing but the next part: pieces after that belong to no call."""
    opened = chunk(call(id="c", name="f", willContinue=True))
    more = call(partialArgs=[piece("$.a", stringValue="x")])
    out = collected(opened, chunk(end), chunk(more, **STOP))
    assert parts(out)[0] == call(id="c", name="f", args={})
    assert "gemini/partial-args-orphan" in kinds(out)
    assert parts(out)[-1] == call(args={"a": "x"})


def test_a_piece_without_call_level_will_continue_ends_the_call() -> None:
    more = call(partialArgs=[piece("$.a", numberValue=1)])
    out = collected(chunk(call(id="c", name="f", willContinue=True)), chunk(more), chunk(call()), chunk(text("x"), **STOP))
    assert parts(out) == [call(id="c", name="f", args={"a": 1}), text("x")]
    assert kinds(out) == []


def test_pieces_in_the_opening_part_and_a_late_id_and_signature() -> None:
    out = collected(
        chunk(call(name="f", partialArgs=[piece("$.a", stringValue="x", willContinue=True)], willContinue=True)),
        chunk({**call(id="c", partialArgs=[piece("$.a", stringValue="y")], willContinue=True), "thoughtSignature": "b25l"}),
        chunk({**call(), "thoughtSignature": "dHdv"}, **STOP),
    )
    first = {**call(id="c", name="f", args={"a": "xy"}), "thoughtSignature": "b25l"}
    assert parts(out) == [first, {"thoughtSignature": "dHdv"}]
    assert isinstance(out.response.parts[1], Text)


def test_the_whole_arguments_after_their_pieces_are_compared() -> None:
    opened = chunk(call(id="c", name="f", partialArgs=[piece("$.a", stringValue="x")], willContinue=True))
    assert collected(opened, chunk(call(args={"a": "x"}), **STOP)).disagreements == ()
    out = collected(opened, chunk(call(args={"a": "z"}), **STOP))
    assert [(d.gathered, d.repeated) for d in out.disagreements] == [("x", "z")]
    assert parts(out) == [call(id="c", name="f", args={"a": "z"})]


@pytest.mark.parametrize("path", ["a", "$", "$.a.b", "$.a[0]", "$[0]", "$.b[-1]", "$.b['x", 5, None, "$" + ".x" * 100])
def test_a_path_that_cannot_be_followed_is_reported_and_its_piece_kept(path: Any) -> None:
    lost = piece(path, stringValue="y")
    out = collected(chunk(call(id="c", name="f", partialArgs=[piece("$.a", stringValue="x"), lost])), chunk(text("z"), **STOP))
    assert parts(out)[0] == call(id="c", name="f", args={"a": "x"})
    assert kinds(out) == ["gemini/partial-args-path"]
    assert [u.value for u in out.unknown] == [lost]
    assert out.body["unknown_events"] == [lost]


def test_json_paths() -> None:
    assert steps_of("$.a.b-c[10]['d e'][\"f\"]") == ("a", "b-c", 10, "d e", "f")
    assert steps_of("$['it\\'s']['a\\u0062']['\"']") == ("it's", "ab", '"')
    assert steps_of(r"$['\x']") is None


def test_nothing_at_all_is_no_call() -> None:
    out = collected(chunk(call()), chunk(call(willContinue=True)), chunk(text("a"), **STOP))
    assert (parts(out), kinds(out), out.response.tool_calls) == ([text("a")], [], [])


def test_arguments_as_text() -> None:
    out = collected(chunk(call(id="c", name="f", args='{"a":1}'), call(id="d", name="g", args="{a"), **STOP))
    assert [c.arguments for c in out.response.tool_calls] == ['{"a":1}', "{a"]
    assert kinds(out) == ["tool/arguments-invalid-json"]


# candidates


def test_candidates_by_index() -> None:
    """An absent index is 0, and a server may leave it out in some chunks only."""
    second = {"candidates": [candidate(text("B"), index=1), candidate(text("A"))]}
    last = {"candidates": [candidate(text("a"), index=0, **STOP), candidate(text("b"), index="1", finishReason="MAX_TOKENS")]}
    out = collected(second, last)
    first, other = out.body["candidates"]
    assert (first["content"]["parts"], first["index"]) == ([text("Aa")], 0)
    assert (other["content"]["parts"], other["finishReason"]) == ([text("Bb")], "MAX_TOKENS")
    assert (kinds(out), out.complete, out.response.text) == (["choices/extra"], True, "Aa")


def test_every_candidate_must_finish_and_every_one_asked_for_must_come() -> None:
    both = {"candidates": [candidate(text("A"), **STOP), candidate(text("B"), index=1)]}
    assert collected(both).missing == "candidate 1 has no finish reason"
    request = {"generationConfig": {"candidateCount": 2}}
    out = collected(chunk(text("A"), **STOP), request=request)
    assert (out.complete, out.missing) == (False, "2 candidates were asked for and 1 sent")


def test_content_after_a_finish_reason_needs_another_one() -> None:
    """With code execution a turn has several finish reasons; metadata after the last one ends nothing and opens nothing."""
    chunks = [chunk(text("a"), **STOP), chunk(text("b")), chunk(text("c"), **STOP)]
    assert [collected(*chunks[:n]).complete for n in (1, 2, 3)] == [True, False, True]
    trailer = {"candidates": [{"groundingMetadata": {"webSearchQueries": ["tide"]}}]}
    assert collected(*chunks, trailer, chunk(text("", thoughtSignature="c2ln"))).complete


@pytest.mark.parametrize("reason", ["FINISH_REASON_UNSPECIFIED", 0, "", None])
def test_an_unspecified_finish_reason_is_none(reason: Any) -> None:
    out = collected(chunk(text("a"), finishReason=reason))
    assert out.missing == "candidate 0 has no finish reason"
    assert collected(chunk(text("a"), **STOP), chunk(finishReason=reason)).response.raw_finish_reason == "STOP"


def test_snake_case_finish_reason() -> None:
    out = collected(chunk(text("a"), finish_reason="MAX_TOKENS"))
    assert (out.complete, out.response.finish_reason, out.unknown) == (True, FinishReason.LENGTH, ())


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"])
def test_an_abnormal_finish_reason_fails_the_turn_and_is_kept(reason: str) -> None:
    last = {"finishReason": reason, "finishMessage": "no input to parse"}
    out = collected(chunk(text("a")), {"candidates": [last], "usageMetadata": {"totalTokenCount": 30}})
    assert out.error is not None
    assert "no input to parse" in out.error.message
    assert (kinds(out), out.complete, out.error.retryable) == (["finish/abnormal"], False, False)
    assert out.response.finish_reason is FinishReason.ERROR
    assert (out.response.raw_finish_reason, out.body["candidates"][0]["finishMessage"]) == (reason, "no input to parse")
    assert out.response.usage == Usage(total_tokens=30)


def test_a_stop_by_policy_is_no_failure() -> None:
    out = collected(chunk(text("Well, ")), {"candidates": [{"finishReason": "SAFETY", "safetyRatings": []}]})
    assert (out.complete, kinds(out), out.response.finish_reason) == (True, [], FinishReason.CONTENT_FILTER)


def test_the_last_value_that_says_something_counts() -> None:
    ratings = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}]
    grounding = {"groundingChunks": [{"web": {"uri": "u", "title": "t"}}]}
    links = {"urlMetadata": [{"retrievedUrl": "u", "urlRetrievalStatus": "OK"}]}
    out = collected(
        chunk(text("a"), groundingMetadata={}, safetyRatings=ratings, urlContextMetadata=links, tokenCount=1),
        chunk(text("b"), groundingMetadata=grounding, safetyRatings=[], avgLogprobs=-0.5),
        chunk(groundingMetadata={}, tokenCount=2, avgLogprobs=-0.25, finishMessage="Done.", **STOP),
    )
    got = out.body["candidates"][0]
    assert (got["groundingMetadata"], got["safetyRatings"], got["urlContextMetadata"]) == (grounding, ratings, links)
    assert (got["tokenCount"], got["avgLogprobs"], got["finishMessage"]) == (2, -0.25, "Done.")
    assert (kinds(out), out.unknown) == ([], ())


def test_grounding_chunks_that_are_not_those_sent_before_are_reported() -> None:
    one, two = ({"groundingChunks": [{"web": {"uri": uri}}]} for uri in ("u", "v"))
    both = {"groundingChunks": one["groundingChunks"] + two["groundingChunks"]}
    assert kinds(collected(chunk(groundingMetadata=one), chunk(groundingMetadata=both, **STOP))) == []
    out = collected(chunk(groundingMetadata=one), chunk(groundingMetadata=two, **STOP))
    assert (kinds(out), out.body["candidates"][0]["groundingMetadata"]) == (["repeat/differs"], two)


def test_citations_are_appended_once_and_log_probabilities_always() -> None:
    first, second = {"endIndex": 5, "uri": "u"}, {"startIndex": 5, "endIndex": 9, "uri": "u"}
    token = {"token": "a", "logProbability": -0.5}
    chosen = {"chosenCandidates": [token], "topCandidates": [{"candidates": [token]}]}
    out = collected(
        chunk(text("a"), citationMetadata={"citations": [first]}, logprobsResult=chosen),
        chunk(text("b"), citationMetadata={"citations": [first, second]}, logprobsResult=chosen, **STOP),
    )
    got = out.body["candidates"][0]
    assert got["citationMetadata"] == {"citations": [first, second]}
    assert got["logprobsResult"] == {"chosenCandidates": [token] * 2, "topCandidates": [{"candidates": [token]}] * 2}
    assert out.response.parts == (Text(text="ab", annotations=(first, second)),)


# the envelope


def test_usage_is_the_last_object_with_a_total_as_a_whole() -> None:
    full = {"promptTokenCount": 9, "candidatesTokenCount": 21, "totalTokenCount": 102}
    shrunk = {"promptTokenCount": 87, "thoughtsTokenCount": 78, "totalTokenCount": 90}
    partial = {"trafficType": "ON_DEMAND"}
    chunks = [chunk(text("a")) | {"usageMetadata": usage} for usage in (partial, full, shrunk, partial)]
    assert [collected(*chunks[:n]).body["usageMetadata"] for n in (1, 2, 3, 4)] == [partial, full, shrunk, shrunk]
    assert collected(*chunks).response.usage == Usage(input_tokens=87, total_tokens=90, reasoning_tokens=78)


def test_an_identity_is_the_first_one() -> None:
    out = collected(
        chunk(text("a")) | {"responseId": "r", "modelVersion": "g", "createTime": "t", "modelStatus": {"message": "old"}},
        chunk(text("b"), **STOP)
        | {"responseId": "s", "modelVersion": "h", "createTime": "u", "modelStatus": {"message": "new"}},
    )
    assert [out.body[name] for name in ("responseId", "modelVersion", "createTime")] == ["r", "g", "t"]
    assert out.body["modelStatus"] == {"message": "new"}
    assert (out.response.id, out.response.model) == ("r", "g")


def test_prompt_feedback_with_ratings_only_is_no_block() -> None:
    feedback = {"safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}]}
    out = collected(chunk(text("a"), **STOP) | {"promptFeedback": feedback})
    assert (out.complete, out.body["promptFeedback"]) == (True, feedback)


def test_a_block_in_a_later_chunk_and_without_its_reason() -> None:
    out = collected(
        {"promptFeedback": {"safetyRatings": []}}, {"candidates": [], "promptFeedback": {"blockReasonMessage": "No."}}
    )
    assert (kinds(out), out.complete, out.missing) == (["gemini/prompt-blocked"], False, None)
    assert out.response.finish_reason is FinishReason.CONTENT_FILTER


def test_json_array_framing() -> None:
    chunks = [chunk(text("Ar")), chunk(text("ray"), **STOP)]
    assert collected(*chunks, framing="json-array").body == collected(*chunks).body


def test_a_foreign_sentinel_means_nothing() -> None:
    frames = framer("sse")
    collector = StreamCollector("gemini")
    collector.extend(frames.feed(f"data: {json.dumps(chunk(text('a'), **STOP))}\n\ndata: [DONE]\n\n".encode()))
    assert (collector.close().complete, collector.notes) == (True, [])


# what repeats


def _edits(collector: StreamCollector, chunks: list[Any]) -> list[list[tuple[Any, ...]]]:
    def shown(edit: Edit) -> tuple[Any, ...]:
        return edit.op, edit.path, edit.part, edit.frame, edit.value.kind if edit.op is Op.NOTE else edit.value

    data = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in chunks]
    return [[shown(edit) for edit in collector.add(Frame(n, None, body))] for n, body in enumerate(data)]


def _usage(answer: Any, total: Any = 100, **more: Any) -> dict[str, Any]:
    details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 120}]}
    return {"usageMetadata": {"candidatesTokenCount": answer, "totalTokenCount": total, **details, **more}}


@pytest.mark.parametrize("swapped", [False, True])
def test_text_and_counts_that_repeat_have_the_same_effect_by_the_short_way(swapped: bool) -> None:
    def payload(said: str, usage: dict[str, Any]) -> dict[str, Any]:
        return {**usage, **chunk(text(said))} if swapped else {**chunk(text(said)), **usage}

    plain = [payload("x" if n % 7 else '\N{SNOWMAN} "\\', _usage(n, 100 + n)) for n in range(30)]
    odd = [
        payload("", _usage(1)),
        payload("a", _usage(None)),
        payload("a", _usage(12, None)),
        payload("a", _usage(1.5)),
        payload("a", _usage("12")),
        payload("a", _usage(5, note1="x")),
        payload("a", _usage(5, note2="x")),
        payload("a", _usage(5, serviceTier="a\\b")),
        json.dumps(payload("a", _usage(7))).replace(": 7", ": 07").encode(),
        json.dumps(payload("a", _usage(7))).replace("tokenCount", "token2Count").encode(),
        payload("a", {"usageMetadata": {"trafficType": "ON_DEMAND"}}),
    ]
    chunks = plain + [each for one in odd for each in (one, *plain[:5])]
    short, careful = StreamCollector("gemini"), StreamCollector("gemini")
    careful._translator._repeats.careful = lambda *_: None  # type: ignore[attr-defined]
    assert _edits(short, chunks) == _edits(careful, chunks)
    whole = StreamCollector("gemini")
    whole.extend(Frame(n, None, c if isinstance(c, bytes) else json.dumps(c).encode()) for n, c in enumerate(chunks))
    assert short.close().body == careful.close().body == whole.close().body


def test_counts_that_repeat_are_served_by_the_short_way() -> None:
    collector = StreamCollector("gemini")
    _edits(collector, [chunk(text("a")) | _usage(n) for n in range(50)])
    memory = collector._translator._repeats.memory  # type: ignore[attr-defined]
    assert memory is not None
    assert memory.served > 40
    assert collector.body["usageMetadata"]["candidatesTokenCount"] == 49


# what is not in the vocabulary


def test_unknown_fields_are_kept_at_their_place_and_listed() -> None:
    new = {"shade": "grey"}
    out = collected(
        chunk(text("a")),
        {
            "candidates": [
                {
                    "index": 0,
                    "zone": new,
                    "content": {"role": "model", "tone": new, "parts": [text("b"), {**call(name="f", mood=new), "hue": new}]},
                    "citationMetadata": {"citations": [{"uri": "u", "page": new}]},
                    **STOP,
                }
            ],
            "usageMetadata": {"totalTokenCount": 1, "promptTokensDetails": [{"modality": "TEXT", "share": new}]},
            "cast": new,
        },
    )
    got = out.body["candidates"][0]
    assert (out.body["cast"], got["zone"], got["content"]["tone"]) == (new, new, new)
    assert parts(out) == [text("ab"), {**call(name="f", mood=new), "hue": new}]
    assert got["citationMetadata"]["citations"] == [{"uri": "u", "page": new}]
    assert out.body["usageMetadata"]["promptTokensDetails"] == [{"modality": "TEXT", "share": new}]
    assert {u.where.path for u in out.unknown} == {
        "/cast",
        "/candidates/0/zone",
        "/candidates/0/content/tone",
        "/candidates/0/content/parts/1/hue",
        "/candidates/0/content/parts/1/functionCall/mood",
        "/candidates/0/citationMetadata/citations/0/page",
        "/usageMetadata/promptTokensDetails/0/share",
    }


def test_an_unknown_field_survives_the_next_snapshot() -> None:
    out = collected(
        chunk(text("a")) | {"usageMetadata": {"totalTokenCount": 1, "creditCount": 2}},
        chunk(text("b"), **STOP) | {"usageMetadata": {"totalTokenCount": 3}},
    )
    assert out.body["usageMetadata"] == {"totalTokenCount": 3, "creditCount": 2}
    assert [u.where.path for u in out.unknown] == ["/usageMetadata/creditCount"]


def test_unknown_fields_of_a_streamed_call_stand_in_its_part() -> None:
    out = collected(
        chunk(text("a")),
        chunk(text("b", thoughtSignature="c2ln"), {**call(id="c", name="f", willContinue=True), "hue": 1}),
        chunk({**call(pace=2), "hull": 3}, **STOP),
    )
    assert parts(out)[1] == {**call(id="c", name="f", args={}, pace=2), "hue": 1, "hull": 3}
    assert len(out.unknown) == 3


def test_elements_and_containers_of_a_wrong_type_are_kept_apart() -> None:
    out = collected(
        chunk(text("a")),
        {"candidates": [5, candidate(7, {**text("b"), "hue": 1}), {"content": "lost"}]},
        {"candidates": "none", "usageMetadata": [1], "promptFeedback": "no"},
        chunk(text("c"), citationMetadata={"citations": 3}, **STOP),
    )
    assert parts(out) == [text("a"), {**text("b"), "hue": 1}, text("c")]
    assert sorted(map(str, out.body["unknown_events"])) == sorted(["5", "7", "lost", "none", "[1]", "no", "3"])
    assert len(out.unknown) == 8


_SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.text(max_size=3)
_NAMES = st.sampled_from(
    [
        "candidates", "content", "parts", "role", "text", "thought", "thoughtSignature", "functionCall", "name", "id", "args",
        "partialArgs", "jsonPath", "stringValue", "numberValue", "willContinue", "index", "finishReason", "usageMetadata",
        "totalTokenCount", "promptFeedback", "blockReason", "error", "code", "status", "details", "citationMetadata",
        "citations", "logprobsResult", "chosenCandidates", "groundingMetadata", "groundingChunks", "groundingSupports",
        "segment", "partIndex", "inlineData", "new",
    ]
)  # fmt: skip
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4), max_leaves=20
)
_PARTS = st.lists(st.dictionaries(_NAMES, _VALUES, max_size=3) | _VALUES, max_size=3)
_CANDIDATE = st.fixed_dictionaries({"content": st.fixed_dictionaries({"parts": _PARTS}) | _VALUES}, optional={"index": _VALUES})
_CHUNK = _VALUES | st.fixed_dictionaries(
    {"candidates": st.lists(_CANDIDATE | _VALUES, max_size=3)}, optional={"error": _VALUES}
)


@given(st.lists(_CHUNK, max_size=5), _VALUES)
@settings(max_examples=150, deadline=None)
def test_no_value_anywhere_is_a_crash(chunks: list[Any], request_body: Any) -> None:
    out = collected(*chunks, request=request_body)
    json.dumps(out.body)
    out.response.as_dict()
    for each in chunks:
        read(each).as_dict()
        GEMINI.read_error(400, {}, each).as_dict()


# reading


def test_read_gives_every_part_in_order() -> None:
    body = chunk(
        text("Hm.", thought=True, thoughtSignature="b25l"),
        text("Tide: "),
        {**call(name="f", args={"b": 1, "a": [True]}), "thoughtSignature": "dHdv"},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        call(id="c", name="g"),
        text("low", thoughtSignature="dHJl"),
        **STOP,
    )
    image = body["candidates"][0]["content"]["parts"][3]
    assert read(body).parts == (
        Reasoning(text="Hm.", signature="b25l"),
        Text(text="Tide: "),
        ToolCall(id="call_0", name="f", arguments='{"b":1,"a":[true]}', signature="dHdv", synthetic_id=True),
        Other(kind="inlineData", raw=image),
        ToolCall(id="c", name="g", arguments="{}"),
        Text(text="low", signature="dHJl"),
    )


def test_read_gives_citations_to_the_text_that_they_point_into() -> None:
    first, second, other = ({"segment": {"partIndex": n, "endIndex": 3}} for n in (1, 2, 7))
    body = chunk(text("why", thought=True), text("one"), text("two", thoughtSignature="b25l"))
    body["candidates"][0] |= {
        "citationMetadata": {"citationSources": [{"uri": "u"}]},
        "groundingMetadata": {"groundingSupports": [first, second, other]},
    }
    texts = [part for part in read(body).parts if isinstance(part, Text)]
    assert [t.annotations for t in texts] == [({"uri": "u"}, first, other), (second,)]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("RECITATION", FinishReason.CONTENT_FILTER),
        ("LANGUAGE", FinishReason.CONTENT_FILTER),
        ("TOO_MANY_TOOL_CALLS", FinishReason.ERROR),
        ("IMAGE_OTHER", FinishReason.OTHER),
        ("brand new", FinishReason.OTHER),
        (2, FinishReason.LENGTH),
        (9, FinishReason.OTHER),
        (None, None),
    ],
)
def test_finish_reasons(raw: Any, reason: FinishReason | None) -> None:
    response = read(chunk(text("a"), finishReason=raw))
    assert (response.finish_reason, response.raw_finish_reason) == (reason, None if raw is None else str(raw))


def test_length_and_policy_are_not_masked_by_calls() -> None:
    assert read(chunk(call(name="f"), finishReason="MAX_TOKENS")).finish_reason is FinishReason.LENGTH
    assert read(chunk(call(name="f"), finishReason=1)).finish_reason is FinishReason.TOOL_CALLS


def test_a_total_that_was_not_sent_is_summed_if_it_can_be() -> None:
    counts = {"promptTokenCount": 4, "candidatesTokenCount": "3", "thoughtsTokenCount": 2}
    assert read({"usageMetadata": counts}).usage == Usage(input_tokens=4, output_tokens=3, total_tokens=9, reasoning_tokens=2)
    assert read({"usageMetadata": {"promptTokenCount": 4}}).usage == Usage(input_tokens=4)
    assert read({}).usage is None


def test_the_first_candidate_counts() -> None:
    body = {"candidates": [candidate(text("B"), index=1), candidate(text("A"))]}
    assert read(body).text == "A"
    assert read({"candidates": []}).parts == read([body]).parts == ()


# requests and errors


@pytest.mark.parametrize(
    ("path", "matches", "streams"),
    [
        ("/v1beta/models/g:generateContent", True, False),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", True, True),
        ("/v1beta/models/g:streamGenerateContent", True, True),
        ("/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse", True, True),
        ("/v1beta/models/g%3AstreamGenerateContent?key=k", True, True),
        ("/v1beta/models/g:countTokens", False, False),
        ("/v1beta/openai/chat/completions", False, False),
    ],
)
def test_requests(path: str, matches: bool, streams: bool) -> None:
    assert (GEMINI.matches("POST", path, {}), GEMINI.streams(path, {"stream": True})) == (matches, streams)


def _error(delay: Any = None, **fields: Any) -> dict[str, Any]:
    hint = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}] if delay is not None else []
    return {"error": {**fields, "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}, *hint]}}


@pytest.mark.parametrize(("delay", "seconds"), [("34.4s", 34.4), ("2s", 2.0), ("34400ms", None), (3, None), (None, None)])
def test_the_hint_to_wait_stands_in_the_body(delay: Any, seconds: float | None) -> None:
    body = _error(delay, code=429, message="Slow down.", status="RESOURCE_EXHAUSTED")
    for form in (body, [body]):
        error = GEMINI.read_error(429, {}, form)
        assert (error.kind, error.retryable, error.retry_after) == (ErrorKind.RATE_LIMITED, True, seconds)
    assert collected(body).error == GEMINI.read_error(None, {}, body)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        (400, "INVALID_ARGUMENT", ErrorKind.INVALID_REQUEST),
        (401, "UNAUTHENTICATED", ErrorKind.AUTH),
        (403, "PERMISSION_DENIED", ErrorKind.AUTH),
        (404, "NOT_FOUND", ErrorKind.NOT_FOUND),
        (499, "CANCELLED", ErrorKind.CANCELLED),
        (500, "INTERNAL", ErrorKind.SERVER),
        (503, "UNAVAILABLE", ErrorKind.OVERLOADED),
        (504, "DEADLINE_EXCEEDED", ErrorKind.TIMEOUT),
    ],
)
def test_error_words(status: int, word: str, kind: ErrorKind) -> None:
    body = _error(code=status, message="No.", status=word)
    assert GEMINI.read_error(status, {}, body).kind is kind
    error = collected(chunk(text("a")), body).error
    assert error is not None
    assert (error.kind, error.type, error.code) == (kind, word, status)


def test_an_error_beside_other_fields_and_in_another_form() -> None:
    out = collected(chunk(text("a"), **STOP) | {"error": "out of order"})
    assert out.error is not None
    assert (out.error.message, out.complete, out.response.text) == ("out of order", False, "a")
    assert collected(chunk(text("a"), **STOP) | {"error": None}).complete
    assert GEMINI.read_error(502, {}, "<html>").kind is ErrorKind.SERVER
