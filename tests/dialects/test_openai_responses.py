"""The dialect `openai-responses`: translation, reading, and what it makes of events that are not as they should be."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect, framer
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.dialects.openai_responses import DIALECT
from harness.dialects.openai_responses.growth import SKELETONS
from harness.dialects.openai_responses.reader import read
from harness.dialects.openai_responses.translator import ResponsesTranslator
from harness.dialects.openai_responses.vocabulary import EVENTS
from harness.edits import PartKind
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Refusal, Text, ToolCall, Usage
from tests.responses_events import (
    RESPONSE,
    USAGE,
    added,
    arguments,
    call,
    collected,
    created,
    delta,
    done,
    ended,
    event,
    kinds,
    message,
    part,
    said,
    text,
)

RESPONSES = dialect("openai-responses")


def output(*events: Any) -> list[Any]:
    """The output that events come to, which must be free of remarks, on a stream that repeats nothing at its end."""
    out = collected(created(), *events)
    assert (out.unknown, out.disagreements, kinds(out)) == ((), (), ["stream/truncated"])
    items: list[Any] = out.body["output"]
    return items


def strangers(out: Collected) -> list[tuple[str | None, Any]]:
    return [(unknown.where.path, unknown.value) for unknown in out.unknown]


def differing(out: Collected) -> list[tuple[str | None, Any, Any]]:
    return [(d.where.path, d.gathered, d.repeated) for d in out.disagreements]


# a whole turn, and what is left of it without the repetitions

CITATION = {"type": "url_citation", "url": "https://e.test", "title": "E", "start_index": 0, "end_index": 3}
SUMMARY = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
WEIGHED = {"type": "summary_text", "text": "Weigh it"}
TEXT = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
TURN = [
    created(usage=None, service_tier="auto", tools=[{"type": "function", "name": "tide", "parameters": {"any": {"thing": 1}}}]),
    event("in_progress", response=RESPONSE),
    added(0, type="reasoning", id="rs_1", summary=[], encrypted_content="short"),
    event("reasoning_summary_part.added", **SUMMARY, part=WEIGHED | {"text": ""}),
    delta("Weigh", 0, "rs_1", "reasoning_summary_text", summary_index=0, obfuscation="x1"),
    delta(" it", 0, "rs_1", "reasoning_summary_text", summary_index=0, obfuscation="x22"),
    event("reasoning_summary_text.done", **SUMMARY, text="Weigh it"),
    event("reasoning_summary_part.done", **SUMMARY, part=WEIGHED),
    done(0, type="reasoning", id="rs_1", summary=[WEIGHED], encrypted_content="longer"),
    added(1, **message(status="in_progress")),
    part("added", 1, text(logprobs=[])),
    delta("Low", 1, logprobs=[]),
    delta(" tide.", 1, logprobs=[]),
    event("output_text.annotation.added", **TEXT, annotation_index=0, annotation=CITATION),
    event("output_text.done", **TEXT, text="Low tide.", logprobs=[]),
    part("done", 1, text("Low tide.", logprobs=[], annotations=[CITATION])),
    done(1, **message(text("Low tide.", logprobs=[], annotations=[CITATION]))),
    added(2, **call()),
    arguments('{"port"', 2),
    arguments(':"Brest"}', 2),
    event("function_call_arguments.done", item_id="fc_1", output_index=2, arguments='{"port":"Brest"}'),
    done(2, **call('{"port":"Brest"}')),
]  # fmt: skip
OUTPUT = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Weigh it"}],
        "encrypted_content": "final",
    },
    message(text("Low tide.", logprobs=[], annotations=[CITATION])),
    call('{"port":"Brest"}'),
]


def test_a_whole_turn() -> None:
    out = collected(*TURN, ended(*OUTPUT, service_tier="default", completed_at=1700000001))
    assert (out.complete, out.unknown, out.disagreements, out.notes, out.error) == (True, (), (), (), None)
    envelope = TURN[0]["response"] | {"status": "completed", "service_tier": "default", "completed_at": 1700000001}
    assert out.body == envelope | {"usage": USAGE, "output": OUTPUT}
    assert out.response.parts == (
        Reasoning(text="Weigh it", encrypted="final"),
        Text(text="Low tide.", annotations=(CITATION,)),
        ToolCall(id="call_1", name="tide", arguments='{"port":"Brest"}'),
    )
    assert out.response.usage == Usage(
        input_tokens=9, output_tokens=4, total_tokens=13, cached_tokens=2, cache_write_tokens=1, reasoning_tokens=3
    )


def without_texts(value: Any, empty: bool) -> Any:
    if isinstance(value, dict):
        grown = {"text", "arguments"} & {name for name in value if isinstance(value[name], str)}
        kept = {name: without_texts(field, empty) for name, field in value.items() if name not in grown}
        return kept | dict.fromkeys(grown, "") if empty else kept
    return [without_texts(element, empty) for element in value] if isinstance(value, list) else value


@pytest.mark.parametrize("empty", [True, False], ids=["emptied", "removed"])
@pytest.mark.parametrize("last", [{"output": []}, {"output": None}, {}], ids=["empty", "null", "absent"])
def test_the_turn_is_whole_without_its_repetitions(empty: bool, last: dict[str, Any]) -> None:
    """Law 3: terminal output gone, and every text and argument gone from the done events."""
    events = [without_texts(e, empty) if e["type"].endswith(".done") else e for e in TURN]
    end = ended()
    del end["response"]["output"]
    end["response"] |= last
    out = collected(*events, end)
    expected = json.loads(json.dumps(OUTPUT).replace("final", "longer"))
    assert out.body["output"] == expected
    assert out.response.finish_reason is FinishReason.TOOL_CALLS
    assert kinds(out) == ["responses/completed-output-mismatch"]


def test_repetitions_that_differ_win_and_are_told() -> None:
    """Law 8; what the API encrypts anew each time is no disagreement."""
    other = message(text("Low tide!", logprobs=[], annotations=[CITATION]))
    out = collected(*TURN, ended(OUTPUT[0], other, OUTPUT[2], model="n"))
    assert differing(out) == [("/model", "m", "n"), ("/output/1/content/0/text", "Low tide.", "Low tide!")]
    assert out.response.text == "Low tide!"
    assert RESPONSES.volatile.covers(("output", 0, "encrypted_content"))


def test_without_an_end_the_status_is_no_finish_reason() -> None:
    out = collected(*TURN)
    assert (out.body["status"], out.response.raw_finish_reason, out.response.finish_reason) == ("in_progress", None, None)
    assert out.response.text == "Low tide."


def test_the_name_of_the_last_event_is_the_status_if_there_is_no_other() -> None:
    assert collected(created(), event("completed", response=None)).response.raw_finish_reason == "completed"
    assert collected(event("incomplete")).body["status"] == "incomplete"
    cancelled = collected(created(), ended(word="completed", status="cancelled"))
    assert (cancelled.complete, cancelled.response.finish_reason) == (False, FinishReason.ERROR)


# parts


def test_refusal() -> None:
    empty, full = {"type": "refusal", "refusal": ""}, {"type": "refusal", "refusal": "I can't"}
    events = [added(0, **message()), part("added", 0, empty), delta("I", kind="refusal"), delta(" can't", kind="refusal")]
    finished = event("refusal.done", item_id="msg_1", output_index=0, content_index=0, refusal="I can't")
    out = collected(created(), *events, finished, part("done", 0, full), done(0, **message(full)), ended(message(full)))
    assert (out.response.parts, out.response.text) == ((Refusal(text="I can't"),), None)
    assert (out.response.finish_reason, out.disagreements, out.notes) == (FinishReason.CONTENT_FILTER, (), ())


@pytest.mark.parametrize("name", ["reasoning_text", "reasoning"])
@pytest.mark.parametrize("opening", ["content_part", "reasoning_part"])
def test_raw_reasoning(name: str, opening: str) -> None:
    where = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
    items = output(
        added(0, type="reasoning", id="rs_1", summary=[]),
        event(f"{opening}.added", **where, part={"type": "reasoning_text", "text": ""}),
        event(f"{name}.delta", **where, delta="We "),
        event(f"{name}.delta", **where, delta="count."),
        event(f"{name}.done", **where, text="We count."),
        event(f"{opening}.done", **where, part={"type": "reasoning_text", "text": "We count."}),
    )
    assert items == [
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "We count."}]}
    ]


def test_reasoning_and_its_summary_are_not_both_told() -> None:
    summary, raw = [{"type": "summary_text", "text": "short"}], [{"type": "reasoning_text", "text": "the whole"}]
    assert read({"output": [{"type": "reasoning", "summary": summary, "content": raw}]}).reasoning == "the whole"
    assert read({"output": [{"type": "reasoning", "summary": summary, "content": []}]}).reasoning == "short"


def test_log_probabilities_gather_and_the_rounded_ones_win() -> None:
    long = [{"token": "Low", "logprob": -0.1234567, "bytes": [76], "top_logprobs": []}, {"token": ".", "logprob": -1.5}]
    short = [long[0] | {"logprob": -0.123457}, long[1]]
    events = [
        added(0, **message()),
        part("added", 0, text(logprobs=[])),
        delta("Low", logprobs=long[:1]),
        delta(".", logprobs=long[1:]),
        event("output_text.done", item_id="msg_1", output_index=0, content_index=0, text="Low.", logprobs=long),
        part("done", 0, text("Low.", logprobs=[])),
    ]
    assert output(*events)[0]["content"][0]["logprobs"] == long
    out = collected(
        created(), *events, done(0, **message(text("Low.", logprobs=short))), ended(message(text("Low.", logprobs=short)))
    )
    assert out.body["output"][0]["content"][0]["logprobs"] == short
    assert (out.disagreements, out.notes) == ((), ())


def test_annotations_stand_at_their_index() -> None:
    def cited(index: Any, url: str) -> dict[str, Any]:
        where = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "annotation_index": index}
        return event("output_text.annotation.added", **where, annotation={"type": "url_citation", "url": url})

    items = output(
        added(0, **message()), part("added", 0, text()), cited(1, "b"), cited(0, "a"), cited(0, "c"), cited(None, "d")
    )
    assert [a["url"] for a in items[0]["content"][0]["annotations"]] == ["a", "b", "c", "d"]


# hosted tools


@pytest.mark.parametrize(
    ("item", "name", "final", "where"),
    [
        ("custom_tool_call", "custom_tool_call_input", "input", ("input",)),
        ("mcp_call", "mcp_call_arguments", "arguments", ("arguments",)),
        ("code_interpreter_call", "code_interpreter_call_code", "code", ("code",)),
        ("apply_patch_call", "apply_patch_call_operation_diff", "diff", ("operation", "diff")),
    ],
)
@pytest.mark.parametrize("announced", [True, False])
def test_texts_of_calls_grow(item: str, name: str, final: str, where: tuple[str, ...], announced: bool) -> None:
    key = {"item_id": "i", "output_index": 0}
    begin = [added(0, type=item, id="i", **SKELETONS[item])] if announced else []
    events = [event(f"{name}.delta", **key, delta="a "), event(f"{name}.delta", **key, delta="b")]
    out = collected(created(), *begin, *events, event(f"{name}.done", **key, **{final: "a b"}))
    value = out.body["output"][0]
    for step in where:
        value = value[step]
    assert value == "a b"
    assert out.body["output"][0]["type"] == item
    assert kinds(out)[:-1] == ([] if announced else ["responses/item-not-announced"]) + (
        ["tool/fragment-orphan"] if item == "custom_tool_call" and not announced else []
    )
    assert (out.disagreements, out.unknown) == ((), ())


def test_shell() -> None:
    action = {"commands": [], "timeout_ms": None, "max_output_length": None}

    def command(kind: str, index: int, **fields: Any) -> dict[str, Any]:
        return event(f"shell_call_command.{kind}", output_index=0, command_index=index, **fields)

    def printed(kind: str, **fields: Any) -> dict[str, Any]:
        return event(f"shell_call_output_content.{kind}", item_id="o", output_index=1, command_index=0, **fields)

    result = {"stdout": "bin\netc", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    items = output(
        added(0, type="shell_call", id="s", call_id="c", status="in_progress", action=action),
        command("added", 0, command=""),
        command("delta", 0, delta="ls "),
        command("delta", 0, delta="/", obfuscation="q"),
        command("done", 0, command="ls /"),
        command("added", 1, command=""),
        command("delta", 1, delta="pwd"),
        done(0, type="shell_call", id="s", call_id="c", status="completed", action=action | {"commands": ["ls /", "pwd"]}),
        added(1, type="shell_call_output", id="o", call_id="c", output=[]),
        printed("delta", delta={"stdout": "bin\n"}),
        printed("delta", delta={"stdout": "etc"}),
        printed("done", output=[result]),
        done(1, type="shell_call_output", id="o", call_id="c", output=[result]),
    )
    assert items[0]["action"] == action | {"commands": ["ls /", "pwd"]}
    assert items[1]["output"] == [result]


def test_fields_that_only_the_finished_item_has() -> None:
    """A status and results are news, not repetitions; a client's tool search is done under another call_id."""
    search = {"type": "web_search_call", "id": "w", "status": "in_progress"}
    found = search | {
        "status": "completed",
        "action": {"type": "search", "query": "tide", "sources": [{"type": "url", "url": "u"}]},
    }
    tools = {
        "type": "tool_search_call",
        "id": "t",
        "call_id": "c1",
        "status": "in_progress",
        "arguments": {},
        "execution": "client",
    }
    picked = tools | {"call_id": "c2", "status": "completed", "arguments": {"goal": "any", "free": {"x": 1}}}
    image = {"type": "image_generation_call", "id": "g", "status": "in_progress"}
    drawn = image | {"status": "generating", "result": "aWk=", "size": "1x1"}
    where = {"item_id": "g", "output_index": 2}
    items = output(
        added(0, **search),
        event("web_search_call.searching", item_id="w", output_index=0),
        event("web_search_call.completed", item_id="w", output_index=0),
        done(0, **found),
        added(1, **tools),
        done(1, **picked),
        added(2, **image),
        event("image_generation_call.partial_image", **where, partial_image_index=0, partial_image_b64="aQ==", size="1x1"),
        done(2, **drawn),
        event("keepalive"),
    )
    assert items == [found, picked, drawn]
    assert [p.kind for p in read({"output": items}).parts if isinstance(p, Other)] == [
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
    ]


