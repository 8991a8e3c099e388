"""Mutants of the rules of generateContent."""

from __future__ import annotations

from harness.replay.faults import Asked, Drop, Insert, Lose, Set, Write, every, first, last
from tests.conformance.mutants import Mutant

TEXT = "gemini/google/text"
CALL = "gemini/google/tool-call"
THINKS = "gemini/google/reasoning"
BLOCKED = "gemini/google/prompt-blocked"
GROUNDED = "gemini/google/grounding"
FAILS = "gemini/google/error-in-stream"
PIECES = "gemini/vertex/tool-call"
NESTED = "gemini/vertex/tool-call-nested"

FINISH = "/candidates/0/finishReason"
PART = "/candidates/0/content/parts/0"
PARTS = "/candidates/0/content/parts"
PIECE = f"{PART}/functionCall/partialArgs/0"
GROUNDING = "/candidates/0/groundingMetadata"
SEGMENT = f"{GROUNDING}/groundingSupports/0/segment"
ANSWER = {"content": {"parts": [{"text": "Nine."}], "role": "model"}, "finishReason": "STOP", "index": 0}
NO_OUTPUT = {"promptTokenCount": 11, "thoughtsTokenCount": 12, "totalTokenCount": 23}
IMAGE = {"mimeType": "image/png", "data": "iVBORw0KGgo="}
REFUSED = {"promptFeedback": {"blockReason": "SAFETY"}}

MUTANTS = [
    # chunks
    Mutant(rule="GGL-001", cassette=TEXT, faults=(Insert(1, {"text": "a"}),)),
    Mutant(rule="GGL-001", cassette=TEXT, faults=(Set(1, "/candidates/0/content", "green"),), also=("GGL-010",)),
    Mutant(rule="GGL-003", cassette=TEXT, faults=(Insert(-1, b"[DONE]", after=True),)),
    Mutant(rule="GGL-006", cassette=TEXT, faults=(Set(1, "/responseId", "another"),)),
    Mutant(rule="GGL-007", cassette=TEXT, faults=(Drop(2, "/candidates/0/index"),)),
    Mutant(rule="GGL-010", cassette=TEXT, faults=(Drop(1, PARTS),)),
    Mutant(rule="GGL-029", cassette=BLOCKED, faults=(Set(0, "/candidates", [ANSWER]),), also=("GGL-022",)),
    Mutant(rule="GGL-036", cassette=TEXT, faults=(Set(1, "/usageMetadata/totalTokenCount", "17.0"),)),
    Mutant(rule="GGL-037", cassette=TEXT, faults=(Write(0, REFUSED), Lose(3), Lose(2), Lose(1)), also=("HTTP-010",)),
    # the end of a candidate
    Mutant(rule="GGL-002", cassette=TEXT, faults=(Drop(last(FINISH), FINISH),)),
    Mutant(rule="GGL-004", cassette=TEXT, faults=(Set(2, FINISH, "STOP"),)),
    Mutant(rule="GGL-005", cassette=TEXT, faults=(Set(last(FINISH), FINISH, "stop"),)),
    Mutant(rule="GGL-038", cassette=TEXT, faults=(Set(last(FINISH), FINISH, "MALFORMED_FUNCTION_CALL"),), also=("HTTP-010",)),
    # parts
    Mutant(rule="GGL-008", cassette=TEXT, faults=(Set(1, "/candidates/0/content/role", "assistant"),)),
    Mutant(rule="GGL-009", cassette=TEXT, faults=(Set(1, f"{PART}/inlineData", IMAGE),)),
    Mutant(rule="GGL-035", cassette="gemini/google/code-execution", faults=(Lose(first(f"{PART}/executableCode")),)),
    # calls
    Mutant(rule="GGL-011", cassette=CALL, faults=(Set(0, f"{PART}/functionCall/name", ""),)),
    Mutant(rule="GGL-012", cassette=CALL, faults=(Set(0, f"{PART}/functionCall/args", '{"port":"Esbjerg"}'),)),
    Mutant(rule="GGL-013", cassette=PIECES, faults=(Asked("/toolConfig", None),)),
    Mutant(rule="GGL-014", cassette=PIECES, faults=(Lose(0),)),
    Mutant(rule="GGL-015", cassette=PIECES, faults=(Set(every(PIECE), f"{PIECE}/jsonPath", "port"),)),
    Mutant(rule="GGL-016", cassette=PIECES, faults=(Drop(last(PIECE), f"{PIECE}/stringValue"),)),
    Mutant(rule="GGL-017", cassette=NESTED, faults=(Lose(first(f"{PIECE}/stringValue", "")),)),
    Mutant(rule="GGL-018", cassette=PIECES, faults=(Set(-1, PART, {"text": "Done."}),)),
    Mutant(rule="GGL-019", cassette=PIECES, faults=(Set(0, PARTS, lambda parts: [{"functionCall": {}}, *parts]),)),
    # thoughts and signatures
    Mutant(rule="GGL-024", cassette=CALL, faults=(Set(0, f"{PART}/thoughtSignature", "<signed>"),)),
    Mutant(rule="GGL-025", cassette=CALL, faults=(Drop(0, f"{PART}/thoughtSignature"),)),
    Mutant(rule="GGL-026", cassette=CALL, faults=(Set(1, f"{PART}/thoughtSignature", "CpQB"),)),
    Mutant(rule="GGL-027", cassette=THINKS, faults=(Asked("/generationConfig/thinkingConfig", None),)),
    Mutant(rule="GGL-028", cassette=THINKS, faults=(Set(first(f"{PART}/text", " is 7 × 13."), f"{PART}/thought", True),)),
    # usage
    Mutant(rule="GGL-020", cassette=TEXT, faults=(Set(1, "/usageMetadata/totalTokenCount", 5),)),
    Mutant(rule="GGL-021", cassette=TEXT, faults=(Set(-1, "/usageMetadata/totalTokenCount", 99),)),
    Mutant(rule="GGL-022", cassette=TEXT, faults=(Set(-1, "/usageMetadata", NO_OUTPUT),)),
    Mutant(rule="GGL-023", cassette=TEXT, faults=(Set(1, "/usageMetadata", {"trafficType": "ON_DEMAND"}),)),
    # grounding
    Mutant(rule="GGL-030", cassette=GROUNDED, faults=(Set(-1, f"{SEGMENT}/endIndex", 400),)),
    Mutant(rule="GGL-030", cassette=GROUNDED, faults=(Set(-1, f"{SEGMENT}/endIndex", 18),)),
    Mutant(
        rule="GGL-031",
        cassette=GROUNDED,
        before=(Drop(0, GROUNDING), Drop(1, GROUNDING)),
        faults=(Set(1, GROUNDING, {}),),
    ),
    # errors
    Mutant(rule="GGL-032", cassette=FAILS, faults=(Drop(-1, "/error/status"),)),
    Mutant(rule="GGL-032", cassette="gemini/google/error-no-key", faults=(Set(0, "/error/code", 401),)),
    Mutant(
        rule="GGL-033", cassette="gemini/google/error-rate-limit", faults=(Set(0, "/error/details/1/retryDelay", "34400ms"),)
    ),
    Mutant(rule="GGL-034", cassette=FAILS, faults=(Set(-1, "", lambda chunk: {"responseId": "r1Kz", **chunk}),)),
]
