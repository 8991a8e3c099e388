"""Where a streamed response and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own: activeagent__responses-native-format-test-test-agent-functions-with-streaming-0-8abb",
        "created_at": "a time: activeagent__responses-native-format-test-test-agent-functions-with-streaming-0-8abb",
        "completed_at": "a time: ai__open-responses-responses-lmstudio-basic-1-0-42cf",
        "output/*/id": "every item has its own: activeagent__responses-native-format-test-test-agent-functions-with-streaming-0-8abb",
        "output/*/call_id": "every call has its own: activeagent__responses-native-format-test-test-agent-functions-with-streaming-0-8abb",
        "output/*/encrypted_content": "encrypted anew: ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/fingerprint": "encrypted anew: ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/content/*/logprobs": "numbers move with batching: pydantic-ai__models-test-openai-test-openai-instructions-with-responses-logp-e8ed5f-0-aa18",
    }
)

RESTATED = PathSet(
    {
        "output/*/encrypted_content": "encrypted anew for the terminal response: ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/fingerprint": "encrypted anew for the terminal response: ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/content/*/logprobs/*/logprob": "full precision in deltas, six digits in the finished item: chatlas__test-provider-openai-test-openai-logprobs-0-0e11",
    }
)

UNSENT = PathSet(
    {
        "billing": "in plain answers only: activeagent__responses-native-format-test-test-agent-functions-with-streaming-0-8abb",
    }
)

ENUMERATIONS = PathSet(
    {
        "object": "constant",
        "status": "completed, incomplete, failed, …",
        "output/*/type": "kinds of items",
        "output/*/role": "assistant",
        "output/*/content/*/type": "kinds of parts",
    }
)

PARTS = PathSet(
    {
        "output/*/content": "reasoning text, or a message that says nothing",
        "output/*/summary": "reasoning that is summarised or not",
        "output/*/content/*/annotations": "sampling decides what is cited",
    }
)

FREE = PathSet(
    {
        "output/*/arguments": "the model's arguments, where they are an object",
        "tools/*/parameters": "the user's schemas",
        "metadata": "the user's own",
    }
)

ECHOED = PathSet(
    {
        "instructions": "of the request",
        "tools": "of the request",
        "tool_choice": "of the request",
        "text": "of the request",
        "reasoning": "of the request",
        "store": "of the request",
        "metadata": "of the request",
        "temperature": "of the request",
        "top_p": "of the request",
        "max_output_tokens": "of the request",
        "parallel_tool_calls": "of the request",
        "truncation": "of the request",
        "previous_response_id": "of the request",
        "prompt_cache_key": "of the request",
        "service_tier": "of the request",
        "user": "of the request",
        "background": "of the request",
        "safety_identifier": "of the request",
        "max_tool_calls": "of the request",
        "top_logprobs": "of the request",
    }
)