def test_speech_is_kept_beside_the_output() -> None:
    """Base64 fragments are joined by their bytes."""
    speech = [event("audio.delta", delta=d) for d in ("aGk=", "IHlvdQ==")]
    out = collected(created(), *speech, event("audio.transcript.delta", delta="hi you"), event("audio.done"), ended())
    assert out.body["audio"] == {"data": "aGkgeW91", "transcript": "hi you"}
    assert out.response.parts == (Other(kind="audio", raw=out.body["audio"]),)
    assert out.unknown == ()


# which item an event is about


def test_an_id_that_rotates_does_not_split_an_item() -> None:
    """A new id in every event, as GitHub Copilot's proxy has it; the last one counts."""
    events = [
        added(0, **message(id="a", status="in_progress")),
        part("added", 0, text(), "b"),
        *(delta(piece, item=f"x{n}") for n, piece in enumerate(["Low", " ti", "de"])),
        event("output_text.done", item_id="c", output_index=0, content_index=0, text="Low tide"),
        done(0, **message(text("Low tide"), id="d")),
        ended(message(text("Low tide"), id="e")),
    ]
    out = collected(created(), *events)
    assert out.body["output"] == [message(text("Low tide"), id="e")]
    assert kinds(out) == ["responses/item-id-unstable"]
    assert [d[0] for d in differing(out)] == ["/output/0/id", "/output/0/id"]


