"""Verdicts: each check passes and fails, and each for its own reason."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from harness import suite
from harness.adapters import Observation, Ours
from harness.cassette.model import Cassette, Exchange
from harness.conformance import inspection, native
from harness.conformance.judge import judge
from harness.conformance.rules import RULES, inspector
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import UnsupportedDialectError
from harness.findings import KINDS, Level
from tests import chat
from tests.exchanges import cassette, completion, document, exchange, sse

TURN = (chat.opens("Hello"), chat.text(" there"), chat.stops())
TWIN = completion({"content": "Hello there"})
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


@pytest.fixture(autouse=True)
def _no_vendor_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 4 has tests of its own; here it is as if no vendor's package were installed."""
    monkeypatch.setattr(native, "findings", lambda dialect, body: None)


def verdicts_of(case: Cassette) -> dict[Check, Verdict]:
    """The verdicts without those of the catalogue: what is judged of an adapter that has read the bytes itself."""
    sides = [Ours().observe(side, case.dialect) if side is not None else None for side in (case.stream, case.reference)]
    return {verdict.check: verdict for verdict in judge(case, *sides)}


def musts(verdict: Verdict) -> list[str]:
    return [f.kind for f in verdict.findings if f.level is Level.MUST]


def judged(*payloads: Any, twin: Any = None, end: bool = True, **more: Any) -> dict[Check, Verdict]:
    reference = None if twin is None else document(twin)
    return verdicts_of(cassette(exchange(sse(*payloads, end=end)), reference, **more))


def test_a_turn_that_is_as_it_should_be() -> None:
    verdicts = judged(*TURN, twin=TWIN)
    assert {check: (v.grade, v.findings) for check, v in verdicts.items()} == {
        Check.FRAMING: (Grade.PASS, ()),
        Check.REASSEMBLY: (Grade.PASS, ()),
        Check.REFERENCE: (Grade.PASS, ()),
    }
    assert {v.events for v in verdicts.values()} == {4}
    assert not any(v.bad for v in verdicts.values())


def test_a_verdict_says_whose_it_is() -> None:
    (verdict, *_) = judged(*TURN, twin=TWIN, id="openai-chat/here/greeting").values()
    line = verdict.as_dict()
    assert (line["cassette"], line["dialect"], line["provider"], line["adapter"], line["fault"], line["known"]) == (
        "openai-chat/here/greeting",
        "openai-chat",
        "here",
        "ours",
        None,
        None,
    )


# which checks there are


def test_checks_are_those_that_apply() -> None:
    stream, twin = exchange(sse(*TURN)), document(TWIN)
    assert list(verdicts_of(cassette(stream))) == [Check.FRAMING, Check.REASSEMBLY]
    assert list(verdicts_of(cassette(None, twin))) == [Check.REASSEMBLY]
    assert judge(cassette(stream, twin), None, None) == []


@pytest.mark.parametrize(
    ("provider", "end", "applies"), [("openai", TURN, True), ("here", TURN, False), ("openai", TURN[:1], False)]
)
def test_the_vendors_type_judges_whole_first_party_bodies(
    provider: str, end: tuple[Any, ...], applies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "findings", lambda dialect, body: [])
    assert (Check.NATIVE in judged(*end, provider=provider)) is applies


def test_no_line_is_written_where_the_vendors_package_is_missing() -> None:
    assert Check.NATIVE not in judged(*TURN, provider="openai")


def test_an_unlike_body_fails_the_native_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.errors import Where
    from harness.findings import Finding

    flaw = Finding(kind="native/unlike", message="/id: missing", where=Where(path="/id"))
    monkeypatch.setattr(native, "findings", lambda dialect, body: [flaw])
    verdict = judged(*TURN, provider="openai")[Check.NATIVE]
    assert (verdict.grade, musts(verdict)) == (Grade.WRONG, ["native/unlike"])
    assert verdict.findings[0].rule == "REASM-002"


# framing and reassembly


def test_framing_fails_for_framing_alone() -> None:
    verdicts = judged(chat.text("a"), b'{"broken', chat.stops())
    assert musts(verdicts[Check.FRAMING]) == ["framing/invalid-json"]
    assert verdicts[Check.FRAMING].findings[0].rule == "SSE-015"
    assert musts(verdicts[Check.REASSEMBLY]) == []


