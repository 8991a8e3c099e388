"""Where a streamed Converse reply and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "metrics/latencyMs": "a time: ai__amazon-bedrock-amazon-bedrock-reasoning-0-ff74",
        "output/message/content/*/toolUse/toolUseId": "every call has its own: dd-trace-py__botocore-bedrock-cassettes-bedrock-converse-stream-0-5f85",
        "output/message/content/*/toolResult/toolUseId": "refers to a call: pydantic-ai__models-test-bedrock-test-bedrock-model-code-execution-tool-stream-0-ee75",
        "output/message/content/*/reasoningContent/reasoningText/signature": "signed anew: ai__amazon-bedrock-amazon-bedrock-reasoning-0-ff74",
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
