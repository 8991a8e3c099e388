"""The names of the events of a Responses stream, and of the `response` object in them.

A name here is understood or known to be safe to keep as it is. What is not here is kept in the body and listed as unknown.
"""

from harness.dialects.openai_names import CATEGORIES, FILTER_RESULTS, TIMINGS
from harness.dialects.openai_responses.item_vocabulary import ANNOTATION, ITEM, MAP, PART, TOKEN, TOOL
from harness.vocabulary import FREE, ByTag, Either, Kind, Many, Map, Shape

_MODERATION = Shape(
    "type flagged model code message",
    categories=CATEGORIES,
    category_scores=CATEGORIES,
    category_applied_input_types=CATEGORIES,
)
_TOKENS = Shape("image_tokens text_tokens")

USAGE = Shape(
    "input_tokens output_tokens total_tokens",
    input_tokens_details=Shape(
        "cached_tokens cache_write_tokens audio_tokens image_tokens text_tokens video_tokens",
        cache_write_tokens_details=Shape("ttl_12h_tokens ttl_30m_tokens"),
        cached_tokens_details=Shape("audio_tokens image_tokens text_tokens"),  # LiteLLM
    ),
    output_tokens_details=Shape("reasoning_tokens audio_tokens image_tokens text_tokens video_tokens"),
).extended(
    # OpenRouter; xAI; Pydantic's gateway
    "cost is_byok cost_in_usd_ticks num_sources_used num_server_side_tools_used",
    cost_details=MAP,
    context_details=Shape("input_tokens output_tokens"),
    server_side_tool_usage_details=MAP,
    pydantic_ai_gateway=MAP,
)

ERROR = Shape(
    "type code message param",
    misalignment=Shape("detailed_explanation error_type review_target", steer=Shape("message")),
)

RESPONSE = Shape(
    "id object created_at completed_at status model background max_output_tokens max_tool_calls output_text "
    "parallel_tool_calls previous_response_id prompt_cache_key prompt_cache_retention safety_identifier service_tier store "
    "temperature top_p top_logprobs truncation user frequency_penalty presence_penalty",
    output=Many(ITEM),
    usage=USAGE,
    error=ERROR,
    incomplete_details=Shape("reason"),
    instructions=Either(Many(ITEM)),
    tools=Many(TOOL),
    tool_choice=Either(Shape("type mode name server_label", tools=Many(Shape("type name server_label")))),
    text=Shape("verbosity", format=Shape("type name description strict", schema=FREE)),
    reasoning=Either(Shape("effort summary generate_summary context mode")),
    metadata=MAP,
    prompt=Shape("id version", variables=Map(Either(PART))),
    conversation=Shape("id"),
    moderation=Shape(input=_MODERATION, output=_MODERATION),
    tool_usage=Shape(
        image_gen=Shape(
            "input_tokens output_tokens total_tokens cached_tokens",
            input_tokens_details=_TOKENS,
            output_tokens_details=_TOKENS,
            cached_tokens_details=Shape("cached_image_tokens cached_text_tokens"),
        ),
        web_search=Shape("num_requests"),
    ),
    billing=Shape("payer"),
    access_programs=Shape("cyber"),
    image=Shape("context_compression"),
    input_transformations=Many(Shape("type id action reason")),
    prompt_cache_options=Shape("mode ttl comparison_response_id"),
    prompt_cache_diagnostics=Shape("type reason cache_missed_tokens comparison_reusable_tokens"),
    content_filters=Many(  # Azure
        Shape(
            "blocked source_type",
            content_filter_results=FILTER_RESULTS,
            content_filter_offsets=Shape("check_offset start_offset end_offset"),
            content_filter_raw=FREE,
        )
    ),
)