def test_two_items_at_one_index_are_told_apart_by_their_ids() -> None:
    events = [*said("Look here")[:-1], added(0, **call()), arguments('{"a"'), delta(" now", item="msg_1"), arguments(":1}")]
    out = collected(created(), *events, ended(message(text("Look here now")), call('{"a":1}')))
    assert (out.response.text, out.response.tool_calls[0].arguments) == ("Look here now", '{"a":1}')
    assert kinds(out) == ["responses/index-collision"]


def test_a_call_is_not_put_into_the_message_at_its_index() -> None:
    """Nobody announced the call, and its events bear the index of a message."""
    out = collected(created(), *said("Look here"), arguments("{}", 0, "fc_9"), ended())
    assert (out.response.text, [c.arguments for c in out.response.tool_calls]) == ("Look here", ["{}"])
    assert "responses/index-collision" in kinds(out)


def test_items_and_parts_without_any_index() -> None:
    """As llama.cpp has it: ids only, and finished items after all of them."""
    one, two = call('{"a":1}'), call('{"b":2}', id="fc_2", call_id="call_2")
    first, second = (
        message(text("One"), text("two"), id="m"),
        [part("added", 0, text(), "m"), delta("One", 0, "m"), delta("two", 0, "m")],
    )
    for each in second:
        del each["output_index"], each["content_index"]
    fragments = [
        event("function_call_arguments.delta", item_id=i, delta=d) for i, d in (("fc_1", '{"a":1}'), ("fc_2", '{"b":2}'))
    ]
    out = collected(
        created(),
        added(None, **message(id="m")),
        *second[:2],
        second[0],
        second[2],
        added(None, **call()),
        fragments[0],
        added(None, **call(id="fc_2", call_id="call_2")),
        fragments[1],
        *(done(None, **item) for item in (first, one, two)),
        ended(first, one, two),
    )
    assert out.body["output"] == [first, one, two]
    assert (out.notes, out.disagreements) == ((), ())


