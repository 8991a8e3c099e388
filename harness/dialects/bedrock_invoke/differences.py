"""Where a streamed body of a vendor inside Bedrock and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own",
        "content/*/id": "every call has its own",
        "generations/*/id": "every generation has its own",
        "meta/requestDurationMillis": "a time",
    }
)

UNSENT = PathSet(
    {
        "prompt": "Cohere repeats the prompt in the plain answer only",
        "generations/*/id": "Cohere numbers generations in the plain answer only",
        "model": "Jamba names the model in the plain answer only",
        "choices/*/message/tool_calls": "null in Jamba's plain answer",
    }
)

PADDING = PathSet(
    {
        "amazon-bedrock-invocationMetrics": "on the last event; plain answers have it in headers",
        "metrics": "Nova's metadata event",
        "trace": "Nova's metadata event",
        "object": "Jamba's chunks",
        "choices/*/stop_reason": "Jamba's chunks",
    }
)

ENUMERATIONS = PathSet(
    {
        "stop_reason": "Anthropic's and Llama's words",
        "stopReason": "Nova's words",
        "role": "assistant",
        "results/*/completionReason": "Titan's words",
    }
)

FREE = PathSet(
    {
        "content/*/input": "the model's arguments",
        "output/message/content/*/toolUse/input": "the model's arguments",
    }
)
