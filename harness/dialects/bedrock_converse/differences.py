"""Where a streamed Converse reply and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "metrics/latencyMs": "a time",
        "output/message/content/*/toolUse/toolUseId": "every call has its own",
        "output/message/content/*/toolResult/toolUseId": "refers to a call",
        "output/message/content/*/reasoningContent/reasoningText/signature": "signed anew",
    }
)

ENUMERATIONS = PathSet(
    {
        "stopReason": "end_turn, tool_use, max_tokens, …",
        "output/message/role": "assistant",
    }
)

FREE = PathSet(
    {
        "output/message/content/*/toolUse/input": "the model's arguments",
        "additionalModelResponseFields": "fields that the request named",
    }
)