def test_an_item_announced_as_null_leaves_a_gap() -> None:
    real = [e | {"output_index": 1} for e in said("Hey you")]
    out = collected(created(), event("output_item.added", output_index=0, item=None), *real, ended(message(text("Hey you"))))
    assert (out.response.text, kinds(out), out.complete) == ("Hey you", ["responses/item-null"], True)
    assert out.disagreements == ()


def test_items_and_parts_that_were_never_announced() -> None:
    silent = collected(created(), delta("Low "), delta("tide"), ended(message(text("Low tide"))))
    assert (silent.response.text, kinds(silent)) == ("Low tide", ["responses/item-not-announced"])
    partless = collected(created(), added(0, **message()), delta("Low "), delta("tide"), ended(message(text("Low tide"))))
    assert (partless.response.text, kinds(partless)) == ("Low tide", ["responses/part-not-announced"])
    last = collected(created(), done(0, **message(text("Low"))), ended(message(text("Low"))))
    assert (last.response.text, kinds(last)) == ("Low", ["responses/item-not-announced"])
    late = collected(created(), added(0, **message()), delta("Low "), part("added", 0, text()), delta("tide"), ended())
    assert late.response.text == "Low tide"


def test_what_was_announced_in_full_is_not_doubled() -> None:
    filled = collected(created(), added(0, **message()), part("added", 0, text("Echo")), delta("Ec"), delta("ho"), ended())
    assert (filled.response.text, "responses/part-prefilled" in kinds(filled)) == ("Echo", True)
    kept = collected(created(), added(0, **message()), part("added", 0, text("Echo")), delta(""), ended())
    assert (kept.response.text, "responses/part-prefilled" in kinds(kept)) == ("Echo", False)
    args = collected(created(), added(0, **call("{}")), arguments('{"a"'), arguments(":1}"), ended())
    assert args.response.tool_calls[0].arguments == '{"a":1}'
    whole = collected(created(), added(0, **message(text("Echo"))), delta("Echo"), ended())
    assert whole.response.text == "Echo"