def test_a_framing_finding_that_is_no_must_passes() -> None:
    verdicts = verdicts_of(cassette(exchange(b"\xef\xbb\xbf" + sse(*TURN))))
    assert [f.kind for f in verdicts[Check.FRAMING].findings] == ["framing/bom"]
    assert verdicts[Check.FRAMING].grade is Grade.PASS


@pytest.mark.parametrize(
    ("payloads", "end", "kind"),
    [
        ((chat.text("a"), chat.stops()), False, "stream/done-missing"),
        ((chat.text("a"),), True, "stream/finish-missing"),
        ((chat.text("a"),), False, "stream/truncated"),
        ((), False, "stream/empty"),
        ((chat.text("a"), chat.stops(), chat.DONE, chat.text("b")), False, "stream/data-after-done"),
        ((chat.calls(chat.head(None, "c", "f", "{}")), chat.stops("tool_calls")), True, "tool/index-missing"),
    ],
)
def test_reassembly_fails_for_a_turn_that_is_not_whole(payloads: tuple[Any, ...], end: bool, kind: str) -> None:
    verdicts = judged(*payloads, end=end)
    assert kind in musts(verdicts[Check.REASSEMBLY])
    assert verdicts[Check.REASSEMBLY].grade is Grade.WRONG


@pytest.mark.parametrize(
    ("provider", "level", "grade"), [("openai", Level.MUST, Grade.WRONG), ("here", Level.INFO, Grade.PASS)]
)
def test_an_unknown_field_is_a_fault_in_first_party_recordings_only(provider: str, level: Level, grade: Grade) -> None:
    verdict = judged(chat.says({"content": "a"}, stranger={"x": 1}), chat.stops(), provider=provider)[Check.REASSEMBLY]
    (finding,) = verdict.findings
    assert (finding.kind, finding.level, finding.got, verdict.grade) == ("field/unknown", level, {"x": 1}, grade)
    assert finding.where.path == "/stranger"


def test_a_media_type_that_is_not_the_streams_fails_reassembly() -> None:
    verdicts = verdicts_of(cassette(exchange(sse(*TURN), media="text/html")))
    assert musts(verdicts[Check.REASSEMBLY]) == ["http/content-type"]
    assert musts(verdicts[Check.FRAMING]) == []


# by the catalogue


def run_of(case: Cassette) -> dict[Check, Verdict]:
    """The verdicts of the main program: our own pipeline reads, and the rules look on."""
    return {verdict.check: verdict for verdict in suite.run([case], adapters=[Ours()]).verdicts}


def test_the_catalogue_has_a_verdict_of_its_own() -> None:
    verdicts = run_of(cassette(exchange(sse(*TURN)), document(TWIN)))
    assert {check: (v.grade, v.findings) for check, v in verdicts.items()} == {
        Check.FRAMING: (Grade.PASS, ()),
        Check.REASSEMBLY: (Grade.PASS, ()),
        Check.REFERENCE: (Grade.PASS, ()),
        Check.RULES: (Grade.PASS, ()),
    }
    assert Check.RULES in run_of(cassette(None, document(TWIN)))


@pytest.mark.parametrize(
    ("payloads", "end", "rule"),
    [
        ((chat.text("Hello"), chat.stops()), True, "OAI-C-011"),
        (TURN, False, "OAI-C-001"),
        (TURN[:2], True, "OAI-C-014"),
        ((*TURN, chat.DONE, chat.text("b")), False, "SSE-016"),
        ((chat.opens(None), chat.calls(chat.head(None, "c", "f", "{}")), chat.stops("tool_calls")), True, "OAI-C-022"),
    ],
)
def test_what_a_rule_says_is_said_once(payloads: tuple[Any, ...], end: bool, rule: str) -> None:
    verdicts = run_of(cassette(exchange(sse(*payloads, end=end)), id="openai-chat/here/one"))
    (finding,) = [f for f in verdicts[Check.RULES].findings if f.level is Level.MUST]
    assert (finding.rule, finding.where.cassette, finding.where.exchange) == (rule, "openai-chat/here/one", 0)
    assert finding.blame == "server or gateway"
    assert verdicts[Check.RULES].grade is Grade.WRONG
    assert musts(verdicts[Check.REASSEMBLY]) == musts(verdicts[Check.FRAMING]) == []


