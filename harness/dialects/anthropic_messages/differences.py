"""Where a streamed message and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own: activeagent__anthropic-native-format-test-test-agent-tools-with-streaming-0-443c",
        "content/*/id": "every call has its own: ai__anthropic-anthropic-code-execution-20250825-1-0-deee",
        "content/*/tool_use_id": "refers to a call: ai__anthropic-anthropic-code-execution-20250825-1-0-deee",
        "content/*/signature": "signed anew: fantasy__testanthropicthinkingwithcachecontrol-claude-sonnet-4-thinking--dbb9b1-0-b5b7",
        "content/*/data": "encrypted anew: pydantic-ai__models-test-anthropic-test-anthropic-model-thinking-part-redact-a068ee-0-ee64",
    }
)

ENUMERATIONS = PathSet(
    {
        "type": "constant",
        "role": "assistant",
        "stop_reason": "end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal",
        "content/*/type": "kinds of blocks",
    }
)

PARTS = PathSet(
    {
        "content/*/citations": "sampling decides what is cited",
    }
)

FREE = PathSet(
    {
        "content/*/input": "the model's arguments",
    }
)