def test_a_resumed_stream_starts_in_the_middle() -> None:
    """The repetitions say more than what gathered, and nothing is amiss."""
    events = [delta(" tide", 1), *(e | {"output_index": 1} for e in said("Low tide")[4:])]
    first = {"type": "reasoning", "id": "rs_1", "summary": []}
    out = collected(*events, ended(first, message(text("Low tide"))))
    assert (out.complete, out.notes, out.disagreements) == (True, (), ())
    assert out.body["output"] == [first, message(text("Low tide"))]


def test_more_and_fewer_items_at_the_end() -> None:
    more = collected(created(), *said("Low tide"), ended(message(text("Low tide")), call("{}")))
    assert (len(more.response.parts), kinds(more)) == (2, ["responses/completed-output-mismatch"])
    fewer = collected(created(), *said("Low tide"), added(1, **call()), arguments("{}", 1), ended(call("{}")))
    assert (fewer.response.text, fewer.response.tool_calls[0].arguments) == ("Low tide", "{}")
    assert kinds(fewer) == ["responses/completed-output-mismatch"]
    failed = collected(created(), *said("Low tide"), ended(word="failed", error={"code": "server_error", "message": "x"}))
    assert (failed.response.text, failed.notes) == ("Low tide", ())


# ends, errors and strangers


