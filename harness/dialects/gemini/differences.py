"""Where a streamed GenerateContentResponse and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "responseId": "every answer has its own",
        "createTime": "a time",
        "candidates/*/content/parts/*/thoughtSignature": "signed anew",
        "candidates/*/content/parts/*/functionCall/id": "every call has its own",
        "candidates/*/avgLogprobs": "numbers move with batching",
    }
)

UNSENT = PathSet(
    {
        "candidates/*/avgLogprobs": "in plain answers only",
        "candidates/*/finishMessage": "in plain answers only",
    }
)

ENUMERATIONS = PathSet(
    {
        "candidates/*/finishReason": "STOP, MAX_TOKENS, SAFETY, …",
        "candidates/*/content/role": "model",
        "promptFeedback/blockReason": "SAFETY, OTHER, …",
    }
)

PARTS = PathSet(
    {
        "candidates/*/groundingMetadata": "the model decides whether to search",
        "candidates/*/citationMetadata": "sampling decides what is cited",
        "candidates/*/content/parts/*/thoughtSignature": "on the first call or the last part of a turn only",
    }
)

FREE = PathSet(
    {
        "candidates/*/content/parts/*/functionCall/args": "the model's arguments",
    }
)
