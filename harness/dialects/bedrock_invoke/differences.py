"""Where a streamed body of a vendor inside Bedrock and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
        "content/*/id": "every call has its own: fantasy__testbedrockcommon-bedrock-anthropic-claude-opus-4-6-tool-streaming-0-33c8",
        "generations/*/id": "every generation has its own: openllmetry-js__test-cohere-with-aws-bedrock-instrumentation-859624008-should-s-614deb-0-3e9d",
        "meta/requestDurationMillis": "a time: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
    }
)

UNSENT = PathSet(
    {
        "id": "Cohere numbers answers in the plain one only: dd-trace-py__botocore-bedrock-cassettes-cohere-invoke-stream-multi-output-0-180e",
        "prompt": "Cohere repeats the prompt in the plain answer only: dd-trace-py__botocore-bedrock-cassettes-cohere-invoke-stream-multi-output-0-180e",
        "generations/*/id": "Cohere numbers generations in the plain answer only: dd-trace-py__botocore-bedrock-cassettes-cohere-invoke-stream-multi-output-0-180e",
        "model": "Jamba names the model in the plain answer only: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
    }
)

PADDING = PathSet(
    {
        "amazon-bedrock-invocationMetrics": "on the last event; plain answers have it in headers: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
        "metrics": "Nova's metadata event: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-amazon-nova-pro-v1-7f60cf-0-45d4",
        "trace": "Nova's metadata event: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-amazon-nova-pro-v1-7f60cf-0-45d4",
        "object": "Jamba's chunks: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
        "choices/*/stop_reason": "Jamba's chunks: dd-trace-js__llmobs-bedrock-runtime-bedrock-runtime-model-ai21-jamba-1-5-min-3f9ef5-0-3be6",
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
