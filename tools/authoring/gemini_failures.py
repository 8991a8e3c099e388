"""What goes wrong at the Gemini API: refusals, errors in a stream, and streams that are cut."""

from __future__ import annotations

from collections.abc import Iterator

from authoring.gemini import FLASH, Object, answered, asks, candidate, refused, streamed
from authoring.gemini_turns import FERRY
from harness.cassette import Cassette
from harness.cassette.model import Ending

_CATEGORIES = ("HARM_CATEGORY_SEXUALLY_EXPLICIT", "HARM_CATEGORY_HATE_SPEECH", "HARM_CATEGORY_HARASSMENT")
_QUOTA = "generativelanguage.googleapis.com/generate_content_free_tier_requests"


def failures() -> Iterator[Cassette]:
    yield from _blocked()
    yield from _refused()
    overloaded = {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}
    yield _broken("error-in-stream", [*_begun(), {"error": overloaded}])
    internal = {"code": 500, "message": "An internal error has occurred.", "status": "INTERNAL"}
    yield _broken("error-first", [{"error": internal}])
    yield _broken("cut-off", _begun(), ending="reset")
    yield _broken("cut-off-in-event", _begun(), ending="reset", left=57)
    yield _broken("cut-off-array", _begun(), ending="reset", array=True, left=0)


def _begun() -> list[Object]:
    return [_piece("The ferry"), _piece(" is green and")]


def _piece(text: str) -> Object:
    return {"candidates": [candidate([{"text": text}])], "usageMetadata": _counts(3)}


def _counts(answer: int = 0) -> Object:
    told = {"promptTokenCount": 11, "candidatesTokenCount": answer, "totalTokenCount": 11 + answer}
    return {name: count for name, count in told.items() if count}


def _broken(
    scenario: str,
    chunks: list[Object],
    *,
    ending: Ending = "eof",
    array: bool = False,
    left: int | None = None,
) -> Cassette:
    told = [chunk if "error" in chunk else {**chunk, **FLASH.constant} for chunk in chunks]
    stream = streamed(asks(FERRY), told, ending=ending, array=array, left=left)
    return FLASH.service.case(scenario, FLASH.name, stream)


def _blocked() -> Iterator[Cassette]:
    """Status 200 all the same; a prompt that is blocked has no candidate."""
    feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": _counts()}
    yield answered("prompt-blocked", asks("(a prompt that is blocked)"), [feedback], feedback)


def _refused() -> Iterator[Cassette]:
    violation = {"quotaMetric": _QUOTA, "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "quotaValue": "15"}
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "21.5s"},
    ]
    message = "You exceeded your current quota. Please retry in 21.5s."
    yield refused(
        "error-rate-limit",
        asks(FERRY),
        {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details},
    )
    message = "API key not valid. Please pass a valid API key."
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    yield refused(
        "error-no-key", asks(FERRY), {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": [reason]}
    )