def test_nothing_is_merged_after_the_end() -> None:
    after = [delta(" more", extra=1), event("output_item.added", output_index=5, item={"type": "new"})]
    out = collected(created(), *said("Low tide"), ended(message(text("Low tide"))), *after, "[DONE]")
    assert (out.response.text, out.complete, out.unknown) == ("Low tide", True, ())
    assert kinds(out) == ["stream/data-after-done"] * 2
    early = collected(created(), "[DONE]", ended(message(text("x"))), "[DONE]")
    assert (early.complete, kinds(early)) == (False, ["stream/data-after-done"] * 2 + ["stream/truncated"])


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "error", "code": "server_is_overloaded", "message": "later", "param": None},
        {"type": "error", "error": {"type": "x", "code": "overloaded", "message": "later", "param": None}},
        {"error": {"message": "later", "code": "503"}},
        {"error": "later"},
        {"type": "response.output_text.done", "error": {"message": "later"}},
    ],
)
def test_every_form_of_an_error(payload: dict[str, Any]) -> None:
    out = collected(created(), payload)
    assert out.error is not None
    assert (out.error.message, out.complete, out.notes) == ("later", False, ())
    assert bool(out.unknown) is ("type" not in payload or payload["type"] != "error")


def test_strangers_are_kept_where_they_belong() -> None:
    part_of = text("Low tide", tint=3)
    out = collected(
        created(zeal=1),
        added(0, **message(hue=[{"a": 1}])),
        part("added", 0, text() | {"shade": "s"}),
        delta("Low ", glow=4),
        delta("tide", blaze={"x": 5}),
        done(0, **message(part_of, spark=2)),
        ended(message(part_of, spark=2), {"type": "novel", "id": "n", "deep": {"er": 1}}, usage=USAGE | {"extra_tokens": 7}),
    )
    assert dict(strangers(out)) == {
        "/response/zeal": 1,
        "/item/hue": [{"a": 1}],
        "/part/shade": "s",
        "/glow": 4,
        "/blaze": {"x": 5},
        "/item/spark": 2,
        "/item/content/0/tint": 3,
        "/response/output/0/spark": 2,
        "/response/output/0/content/0/tint": 3,
        "/response/output/1": {"type": "novel", "id": "n", "deep": {"er": 1}},
        "/response/usage/extra_tokens": 7,
    }
    content = text("Low tide", tint=3, shade="s", glow=4, blaze={"x": 5})
    assert out.body["output"] == [message(content, hue=[{"a": 1}], spark=2), {"type": "novel", "id": "n", "deep": {"er": 1}}]
    assert (out.body["zeal"], out.body["usage"]["extra_tokens"]) == (1, 7)


def test_a_stranger_in_one_of_two_texts_that_grow_at_once() -> None:
    begin = [added(n, **message(id=f"m{n}")) for n in (0, 1)] + [part("added", n, text(), f"m{n}") for n in (0, 1)]
    pieces = [delta("a", 0, "m0"), delta("b", 1, "m1"), delta("a", 0, "m0", odd=1)]
    out = collected(created(), *begin, *pieces, ended())
    assert [item["content"][0].get("odd") for item in out.body["output"]] == [1, None]


def test_strangers_among_parts_keep_the_keys_of_the_wire() -> None:
    """Bedrock numbers parts over the whole response, so that a message begins with part 1."""
    events = [e | ({"content_index": 1} if "content_index" in e else {}) for e in said("Low tide")[:-1]]
    out = collected(created(), *events, done(0, **message(text("Low tide", tint=3))), ended())
    assert out.body["output"][0]["content"] == [text("Low tide", tint=3)]


