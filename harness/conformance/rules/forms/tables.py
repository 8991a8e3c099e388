"""The scalars that clients read, by dialect and by where they stand; names and types are those of the vendors' own clients.

What a rule of the catalogue judges already is left out where nothing is to be added: indexes of choices, content and arguments
of Chat, for instance. A field that is not listed may hold anything.
"""

from __future__ import annotations

from harness.conformance.rules.forms.scalars import COUNT, ENUM, FLAG, INT64, NUMBER, TEXT, Field, Scalar


def _fields(scalar: Scalar, names: str) -> dict[str, Field]:
    return dict.fromkeys(names.split(), scalar)


_LOGPROB: dict[str, Field] = {"token": TEXT, "logprob": NUMBER, "bytes": [COUNT]}
_LOGPROBS: list[Field] = [{**_LOGPROB, "top_logprobs": [_LOGPROB]}]

_CHAT: dict[str, Field] = {
    **_fields(TEXT, "id object model system_fingerprint service_tier"),
    "created": COUNT,
    "choices": [
        {
            "finish_reason": TEXT,
            "delta": {
                **_fields(TEXT, "role refusal reasoning reasoning_content"),
                "tool_calls": [{**_fields(TEXT, "id type"), "function": {"name": TEXT}}],
            },
            "logprobs": {"content": _LOGPROBS, "refusal": _LOGPROBS},
        }
    ],
    "usage": {
        **_fields(COUNT, "prompt_tokens completion_tokens total_tokens"),
        "prompt_tokens_details": _fields(COUNT, "cached_tokens audio_tokens"),
        "completion_tokens_details": _fields(
            COUNT, "reasoning_tokens audio_tokens accepted_prediction_tokens rejected_prediction_tokens"
        ),
    },
}

_PART: dict[str, Field] = _fields(TEXT, "type text refusal")
_ITEM: dict[str, Field] = {  # `arguments` of a call are a string, and those of a tool search an object
    **_fields(TEXT, "id type status role name call_id encrypted_content"),
    "content": [_PART],
    "summary": [_PART],
}
_RESPONSES: dict[str, Field] = {
    **_fields(TEXT, "type item_id obfuscation text refusal arguments"),
    **_fields(COUNT, "sequence_number output_index content_index summary_index annotation_index command_index"),
    "response": {
        **_fields(TEXT, "id object status model service_tier"),
        **_fields(NUMBER, "created_at completed_at"),
        "output": [_ITEM],
        "usage": {
            **_fields(COUNT, "input_tokens output_tokens total_tokens"),
            "input_tokens_details": {"cached_tokens": COUNT},
            "output_tokens_details": {"reasoning_tokens": COUNT},
        },
    },
    "item": _ITEM,
    "part": _PART,
    **{
        f"type=response.{text}.delta": {"delta!": TEXT}
        for text in (
            "output_text",
            "refusal",
            "reasoning_text",
            "reasoning_summary_text",
            "function_call_arguments",
            "custom_tool_call_input",
            "mcp_call_arguments",
            "code_interpreter_call_code",
        )
    },
}

_TOKENS: list[Field] = [{"modality": ENUM, "tokenCount": INT64}]
_GEMINI: dict[str, Field] = {
    **_fields(TEXT, "modelVersion responseId createTime"),
    "candidates": [
        {
            "finishReason": ENUM,
            "finishMessage": TEXT,
            "index": INT64,
            "content": {
                "role": TEXT,
                "parts": [
                    {
                        **_fields(TEXT, "text thoughtSignature"),
                        "thought": FLAG,
                        "functionCall": {
                            **_fields(TEXT, "id name"),
                            "willContinue": FLAG,
                            "partialArgs": [
                                {
                                    **_fields(TEXT, "jsonPath stringValue"),
                                    **_fields(FLAG, "boolValue willContinue"),
                                    "numberValue": NUMBER,
                                }
                            ],
                        },
                        "inlineData": _fields(TEXT, "mimeType data"),
                        "executableCode": {"language": ENUM, "code": TEXT},
                        "codeExecutionResult": {"outcome": ENUM, "output": TEXT},
                    }
                ],
            },
        }
    ],
    "usageMetadata": {
        **_fields(
            INT64,
            "promptTokenCount candidatesTokenCount thoughtsTokenCount toolUsePromptTokenCount cachedContentTokenCount "
            "totalTokenCount",
        ),
        **dict.fromkeys(
            ("promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails", "toolUsePromptTokensDetails"), _TOKENS
        ),
        "trafficType": ENUM,
    },
}

_CONVERSE: dict[str, Field] = {
    **_fields(TEXT, "role stopReason"),
    "start": {"toolUse": _fields(TEXT, "toolUseId name")},
    "delta": {"text": TEXT, "reasoningContent": _fields(TEXT, "text signature redactedContent"), "citation": {"title": TEXT}},
    "usage": _fields(COUNT, "inputTokens outputTokens totalTokens cacheReadInputTokens cacheWriteInputTokens"),
    "metrics": {"latencyMs": COUNT},
}

_OLLAMA: dict[str, Field] = {
    **_fields(TEXT, "model created_at done_reason response thinking"),
    **_fields(COUNT, "prompt_eval_count eval_count"),
    "done": FLAG,
    "message": {
        **_fields(TEXT, "role thinking"),
        "tool_calls": [{"id": TEXT, "function!": {"name!": TEXT, "index": COUNT}}],
    },
    "logprobs": _LOGPROBS,
}

_MESSAGES_USAGE: dict[str, Field] = _fields(
    COUNT, "input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens"
)
_MESSAGES: dict[str, Field] = {
    "type!": TEXT,
    "usage": _MESSAGES_USAGE,
    "type=message_start": {"message!": {**_fields(TEXT, "id! type! role! model!"), "usage!": _MESSAGES_USAGE}},
    "type=content_block_start": {"content_block!": _fields(TEXT, "type! text thinking signature id name")},
    "type=content_block_delta": {
        "delta!": {
            "type!": TEXT,
            "type=text_delta": {"text!": TEXT},
            "type=thinking_delta": {"thinking!": TEXT},
            "type=signature_delta": {"signature!": TEXT},
            "type=input_json_delta": {"partial_json!": TEXT},
        }
    },
    "type=message_delta": {"delta!": _fields(TEXT, "stop_reason stop_sequence")},
}

TABLES: dict[str, dict[str, Field]] = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "gemini": _GEMINI,
    "bedrock-converse": _CONVERSE,
    "ollama-chat": _OLLAMA,
    "anthropic-messages": _MESSAGES,
}
"""Bedrock Invoke carries the streams of other vendors, each in a form of its own."""