_EVENT = Shape("type sequence_number stream_id model")  # stream_id: WebSocket; model: LiteLLM, the name that was asked for
_ITEM_EVENT = _EVENT.extended("output_index item_id")
_LIFECYCLE = _EVENT.extended(response=RESPONSE, timings=TIMINGS)
_ITEM = _EVENT.extended("output_index", item=ITEM)
_PART = _ITEM_EVENT.extended("content_index", part=PART)
_SUMMARY_PART = _ITEM_EVENT.extended("summary_index status", part=PART)
_OUTPUT = Shape("stdout stderr created_by", outcome=Shape("type exit_code"))


def _growing(name: str, done: str, names: str = "", **nested: Kind) -> dict[str, Shape]:
    """The two events of a text that grows: what it says may be anything, for some servers send arguments as an object."""
    return {
        f"{name}.delta": _ITEM_EVENT.extended(f"obfuscation {names}", delta=FREE, **nested),
        f"{name}.done": _ITEM_EVENT.extended(names, **{done: FREE}, **nested),
    }


def _statuses(name: str, words: str) -> dict[str, Shape]:
    return {f"{name}.{word}": _ITEM_EVENT for word in words.split()}


EVENTS = {
    **{f"response.{word}": _LIFECYCLE for word in ["created", "queued", "in_progress", "completed", "incomplete", "failed"]},
    "error": _EVENT.extended("code message param", error=Either(ERROR.extended(details=FREE))),
    "keepalive": _EVENT,
    "response.output_item.added": _ITEM,
    "response.output_item.done": _ITEM,
    "response.content_part.added": _PART,
    "response.content_part.done": _PART,
    "response.reasoning_part.added": _PART,  # Bedrock's gpt-oss
    "response.reasoning_part.done": _PART,
    "response.reasoning_summary_part.added": _SUMMARY_PART,
    "response.reasoning_summary_part.done": _SUMMARY_PART,
    **_growing("response.output_text", "text", "content_index", logprobs=Many(TOKEN)),
    "response.output_text.annotation.added": _ITEM_EVENT.extended("content_index annotation_index", annotation=ANNOTATION),
    **_growing("response.refusal", "refusal", "content_index"),
    **_growing("response.reasoning_text", "text", "content_index"),
    **_growing("response.reasoning", "text", "content_index"),  # as the Open Responses schema calls them
    **_growing("response.reasoning_summary_text", "text", "summary_index"),
    **_growing("response.function_call_arguments", "arguments", "name"),  # the name: OpenRouter, on the last one
    **_growing("response.mcp_call_arguments", "arguments"),
    **_growing("response.custom_tool_call_input", "input"),
    **_growing("response.code_interpreter_call_code", "code"),
    **_growing("response.apply_patch_call_operation_diff", "diff"),
    **_growing("response.shell_call_command", "command", "command_index"),
    "response.shell_call_command.added": _ITEM_EVENT.extended("command command_index"),
    "response.shell_call_output_content.delta": _ITEM_EVENT.extended("command_index obfuscation", delta=Shape("stdout stderr")),
    "response.shell_call_output_content.done": _ITEM_EVENT.extended("command_index", output=Many(_OUTPUT)),
    **{f"response.{name}.delta": _ITEM_EVENT.extended("delta obfuscation") for name in ("audio", "audio.transcript")},
    **{f"response.{name}.done": _ITEM_EVENT for name in ("audio", "audio.transcript")},
    **_statuses("response.web_search_call", "in_progress searching completed"),
    **_statuses("response.file_search_call", "in_progress searching completed"),
    **_statuses("response.code_interpreter_call", "in_progress interpreting completed"),
    **_statuses("response.image_generation_call", "in_progress generating completed"),
    **_statuses("response.mcp_call", "in_progress completed failed"),
    **_statuses("response.mcp_list_tools", "in_progress completed failed"),
    "response.image_generation_call.partial_image": _ITEM_EVENT.extended(
        "partial_image_b64 partial_image_index background output_format quality size"
    ),
    "response.compaction.compacting": _ITEM_EVENT,
}
EVENT = ByTag("type", EVENTS)