def test_every_level_of_the_vocabulary_is_closed() -> None:
    """A new name at any object level of a whole turn is met."""

    def levels(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if isinstance(value, list):
            return [p for i, v in enumerate(value) for p in levels(v, (*path, i))]
        if not isinstance(value, dict) or (path and path[-1] == "parameters"):
            return []
        return [path] + [p for name, v in value.items() for p in levels(v, (*path, name))]

    turn = [*TURN, ended(*OUTPUT, moderation={"input": {"categories": {"a": True}}}, reasoning={"effort": None})]
    for number, each in enumerate(turn):
        for path in levels(each):
            changed = json.loads(json.dumps(turn))
            place = changed[number]
            for step in path:
                place = place[step]
            if path[-1:] == ("categories",):
                continue
            place["novelty"] = 1
            assert any(p == "/" + "/".join(map(str, (*path, "novelty"))) for p, _ in strangers(collected(*changed))), (
                number,
                path,
            )


# awkward input

SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["", "msg_1", "fc_1", "message", "0"])
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "text", "0"]), v)
)
NAMES = sorted(EVENTS) + ["response.new", "x:y"]
FIELDS = [
    "output_index",
    "item_id",
    "content_index",
    "summary_index",
    "delta",
    "text",
    "part",
    "item",
    "response",
    "error",
    "output",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), VALUES)), max_size=8))
def test_any_types_in_any_event(events: list[tuple[str, dict[str, Any]]]) -> None:
    collector = StreamCollector("openai-responses")
    for number, (name, fields) in enumerate(events):
        item = {"type": "message", "content": [{"type": "output_text", "text": "x"}], **fields}
        for fill in ({}, {"item": item, "part": item, "response": {"output": [item, fields], **fields}}):
            collector.add(Frame(number, name, json.dumps({"type": name, **fields, **fill}).encode()))
            json.dumps(collector.response.as_dict())
    collector.close()


@pytest.mark.parametrize("value", [5, ["a"], True, {"a": {"b": 1}}])
def test_texts_of_a_wrong_type_are_kept_and_told(value: Any) -> None:
    out = collected(created(), added(0, **message()), part("added", 0, text()), delta("a"), delta(value), delta("b"), ended())
    assert out.response.text == "ab"
    assert len(out.unknown) == 1
    assert json.dumps(value) in json.dumps(out.body)


def test_arguments_sent_as_an_object() -> None:
    out = collected(created(), added(0, **call()), arguments({"b": 1, "a": [2]}), done(0, **call(arguments={"b": 1})), ended())
    assert kinds(out)[:2] == ["tool/arguments-not-string"] * 2
    assert out.response.tool_calls[0].arguments == '{"b":1}'


def test_a_long_text_reads_the_same_however_it_is_remembered() -> None:
    """Past some hundred pieces, payloads are matched by a pattern; what does not fit takes the careful way."""
    pieces = [f'wörd{n} "q" \\ \u2028\n' if n % 3 else f"w{n}" for n in range(700)] + [
        "",
        "🚀",
        "}",
        '","obfuscation":"x"',
    ]
    events = [
        added(0, **message()),
        part("added", 0, text()),
        *(delta(p, logprobs=[], obfuscation="ab1" * (i % 4)) for i, p in enumerate(pieces)),
    ]
    out = collected(created(), *events, delta("!", extra=1), ended(message(text("".join(pieces) + "!"))))
    assert (out.response.text, out.disagreements) == ("".join(pieces) + "!", ())
    assert [path for path, _ in strangers(out)] == ["/extra"]


def test_pieces_of_one_text_go_to_one_target() -> None:
    """So that repeated payloads need no decoding; a new target would make each of them new."""
    translator = ResponsesTranslator()
    frames = framer("sse").feed(b"".join(f"data: {json.dumps(e)}\n\n".encode() for e in [*TURN[:10], *(TURN[11],) * 6]))
    targets = {id(edit.target) for frame in frames for edit in translator.translate(frame) if edit.value == "Low"}
    assert len(targets) == 1


# reading


@pytest.mark.parametrize(
    "body",
    [None, 5, [], {}, {"output": 3}, {"output": [None, 1, {}]}, {"output": [{"type": "message", "content": "x"}], "usage": []}],
)
def test_reading_anything(body: Any) -> None:
    response = read(body)
    assert (response.text, response.tool_calls, response.usage, response.finish_reason) == (None, [], None, None)


def test_reading_calls() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "function_call", "id": "fc", "name": None, "arguments": None},
    ]
    response = read({"status": "completed", "output": items})
    assert response.parts == (
        ToolCall(id="c", name="sql", arguments="select 1", kind="custom"),
        ToolCall(id="call_1", name="", arguments="", synthetic_id=True),
    )
    assert response.finish_reason is FinishReason.TOOL_CALLS