def test_rules_about_frames_are_judged_with_the_framing() -> None:
    verdicts = run_of(cassette(exchange(sse(chat.opens("a"), b'{"broken', chat.stops()))))
    assert [f.rule for f in verdicts[Check.FRAMING].findings] == ["SSE-015"]
    assert (verdicts[Check.FRAMING].grade, verdicts[Check.RULES].grade) == (Grade.WRONG, Grade.PASS)


def test_what_rules_say_of_the_twin_is_placed_there() -> None:
    streamed = exchange(sse(*TURN), request={"stream": False, "messages": []})
    verdict = run_of(cassette(exchange(sse(*TURN)), streamed))[Check.RULES]
    assert {(f.rule, f.where.exchange) for f in verdict.findings if f.level is Level.MUST} == {("HTTP-003", 1)}


def test_the_catalogue_is_about_bytes_and_not_about_adapters() -> None:
    assert Check.RULES not in {v.check for v in suite.run([cassette(exchange(sse(*TURN)))], adapters=[Foreign()]).verdicts}


def test_a_rule_that_cannot_be_evaluated_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise KeyError("x")

    broken = replace(RULES["OAI-C-011"], check=fail)
    rules = partial(inspector, rules=[broken])
    monkeypatch.setattr(inspection, "inspector", lambda case, _: rules(case))
    outcome = suite.run([cassette(exchange(sse(*TURN)))])
    assert outcome.harness_failed
    assert "OAI-C-011: KeyError: 'x'" in outcome.verdicts[0].findings[0].message


# errors and endings that were recorded


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_a_refusal_that_was_recorded_passes(status: int) -> None:
    error = document({"error": {"message": "no", "type": "t", "code": None}}, status=status)
    for case in (cassette(error), cassette(None, error)):
        verdicts = verdicts_of(case)
        assert {v.grade for v in verdicts.values()} == {Grade.PASS}
        assert [f.kind for f in verdicts[Check.REASSEMBLY].findings] == ["error/http"]
        assert f"HTTP {status}: no" in verdicts[Check.REASSEMBLY].findings[0].message


def test_an_error_in_the_stream_that_was_recorded_passes() -> None:
    verdicts = judged(chat.text("a"), {"error": {"message": "overloaded", "type": "server_error"}}, end=False)
    assert {v.grade for v in verdicts.values()} == {Grade.PASS}
    (finding,) = verdicts[Check.REASSEMBLY].findings
    assert (finding.kind, finding.rule) == ("error/in-band", "HTTP-010")


@pytest.mark.parametrize(("ending", "kind"), [("reset", "stream/reset"), ("timeout", "stream/stalled")])
def test_a_cut_that_was_recorded_passes(ending: Any, kind: str) -> None:
    verdicts = verdicts_of(cassette(exchange(sse(*TURN[:1], end=False), ending=ending)))
    assert {v.grade for v in verdicts.values()} == {Grade.PASS}
    kinds = {f.kind: f.level for f in verdicts[Check.REASSEMBLY].findings}
    assert kinds == {kind: Level.INFO, "stream/truncated": Level.INFO}


@pytest.mark.parametrize("ending", ["eof", "reset", "timeout"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "stream/empty"),
        (sse(*TURN, end=False), "stream/done-missing"),
        (sse(*TURN, end=False)[:-1], "framing/unterminated-event"),
    ],
)
def test_a_cut_blames_the_server_where_nothing_else_explains_it(body: bytes, kind: str, ending: Any) -> None:
    """By the collector and by the rules alike."""
    case = cassette(exchange(body, ending=ending))
    found = [f for judged in (verdicts_of(case), run_of(case)) for v in judged.values() for f in v.findings if f.kind == kind]
    assert {f.level for f in found} == {Level.MUST if ending == "eof" else Level.INFO}
    assert len(found) >= 2


