"""Where a streamed `chat.completion` and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own: ai-gateway__internal-testopenai-chat-streaming-web-search-0-d3c3",
        "created": "the time of the answer: ai-gateway__internal-testopenai-chat-streaming-web-search-0-d3c3",
        "system_fingerprint": "the backend that happened to answer: braintrust-sdk-python__braintrust-wrappers-test-openai-parallel-tool-calls-2-3514",
        "choices/*/message/tool_calls/*/id": "every call has its own: ai__alibaba-alibaba-tool-call-0-f8b6",
        "choices/*/logprobs": "numbers move with batching: openllmetry-js__test-openai-instrumentation-1770406427-should-emit-logprobs-spa-b9aa84-0-ead5",
        "timings": "llama.cpp measures itself: fantasy__testopenaicompatiblecommon-llama-cpp-gpt-oss-tool-streaming-0-ad32",
        "moderation/output/results/*/category_scores": "scores of a model that is sampled apart: pydantic-ai__models-test-openai-test-openai-moderation-stream-0-4596",
    }
)

UNSENT = PathSet(
    {
        "choices/*/message/annotations": "an empty list in the twin, no field of a delta: ai-gateway__internal-testopenai-chat-streaming-web-search-0-d3c3",
        "choices/*/message/refusal": "null in the twin; some streams leave it out of the first delta: braintrust-sdk-python__braintrust-wrappers-test-openai-parallel-tool-calls-2-3514",
    }
)

PADDING = PathSet({"service_tier": "echoed on chunks only: ai-gateway__internal-testopenai-chat-streaming-web-search-0-d3c3"})

ENUMERATIONS = PathSet(
    {
        "object": "constant",
        "choices/*/finish_reason": "stop, length, tool_calls, content_filter, function_call",
        "choices/*/message/role": "assistant",
        "choices/*/message/tool_calls/*/type": "function, custom",
    }
)

NULLABLE = PathSet(
    {
        "choices/*/message/content": "text, null without",
        "choices/*/message/refusal": "refusal, null without",
        "choices/*/logprobs": "null where not asked for",
        "system_fingerprint": "null where the backend has none",
    }
)

PARTS = PathSet(
    {
        "choices/*/message/tool_calls": "calls",
        "choices/*/message/function_call": "a call in the old form",
        "choices/*/message/reasoning_content": "reasoning",
        "choices/*/message/reasoning": "reasoning",
        "choices/*/message/reasoning_details": "reasoning",
        "choices/*/message/audio": "audio",
        "choices/*/message/annotations": "citations",
    }
)
