"""The names of Bedrock's ConverseStream: its events, which only the frame names, and what stands in their payloads.

Facts from wire/bedrock-converse.md, the recordings and botocore's service model. Every payload has `p` beside its fields,
letters of a random number that hide its size.
"""

from harness.dialects.aws import ASSESSMENT
from harness.vocabulary import FREE, Many, Map, Shape

SOURCE = Shape("bytes", s3Location=Shape("uri bucketOwner"))
FAILURE = Shape("message")
_MEDIA = Shape("format name context", source=SOURCE, error=FAILURE, citations=Shape("enabled"))
RESULT = Shape("text", json=FREE, image=_MEDIA, document=_MEDIA, video=_MEDIA, searchResult=FREE)

_SPAN = Shape("documentIndex searchResultIndex start end")
CITATION = Shape(
    "title source",
    sourceContent=Many(Shape("text")),
    location=Shape(
        web=Shape("url domain"),
        documentChar=_SPAN,
        documentPage=_SPAN,
        documentChunk=_SPAN,
        searchResultLocation=_SPAN,
    ),
)

HEADS = {
    "toolUse": Shape("toolUseId name type"),
    "toolResult": Shape("toolUseId type status"),
    "image": Shape("format"),
}
DELTA = Shape(
    "text",
    toolUse=Shape(input=FREE),  # a string; what is none is reported
    toolResult=Many(RESULT),
    reasoningContent=Shape("text signature redactedContent"),
    citation=CITATION,
    image=Shape(source=SOURCE, error=FAILURE),
)

USAGE = Shape(
    # the names with Count are not in the service model; most bodies that are not streamed have both
    "inputTokens outputTokens totalTokens cacheReadInputTokens cacheWriteInputTokens "
    "cacheReadInputTokenCount cacheWriteInputTokenCount",
    cacheDetails=Many(Shape("ttl inputTokens")),
    serverToolUsage=Shape(),
)
TRACE = Shape(
    guardrail=Shape("actionReason modelOutput", inputAssessment=Map(ASSESSMENT), outputAssessments=Map(Many(ASSESSMENT))),
    promptRouter=Shape("invokedModelId"),
)
METADATA = Shape(
    "p",
    usage=USAGE,
    metrics=Shape("latencyMs"),
    trace=TRACE,
    performanceConfig=Shape("latency"),
    serviceTier=Shape("type"),
)

EVENTS = {
    "messageStart": Shape("role p"),
    "contentBlockStart": Shape("contentBlockIndex p", start=Shape(**HEADS)),
    "contentBlockDelta": Shape("contentBlockIndex p", delta=DELTA),
    "contentBlockStop": Shape("contentBlockIndex p"),
    "messageStop": Shape("stopReason p", additionalModelResponseFields=FREE),
    "metadata": METADATA,
}
