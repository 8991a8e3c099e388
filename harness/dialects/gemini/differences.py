"""Where a streamed GenerateContentResponse and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "responseId": "every answer has its own: braintrust-sdk-python__braintrust-wrappers-test-basic-completion-stream-0-2ac7",
        "createTime": "a time: fantasy__testgooglecommon-vertex-gemini-2-5-flash-tool-streaming-0-0eb0",
        "candidates/*/content/parts/*/thoughtSignature": "signed anew: chatlas__test-provider-google-test-google-web-fetch-0-b194",
        "candidates/*/content/parts/*/functionCall/id": "every call has its own: fantasy__testgooglecommon-gemini-3-pro-preview-multi-tool-streaming-0-e825",
    }
)

UNSENT = PathSet(
    {
        "candidates/*/avgLogprobs": "in plain answers only: braintrust-sdk-python__braintrust-wrappers-test-basic-completion-stream-0-2ac7",
        "candidates/*/finishMessage": "in plain answers only: fantasy__testgooglecommon-gemini-3-pro-preview-multi-tool-streaming-0-e825",
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