@pytest.mark.parametrize("ending", ["reset", "timeout"])
def test_a_cut_excuses_nothing_else(ending: Any) -> None:
    body = sse(chat.calls(chat.more(None, "{}")), end=False)
    verdict = verdicts_of(cassette(exchange(body, ending=ending)))[Check.REASSEMBLY]
    assert "tool/index-missing" in musts(verdict)


def test_a_body_that_just_ends_is_the_servers_fault() -> None:
    assert judged(*TURN[:1], end=False)[Check.REASSEMBLY].grade is Grade.WRONG


def test_a_turn_that_failed_is_not_compared() -> None:
    stream, twin = exchange(sse(*TURN)), document(TWIN)
    failed = exchange(sse({"error": {"message": "no"}}, end=False))
    refused = document({"error": {"message": "no"}}, status=500)
    assert Check.REFERENCE not in verdicts_of(cassette(failed, twin))
    assert Check.REFERENCE not in verdicts_of(cassette(stream, refused))
    assert Check.REFERENCE not in verdicts_of(cassette(stream, document([TWIN, TWIN])))


# against the twin


@pytest.mark.parametrize(
    ("twin", "kind", "path"),
    [
        (completion({"content": "Hello here"}), "reference/value", "/choices/0/message/content"),
        (completion({"content": None}), "reference/value", "/choices/0/message/content"),
        (completion({"content": "Hello there"}, "length"), "reference/value", "/choices/0/finish_reason"),
        (completion({"content": "Hello there", "tool_calls": []}), "reference/absent", "/choices/0/message/tool_calls"),
        (completion({"content": "Hello there"}, choices=[]), "reference/extra", "/choices/0"),
        ({**TWIN, "usage": USAGE, "extra": 1}, "reference/absent", "/extra"),
    ],
)
def test_every_difference_to_an_exact_twin_is_a_fault(twin: Any, kind: str, path: str) -> None:
    verdict = judged(*TURN, twin=twin)[Check.REFERENCE]
    assert verdict.grade is Grade.WRONG
    assert (kind, path) in {(f.kind, f.where.path) for f in verdict.findings}
    assert all(f.message.startswith(f.where.path or "/") for f in verdict.findings)


def test_what_differs_by_nature_is_none() -> None:
    twin = {**TWIN, "id": "chatcmpl-2", "created": 1, "system_fingerprint": "fp"}
    stream = (chat.says({"content": "Hello there"}, system_fingerprint="fq"), chat.stops())
    assert judged(*stream, twin=twin)[Check.REFERENCE].findings == ()


def test_a_type_that_differs_is_a_fault_even_where_values_differ_by_nature() -> None:
    verdict = judged(*TURN, twin={**TWIN, "created": "today"})[Check.REFERENCE]
    assert musts(verdict) == ["reference/value"]


OTHER_TURN = completion({"content": "Something else"}, usage=USAGE)


def test_a_twin_that_was_sampled_apart_is_compared_by_shape() -> None:
    with_usage = (*TURN, {**chat.chunk(), "usage": {**USAGE, "completion_tokens": 9}})
    assert judged(*with_usage, twin=OTHER_TURN, match="shape")[Check.REFERENCE].findings == ()
    verdict = judged(*TURN, twin=completion({"content": 1}), match="shape")[Check.REFERENCE]
    assert musts(verdict) == ["reference/type"]
    assert verdict.findings[0].rule == "REASM-004"


def test_a_word_of_the_api_counts_by_shape_too() -> None:
    verdict = judged(*TURN, twin=completion({"content": "Something else"}, "length"), match="shape")[Check.REFERENCE]
    (finding,) = verdict.findings
    assert (finding.kind, finding.rule, finding.expected, finding.got) == ("reference/word", "REASM-027", "length", "stop")


