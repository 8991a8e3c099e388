"""Where a streamed `chat.completion` and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own",
        "created": "the time of the answer",
        "system_fingerprint": "the backend that happened to answer",
        "choices/*/message/tool_calls/*/id": "every call has its own",
        "choices/*/logprobs": "numbers move with batching",
        "timings": "llama.cpp measures itself",
        "moderation/input/results/*/category_scores": "scores of a model that is sampled apart",
        "moderation/output/results/*/category_scores": "scores of a model that is sampled apart",
    }
)

UNSENT = PathSet(
    {
        "choices/*/message/annotations": "an empty list in the twin, no field of a delta",
        "choices/*/message/refusal": "null in the twin; some streams leave it out of the first delta",
    }
)

PADDING = PathSet({"service_tier": "echoed on chunks only"})

ENUMERATIONS = PathSet(
    {
        "object": "constant",
        "choices/*/finish_reason": "stop, length, tool_calls, content_filter, function_call",
        "choices/*/message/role": "assistant",
        "choices/*/message/tool_calls/*/type": "function, custom",
    }
)

PARTS = PathSet(
    {
        "choices/*/message/content": "text",
        "choices/*/message/refusal": "refusal",
        "choices/*/message/tool_calls": "calls",
        "choices/*/message/function_call": "a call in the old form",
        "choices/*/message/reasoning_content": "reasoning",
        "choices/*/message/reasoning": "reasoning",
        "choices/*/message/reasoning_details": "reasoning",
        "choices/*/message/audio": "audio",
        "choices/*/message/annotations": "citations",
    }
)
