"""Rules about errors inside a stream."""

from __future__ import annotations

from harness.conformance.rules.openai_responses.sights import ErrorEvent, Terminal
from harness.conformance.rules.openai_responses.values import shown, text
from harness.conformance.rules.rule import Breach, Need, Rules, Said
from harness.findings import Level

ERRORS = Rules("RSP", dialects=["openai-responses"])


@ERRORS.rule(
    36,
    Level.MUST,
    "response.failed has response.error with a code and a message",
    at=Terminal,
    kind="responses/error-form",
    needs=[Need.ERROR],
    source="SDK-OAI, ResponseError; openai-responses.md section 9",
    why="Clients decide by the code whether to try again, and show the message.",
    bad='response.failed with "error":null',
    good='response.failed with "error":{"code":"server_error","message":"…"}',
)
def failed_says_why(it: Terminal) -> Said:
    if it.word != "failed":
        return None
    error = it.raw.get("error")
    if not isinstance(error, dict):
        message = f"response.failed has {shown(error)} as error; an object with code and message was expected"
        return Breach(message, "/response/error", got=error)
    lacking = [name for name in ("code", "message") if not text(error.get(name))]
    if not lacking:
        return True
    return Breach(f"the error of response.failed has no {' and no '.join(lacking)}", "/response/error", got=error)


@ERRORS.rule(
    38,
    Level.MUST,
    "an error event has a message and a code (which may be null), at top level or in an error object",
    at=ErrorEvent,
    kind="responses/error-form",
    needs=[Need.ERROR],
    source="SDK-OAI, ResponseErrorEvent, has them at top level; OpenAI itself nests them (openai-responses.md section 9)",
    why="Clients show an empty message, and cannot tell what may be tried again.",
    bad='{"type":"error","error":"overloaded"}',
    good='{"type":"error","code":"server_error","message":"…","param":null}',
)
def error_has_a_form(it: ErrorEvent) -> Said:
    if not isinstance(it.raw, dict):
        return Breach(f"the error is {shown(it.raw)}; an object with code and message was expected", it.path, got=it.raw)
    lacking = [] if "code" in it.raw else ["code"]
    lacking += [] if text(it.raw.get("message")) else ["message"]
    return Breach(f"the error has no {' and no '.join(lacking)}", it.path, got=it.raw) if lacking else True
