"""Whose fault a finding is: server, gateway, client, network or recording, and a damaged recording told from a bad server."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import replace

import pytest

from harness import cassette as cassettes
from harness import checking, dialects
from harness.api_error import ApiError, ErrorKind
from harness.cassette.model import Chunk, Exchange
from harness.checking import Checked
from harness.conformance import judge
from harness.conformance.attribution import attributed, in_order
from harness.conformance.damage import damage
from harness.conformance.inspection import case_of, inspect
from harness.conformance.rules.blame import GATEWAYS, SERVERS, whose
from harness.conformance.rules.rule import Blame
from harness.conformance.verdict import Check, Grade
from harness.dialects import names
from harness.errors import Where
from harness.findings import Finding, Level
from harness.inputs import Input
from tests import chat
from tests.exchanges import CHAT, cassette, completion, document, exchange, sse

CHAT_API = dialects.dialect("openai-chat")
BODY = sse(chat.opens("Hel"), chat.text("lo"), chat.stops())
HALF = sse(chat.opens("Hel"), chat.text("lo"), end=False)
NAMELESS = sse(chat.opens(None), chat.calls(chat.head(0, None, "quote", "{}")), chat.stops("tool_calls"))


def checked(stream: Exchange, provider: str = "unknown", dialect: str = "openai-chat") -> Checked:
    api = dialects.dialect(dialect)
    return checking.check(Input(name="x", dialect=api, detected=False, exchanges=(stream,), provider=provider))


def blames(stream: Exchange, provider: str = "unknown", dialect: str = "openai-chat") -> dict[str, str | None]:
    """Of each kind that is found, whose fault it is."""
    return {finding.kind: finding.blame for finding in checked(stream, provider, dialect).findings}


def levels(stream: Exchange, provider: str = "unknown") -> dict[str, Level]:
    return {finding.kind: finding.level for finding in checked(stream, provider).findings}


def bare(body: bytes) -> Exchange:
    """A capture of which nothing but the body is known."""
    return Exchange(chunks=(Chunk(data=body),))


# who answered


@pytest.mark.parametrize(
    ("provider", "headers", "blame"),
    [
        ("openai", {}, "server"),
        ("llamacpp", {}, "server"),
        ("openrouter", {}, "gateway"),
        ("unknown", {}, "server or gateway"),
        ("openai", {"x_litellm_version": "1"}, "server or gateway"),
        ("openrouter", {"x_litellm_version": "1"}, "gateway"),
    ],
)
def test_who_answered_narrows_it_down(provider: str, headers: dict[str, str], blame: str) -> None:
    assert blames(exchange(NAMELESS, **headers), provider)["tool/id-missing"] == blame


def test_only_what_a_server_or_a_gateway_did_depends_on_who_answered() -> None:
    case = case_of(exchange(BODY), CHAT_API, "openrouter")
    for blame in Blame:
        assert whose(blame, case) is (Blame.GATEWAY if blame is Blame.SERVER_OR_GATEWAY else blame)


def test_nobody_is_both_a_server_and_a_gateway() -> None:
    assert not SERVERS & set(GATEWAYS)
    vendors = {vendor for name in names() for vendor in dialects.dialect(name).vendors}
    assert not vendors & set(GATEWAYS)


# errors


@pytest.mark.parametrize(
    ("status", "body", "blame"),
    [
        (400, {"error": {"message": "no model", "type": "invalid_request_error"}}, "client"),
        (401, {"error": {"message": "no key"}}, "client"),
        (429, {"error": {"message": "slow down"}}, "nobody"),
        (500, {"error": {"message": "oops"}}, "server"),
    ],
)
def test_whose_fault_an_error_status_is(status: int, body: object, blame: str) -> None:
    assert blames(document(body, status=status), "openai")["error/http"] == blame


def test_whose_fault_an_error_inside_the_stream_is() -> None:
    overloaded = sse(chat.opens("He"), {"error": {"message": "overloaded", "type": "server_error"}}, end=False)
    assert blames(exchange(overloaded), "openai")["error/in-band"] == "server"
    refused = sse({"error": {"message": "bad", "type": "invalid_request_error"}}, end=False)
    assert blames(exchange(refused), "openai")["error/in-band"] == "client"


@pytest.mark.parametrize("kind", ErrorKind)
def test_every_sort_of_error_is_somebodys(kind: ErrorKind) -> None:
    (found,) = attributed(
        [Finding(kind="error/in-band", message="m", blame="nobody")],
        case_of(exchange(BODY), CHAT_API),
        ApiError(kind=kind, message="m"),
    )
    assert found.blame in {blame.value for blame in Blame}


# bodies that end too early


def test_a_body_that_ends_between_frames_is_its_senders() -> None:
    assert blames(exchange(HALF), "openai")["stream/truncated"] == "server"
    assert blames(exchange(HALF), "portkey")["stream/truncated"] == "gateway"


def test_a_server_does_not_stop_inside_its_own_frame() -> None:
    found = blames(exchange(BODY[:-40]), "openai")
    assert found["framing/frame-truncated"] == found["stream/truncated"] == "network or recording"


def test_of_a_bare_capture_nobody_knows_whether_it_is_whole() -> None:
    assert blames(bare(HALF))["stream/truncated"] == "unknown"
    assert blames(bare(HALF[:-9]))["stream/truncated"] == "network or recording"


@pytest.mark.parametrize("at", [-1, -40, -200])
def test_a_connection_that_broke_blames_no_server(at: int) -> None:
    found = checked(exchange(BODY[:at], ending="reset"), "openai").findings
    assert {finding.blame for finding in found} - {"nobody"} == {"network"}
    assert all(finding.level is Level.INFO for finding in found)


def test_a_whole_turn_whose_connection_broke_before_the_marker() -> None:
    stream = exchange(sse(chat.opens("Hello"), chat.stops(), end=False), ending="reset")
    assert blames(stream, "openai") == {"stream/reset": "network", "stream/done-missing": "network"}
    assert levels(replace(stream, ending="eof"))["stream/done-missing"] is Level.MUST


def test_a_body_shorter_than_announced_was_not_kept_whole() -> None:
    stream = exchange(HALF, content_length=str(len(BODY)))
    assert blames(stream, "openai") == {"recording/length": "recording", "stream/truncated": "recording"}
    assert set(levels(stream, "openai").values()) == {Level.INFO}
    assert checked(stream, "openai").outcome is checking.Outcome.ERROR, "the turn is not whole, whoever cut it"


# recordings that were changed


def test_a_length_that_is_not_the_announced_one() -> None:
    longer = exchange(BODY, content_length=str(len(BODY) - 3))
    assert blames(longer) == {"recording/length": "recording"}
    assert checked(longer).outcome is checking.Outcome.OK
    assert blames(exchange(BODY, content_length=str(len(BODY)))) == {}
    assert blames(exchange(BODY, content_length="many")) == {}


def test_a_header_of_an_encoding_that_was_taken_off() -> None:
    stream = exchange(BODY, content_encoding="gzip", content_length="77")
    assert blames(stream) == {"recording/decoded": "recording"}
    assert checked(stream).outcome is checking.Outcome.OK
    packed = gzip.compress(BODY)
    assert blames(exchange(packed, content_encoding="gzip", content_length=str(len(packed)))) == {}
    assert blames(exchange(packed[:-8], content_encoding="gzip", content_length=str(len(packed))))["recording/length"]


@pytest.mark.parametrize("through", [("utf-8", "replace"), ("latin-1", "strict")])
def test_a_compressed_body_that_was_saved_as_text(through: tuple[str, str]) -> None:
    mangled = gzip.compress(BODY).decode(*through).encode()
    found = blames(exchange(mangled, content_encoding="gzip"), "openai")
    assert found["recording/text"] == "recording"
    assert {blame for kind, blame in found.items() if kind.startswith(("framing/", "stream/", "http/"))} == {"recording"}


def event_stream() -> Exchange:
    return next(
        case.stream
        for case in cassettes.load(cassettes.shipped())
        if case.dialect == "bedrock-converse" and case.stream is not None and case.stream.status == 200
    )


def test_an_event_stream_that_was_saved_as_text() -> None:
    stream = event_stream()
    mangled = replace(stream, chunks=(Chunk(data=stream.body.decode(errors="replace").encode()),))
    found = checked(mangled, "bedrock", "bedrock-converse").findings
    (text,) = [finding for finding in found if finding.kind == "recording/text"]
    start, end = text.where.span or (0, 0)
    assert mangled.body[start:end] == "\ufffd".encode()
    assert {finding.blame for finding in found if finding.level is Level.MUST} == {"recording"}


def test_a_frame_that_was_edited_by_hand() -> None:
    stream = event_stream()
    body = bytearray(stream.body)
    body[body.index(b'"') + 1] ^= 1
    edited = replace(stream, chunks=(Chunk(data=bytes(body)),))
    assert blames(edited, "bedrock", "bedrock-converse")["framing/bad-crc"] == "recording"


def test_a_sound_recording_is_not_suspected() -> None:
    """Those of others are not all sound: some were unpacked, or written anew, by those who kept them."""
    sound = [case for case in cassettes.load(cassettes.shipped()) if case.provenance.kind != "anonymized"]
    for case in sound:
        for side in (case.stream, case.reference):
            if side is not None:
                framing = case_of(side, dialects.dialect(case.dialect)).framing
                assert damage(side, framing, suspect=True).findings == ()


# every finding


def test_every_finding_of_a_capture_is_attributed() -> None:
    for body in (BODY, HALF, NAMELESS, b"", b"\xff", b"data: {\n\n", BODY + HALF, sse({"odd": 1})):
        assert all(finding.blame is not None for finding in checked(exchange(body)).findings)


def test_findings_that_no_rule_made() -> None:
    kinds = {
        "reader/comment": "client",
        "events/turn": "client",
        "loop/cancelled": "client",
        "reference/value": "unknown",
        "native/unlike": "unknown",
        "harness/failed": "nobody",
        "stream/stalled": "network",
        "field/unknown": "nobody",
        "repeat/differs": "server or gateway",
    }
    case = case_of(exchange(BODY), CHAT_API)
    found = attributed([Finding(kind=kind, message="m") for kind in kinds], case, None)
    assert {finding.kind: finding.blame for finding in found} == kinds


def test_a_run_says_it_too() -> None:
    case = cassette(exchange(NAMELESS, content_length="9"), document(completion({"content": "Hello"})), provider="openrouter")
    verdicts = ruled(case.stream, case.provider)
    found = {finding.kind: finding for verdict in verdicts for finding in verdict.findings}
    assert found["tool/id-missing"].blame == "gateway"
    assert found["recording/length"].where.exchange == 0
    assert found["recording/length"].where.cassette == case.id


def test_a_cut_recording_fails_no_run() -> None:
    verdicts = ruled(exchange(HALF, ending="reset"), "openai")
    assert {verdict.grade for verdict in verdicts} == {Grade.PASS}
    verdicts = ruled(exchange(HALF, content_length=str(len(BODY))), "openai")
    assert {verdict.grade for verdict in verdicts if verdict.check is not Check.NATIVE} == {Grade.PASS}


def ruled(stream: Exchange | None, provider: str) -> list[judge.Verdict]:
    assert stream is not None
    seen, judged = inspect(stream, "openai-chat", provider)
    return judge.judge(cassette(stream, provider=provider), seen, None, (judged, None))


# the order in which findings are told


def kinds_of(findings: Iterable[Finding]) -> list[str]:
    return [finding.kind for finding in findings]


def test_findings_are_told_by_their_place() -> None:
    def at(kind: str, exchange: int = 0, **where: object) -> Finding:
        return Finding(kind=kind, message="", where=Where(exchange=exchange, **where))  # type: ignore[arg-type]

    first = [
        at("http/content-type"),
        at("framing/bom", span=(0, 3)),
        at("tool/id-missing", span=(10, 30), frame=1),
        at("tool/index-missing", span=(10, 40), frame=1),
        at("finish/repeated", span=(200, 210), frame=3),
        at("stream/truncated", span=(300, 300)),
        at("usage/missing"),
        at("http/content-type", exchange=1),
    ]
    assert in_order(reversed(first)) == first


def test_a_body_that_ends_too_early_is_pointed_at_where_it_ends() -> None:
    (found,) = [f for f in checked(exchange(HALF)).findings if f.kind == "stream/truncated"]
    assert found.where.span == (len(HALF), len(HALF))


def test_several_attempts_are_told_one_after_the_other() -> None:
    refused = document({"error": {"message": "busy"}}, status=503, path=CHAT)
    given = Input(name="x", dialect=CHAT_API, detected=False, exchanges=(refused, exchange(HALF)))
    found = checking.check(given).findings
    assert [finding.where.exchange for finding in found] == sorted(finding.where.exchange or 0 for finding in found)
    assert kinds_of(found)[0] == "error/http"