def test_the_same_turn_twice_is_compared_by_value_though_shape_was_asked_for() -> None:
    """Where the same request happened to be answered alike, equal values are expected."""
    stream = exchange(sse(*TURN), request={"stream": True, "stream_options": {"include_usage": True}, "n": 1})
    same = exchange(_body({**TWIN, "tier": 1}), media="application/json", request={"stream": False, "n": 1})
    other = exchange(_body({**TWIN, "tier": 1}), media="application/json", request={"stream": False, "n": 2})
    assert musts(verdicts_of(cassette(stream, same, match="shape"))[Check.REFERENCE]) == ["reference/absent"]
    number = {**TWIN, "object": "chat.completions"}
    for twin, expected in ((same, "exact"), (other, "shape")):
        body = exchange(_body(number), media="application/json", request=twin.request.json)
        (finding,) = verdicts_of(cassette(stream, body, match="shape"))[Check.REFERENCE].findings
        assert finding.kind == ("reference/value" if expected == "exact" else "reference/word")


@pytest.mark.parametrize(("pair_kind", "match"), [("near", "shape"), ("exact", "shape"), ("exact", "exact")])
def test_how_alike_the_requests_are_is_not_how_alike_the_answers_must_be(pair_kind: Any, match: Any) -> None:
    verdict = judged(*TURN, twin=completion({"content": "Something else"}), pair_kind=pair_kind, match=match)[Check.REFERENCE]
    assert (verdict.grade is Grade.WRONG) == (match == "exact")


def test_usage_that_was_not_asked_for_is_not_missed() -> None:
    twin = document(completion({"content": "Hello there"}, usage=USAGE))
    grades = []
    for options in ({}, {"stream_options": {"include_usage": True}}):
        stream = exchange(sse(*TURN), request={"stream": True, **options})
        grades.append(verdicts_of(cassette(stream, twin))[Check.REFERENCE].grade)
    assert grades == [Grade.PASS, Grade.WRONG]


def test_findings_say_where() -> None:
    verdict = judged(*TURN, twin=completion({"content": "Hello where"}))[Check.REFERENCE]
    (finding,) = verdict.findings
    where = finding.where
    assert (where.cassette, where.exchange, where.frame, where.path) == (
        "openai-chat/here/case",
        0,
        1,
        "/choices/0/message/content",
    )
    assert where.span is not None
    assert sse(*TURN)[slice(*where.span)] == b"t"


# the run


class Failing:
    name, version = "failing", "1"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def observe(self, exchange: Exchange, dialect: str) -> Observation:
        raise self._error


class Foreign:
    """An adapter that is not ours, though it sees what ours does."""

    name, version = "foreign", "1"

    def observe(self, exchange: Exchange, dialect: str) -> Observation:
        return Ours().observe(exchange, dialect)


def test_a_fault_of_ours_is_a_verdict_of_its_own_and_ends_nothing() -> None:
    cases = [cassette(exchange(sse(*TURN)), id=name) for name in ("one", "two")]
    outcome = suite.run(cases, adapters=[Failing(RuntimeError("oops")), Ours()])
    assert outcome.cassettes == 2
    assert outcome.harness_failed
    assert not outcome.conforms
    failed = [v for v in outcome.verdicts if v.grade is Grade.HARNESS_ERROR]
    assert [(v.cassette, v.adapter) for v in failed] == [("one", "failing"), ("two", "failing")]
    assert "RuntimeError: oops" in failed[0].findings[0].message
    assert len(outcome.verdicts) == 8


def test_an_input_that_cannot_be_read_is_no_fault_of_ours() -> None:
    with pytest.raises(UnsupportedDialectError):
        suite.run([cassette(exchange(sse(*TURN)))], adapters=[Failing(UnsupportedDialectError("x", []))])


def test_times_are_told_and_nothing_else_depends_on_them() -> None:
    case = cassette(exchange(sse(*TURN)), document(TWIN))
    ticks = iter(range(100))
    told: list[str] = []
    outcome = suite.run([case], clock=lambda: float(next(ticks)), progress=lambda c: told.append(c.id))
    assert outcome.seconds == 3.0
    assert {v.ms for v in outcome.verdicts} == {round(1000 / 5, 3)}
    assert told == [case.id]


def test_kinds_that_the_judge_makes_are_on_the_list() -> None:
    assert {f"reference/{what}" for what in ("absent", "extra", "value", "type", "word")} <= KINDS.keys()


def _body(value: Any) -> bytes:
    return chat.encoded(value)
