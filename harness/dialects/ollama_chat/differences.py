"""Where a streamed answer and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "created_at": "a time: openllmetry__opentelemetry-instrumentation-ollama-test-generation-test-ollam-011440-0-709a",
        "total_duration": "a time: openllmetry__opentelemetry-instrumentation-ollama-test-generation-test-ollam-011440-0-709a",
        "load_duration": "a time: openllmetry__opentelemetry-instrumentation-ollama-test-generation-test-ollam-011440-0-709a",
        "prompt_eval_duration": "a time: openllmetry__opentelemetry-instrumentation-ollama-test-generation-test-ollam-011440-0-709a",
        "eval_duration": "a time: openllmetry__opentelemetry-instrumentation-ollama-test-generation-test-ollam-011440-0-709a",
    }
)

ENUMERATIONS = PathSet(
    {
        "done_reason": "stop, length, load, unload",
        "message/role": "assistant",
    }
)

PARTS = PathSet(
    {
        "message/thinking": "reasoning",
        "message/tool_calls": "calls",
    }
)

FREE = PathSet(
    {
        "message/tool_calls/*/function/arguments": "the model's arguments",
    }
)

NULLABLE = PathSet({"message/content": "text, empty without", "response": "text of /api/generate"})