@pytest.mark.parametrize(
    ("status", "raw", "reason"),
    [
        ("completed", "completed", FinishReason.STOP),
        ("failed", "failed", FinishReason.ERROR),
        ("cancelled", "cancelled", FinishReason.ERROR),
        ("novel", "novel", FinishReason.OTHER),
        ("in_progress", None, None),
        ("queued", None, None),
        (7, None, None),
    ],
)
def test_finish_reasons(status: Any, raw: str | None, reason: FinishReason | None) -> None:
    response = read({"status": status})
    assert (response.raw_finish_reason, response.finish_reason) == (raw, reason)


def test_cost_of_openrouter() -> None:
    response = read({"model": "m", "usage": USAGE | {"cost": 8.6e-06}})
    assert response.cost is not None
    assert (str(response.cost.total_cost), response.cost.input_tokens, response.cost.cached_tokens) == ("0.0000086", 9, 2)
    assert read({"usage": USAGE | {"cost": True}}).cost is None


# requests and their errors


@pytest.mark.parametrize(
    ("method", "path", "matches"),
    [
        ("POST", "/v1/responses", True),
        ("POST", "/openai/responses?api-version=1", True),
        ("GET", "/v1/responses/resp_1?stream=true&starting_after=4", True),
        ("POST", "/v1/responses/resp_1/cancel", False),
        ("GET", "/v1/responses/resp_1/input_items", False),
        ("POST", "/v1/chat/completions", False),
    ],
)
def test_requests(method: str, path: str, matches: bool) -> None:
    assert RESPONSES.matches(method, path, {}) is matches


def test_streaming_requests() -> None:
    assert RESPONSES.streams("/v1/responses", {"stream": True})
    assert RESPONSES.streams("/v1/responses/resp_1?stream=true&starting_after=4", None)
    assert not RESPONSES.streams("/v1/responses", {"stream": 1})
    assert not RESPONSES.streams("/v1/responses/resp_1", None)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"message": "slow", "type": "rate_limit_error", "code": None}}, ErrorKind.RATE_LIMITED),
        (400, {"error": {"message": "prompt is too long", "type": "invalid_request_error"}}, ErrorKind.CONTEXT_OVERFLOW),
        (404, {"detail": "Not Found"}, ErrorKind.NOT_FOUND),
        (502, "bad gateway", ErrorKind.SERVER),
        (401, None, ErrorKind.AUTH),
    ],
)
def test_errors_before_the_stream(status: int, body: Any, kind: ErrorKind) -> None:
    error = RESPONSES.read_error(status, {}, body)
    assert (error.kind, error.status) == (kind, status)
    assert error.message


class TestACallThatTheProviderCarriesOut:
    """xAI tells its own searches as custom calls of a tool that nobody declared (recorded: openai-responses/xai/tool-call)."""

    ITEM: ClassVar[dict[str, Any]] = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "c",
        "name": "x_search",
        "input": "tides",
    }

    @pytest.mark.parametrize(
        ("tools", "calls"),
        [
            ([{"type": "x_search"}], 0),
            ([{"type": "custom", "name": "x_search"}], 1),
            ([{"type": "function", "name": "other"}], 0),
            ([], 1),
            (None, 1),
        ],
    )
    def test_plain_and_streamed(self, tools: Any, calls: int) -> None:
        body = {"id": "r", "object": "response", "status": "completed", "tools": tools, "output": [self.ITEM]}
        assert len(DIALECT.read(body).tool_calls) == calls
        opened = {"type": "response.created", "response": {**body, "status": "in_progress", "output": []}}
        added = {"type": "response.output_item.added", "output_index": 0, "item": {**self.ITEM, "input": ""}}
        delta = {"type": "response.custom_tool_call_input.delta", "output_index": 0, "item_id": "ctc_1", "delta": "tides"}
        translator = DIALECT.translator({})
        kinds = set()
        for number, payload in enumerate((opened, added, delta)):
            frame = Frame(number, None, json.dumps(payload).encode())
            kinds |= {edit.part.kind for edit in translator.translate(frame)}
        assert (PartKind.TOOL_CALL in kinds) == bool(calls)
