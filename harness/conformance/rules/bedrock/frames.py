"""Rules about failures in a stream of either API, and about the chunks of Invoke."""

from __future__ import annotations

from harness import payload
from harness.conformance.rules.bedrock.order import BEDROCK
from harness.conformance.rules.bedrock.sights import Chunk, Closing, Failure, Packing
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Unreadable
from harness.findings import Level

_EXCEPTIONS = (
    "internalServerException",
    "modelStreamErrorException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)
_OF_INVOKE = (*_EXCEPTIONS, "modelTimeoutException")
_MODEL = "service model"


@BEDROCK.rule(
    27,
    Level.MUST,
    "the name of an exception is one of the stream's, and begins with a small letter",
    at=Failure,
    needs=[Need.ERROR],
    kind="error/name",
    source=f"{_MODEL}, ConverseStreamOutput and ResponseStream; wire/bedrock-converse.md section 7; BR-099",
    why="SDKs look the name up in the union; whatever it lacks is an unknown event to some, and is passed over.",
    bad=":exception-type ThrottlingException",
    good=":exception-type throttlingException",
    seen="gateways, which take the name of the failure over HTTP",
)
def exception_is_known(it: Failure) -> Said:
    if not it.modelled:
        return None
    known = _OF_INVOKE if it.case.dialect.name == "bedrock-invoke" else _EXCEPTIONS
    if it.name in known:
        return True
    return Breach(f"the exception is called {it.name!r}, and none of {', '.join(known)}", it.path or None, list(known), it.name)


@BEDROCK.rule(
    28,
    Level.MUST,
    "an exception says what happened in `message`",
    at=Failure,
    needs=[Need.ERROR],
    kind="error/detail-lost",
    source=f"{_MODEL}; an error outside it says so in the header `:error-message`",
    why="All that the caller learns is a name.",
    bad="throttlingException {}",
    good='throttlingException {"message":"Too many requests"}',
)
def exception_has_a_message(it: Failure) -> Said:
    told = it.raw.get("message") if it.modelled else (it.frame.headers or {}).get(":error-message")
    if isinstance(told, str) and told:
        return True
    return Breach("the failure has no message" if told is None else f"its message is {told!r}", f"{it.path}/message", got=told)


@BEDROCK.rule(
    29,
    Level.MUST,
    "events of Invoke are called `chunk`, and their `bytes` are JSON in base64",
    at=(Chunk, Packing, Unreadable),
    dialects=["bedrock-invoke"],
    kind="bedrock/chunk",
    source=f"{_MODEL}, PayloadPart; recordings, 604 of 604",
    why="SDKs hand out the bytes of chunks and nothing else; what is in them is for the client to decode.",
    bad='chunk {"outputText":"a"}',
    good='chunk {"bytes":"eyJvdXRwdXRUZXh0IjoiYSJ9"}',
)
def chunk_can_be_unpacked(it: Chunk | Packing | Unreadable) -> Said:
    if isinstance(it, Chunk):
        return True
    name, data = it.frame.name, it.frame.data
    if isinstance(it, Packing):
        if name != "chunk":
            return Breach(f"an event called {name!r}", expected="chunk", got=name)
        return Breach(f"`bytes` is no base64: {payload.quote(data)}", "/bytes", kind="framing/non-json-data")
    try:
        payload.tolerant(data)
    except payload.NotJSON as error:
        what = "the chunk" if name is not None else "what a chunk carries"
        return Breach(f"{what} is no JSON: {payload.quote(data)}: {error}", kind=error.kind)
    return None


@BEDROCK.rule(
    30,
    Level.SHOULD,
    "the last chunk of Invoke has amazon-bedrock-invocationMetrics",
    at=Closing,
    dialects=["bedrock-invoke"],
    kind="usage/missing",
    source="recordings, 50 of 52; wire/bedrock-converse.md section 8",
    why="For most vendors nothing else says how many tokens were used.",
    bad='{"outputText":"a","completionReason":"FINISH"} as the last chunk',
    good='{"outputText":"a","completionReason":"FINISH","amazon-bedrock-invocationMetrics":{…}}',
    seen="a stream of Titan that a guardrail blocked",
)
def last_chunk_has_metrics(it: Closing) -> Said:
    if not it.ending.seen.complete:
        return None
    if it.measured is None:
        return Breach("the turn is complete, and no chunk has the metrics of the invocation")
    last = it.ending.frames - 1
    return True if it.measured == last else Breach(f"{last - it.measured} chunks follow the one with the metrics")
