"""The names of the items that stand in `output`, of their parts, and of the tools that a request may offer.

Taken from wire/openai-responses.md, the recordings and the vendor's own types; what a provider is known to add stands here
too. What is not here is kept in the body and listed as unknown.
"""

from harness.vocabulary import FREE, ByTag, Either, Many, Map, Shape

MCP_ANNOTATIONS = Shape("title readOnlyHint destructiveHint idempotentHint openWorldHint read_only")

ANNOTATION = Shape("type url title start_index end_index index file_id filename container_id")
TOKEN = Shape("token logprob bytes", top_logprobs=Many(Shape("token logprob bytes")))
_BREAKPOINT = Shape("mode ttl")

PARTS = {
    "output_text": Shape("type text", annotations=Many(ANNOTATION), logprobs=Many(TOKEN)),
    "refusal": Shape("type refusal"),
    "reasoning_text": Shape("type text"),
    "summary_text": Shape("type text"),
    "input_text": Shape("type text", prompt_cache_breakpoint=_BREAKPOINT),
    "input_image": Shape("type detail file_id image_url", prompt_cache_breakpoint=_BREAKPOINT),
    "input_file": Shape("type detail file_data file_id file_url filename", prompt_cache_breakpoint=_BREAKPOINT),
}
PART = ByTag("type", PARTS)

_FUNCTION = "type name description strict defer_loading allowed_callers async"
_LOCATION = Shape("type city country region timezone")
_CONDITION = Shape("type key value")
_NETWORK = Shape("type allowed_domains", domain_secrets=Many(Shape("domain name value")))
_NAMES = Shape("read_only tool_names")
_SEARCH = Shape(
    "type search_context_size search_content_types return_token_budget external_web_access",
    user_location=_LOCATION,
    filters=Shape("allowed_domains blocked_domains"),
)

TOOLS = {
    "function": Shape(_FUNCTION, parameters=FREE, output_schema=FREE),
    "custom": Shape(_FUNCTION, format=Shape("type syntax definition")),
    "web_search": _SEARCH,
    "web_search_2025_08_26": _SEARCH,
    "web_search_preview": _SEARCH,
    "web_search_preview_2025_03_11": _SEARCH,
    "x_search": Shape(  # xAI
        "type allowed_x_handles excluded_x_handles from_date to_date enable_image_understanding enable_video_understanding"
    ),
    "file_search": Shape(
        "type vector_store_ids max_num_results",
        filters=_CONDITION.extended(filters=Many(_CONDITION.extended(filters=FREE))),  # conditions nest without end
        ranking_options=Shape("ranker score_threshold", hybrid_search=Shape("embedding_weight text_weight")),
    ),
    "code_interpreter": Shape(
        "type allowed_callers", container=Either(Shape("type file_ids memory_limit", network_policy=_NETWORK))
    ),
    "image_generation": Shape(
        "type action background complexity frame_count frame_duration_ms input_fidelity model moderation n "
        "output_compression output_format partial_images quality size",
        input_image_mask=Shape("file_id image_url"),
        svg=Shape("model", reasoning=Shape("effort")),
    ),
    "mcp": Shape(
        "type server_label server_description server_url connector_id authorization defer_loading allowed_callers tunnel_id",
        headers=FREE,
        allowed_tools=Either(_NAMES, FREE),
        require_approval=Either(Shape(always=_NAMES, never=_NAMES)),
    ),
    "computer": Shape("type"),
    "computer_use_preview": Shape("type display_height display_width environment"),
    "local_shell": Shape("type"),
    "shell": Shape(
        "type allowed_callers",
        environment=Shape(
            "type container_id file_ids memory_limit",
            network_policy=_NETWORK,
            skills=Many(Shape("type skill_id version name description path", source=Shape("type media_type data"))),
        ),
    ),
    "apply_patch": Shape("type allowed_callers"),
    "programmatic_tool_calling": Shape("type"),
    "tool_search": Shape("type description execution", parameters=FREE),
}
TOOLS["namespace"] = Shape("type name description", tools=Many(ByTag("type", dict(TOOLS))))
TOOL = ByTag("type", TOOLS)

_BASE = "type id status created_by"
_CALLER = Shape("type caller_id")
_CALL = Shape(f"{_BASE} call_id", caller=_CALLER)
_CHECKS = Many(Shape("id code message"))
_ACTION = Shape("type button x y keys scroll_x scroll_y text", path=Many(Shape("x y")))
_CONTENT = Either(Many(PART))
_ERROR = Either(Shape("type code message", content=FREE))

ITEMS = {
    "message": Shape(f"{_BASE} role phase", content=_CONTENT),
    "reasoning": Shape(f"{_BASE} encrypted_content format", summary=Many(PART), content=Many(PART)),
    "function_call": _CALL.extended("name namespace async item_id output_index", arguments=FREE),  # the last two names: Bedrock
    "function_call_output": _CALL.extended("name namespace", output=_CONTENT),
    "custom_tool_call": _CALL.extended("name input namespace async"),
    "custom_tool_call_output": _CALL.extended(output=_CONTENT),
    "web_search_call": Shape(
        f"{_BASE} arguments call_id name",  # the last three: xAI
        action=Shape("type query queries url pattern", sources=Many(Shape("type url name"))),
    ),
    "x_search_call": Shape(f"{_BASE} arguments call_id name"),  # xAI
    "file_search_call": Shape(
        f"{_BASE} queries", results=Many(Shape("file_id filename score text vector_store_id", attributes=FREE))
    ),
    "code_interpreter_call": Shape(f"{_BASE} code container_id", outputs=Many(Shape("type logs url"))),
    "image_generation_call": Shape(
        f"{_BASE} action background output_format prompt quality result revised_prompt size",
        error=Shape("type code message param", moderation_details=Shape("categories moderation_stage")),
        svg_usage=Shape("model input_tokens output_tokens reasoning_tokens total_tokens"),
    ),
    "mcp_call": Shape(f"{_BASE} approval_request_id name output server_label", arguments=FREE, error=_ERROR),
    "mcp_list_tools": Shape(
        f"{_BASE} server_label",
        error=_ERROR,
        tools=Many(Shape("name description", input_schema=FREE, annotations=MCP_ANNOTATIONS)),
    ),
    "mcp_approval_request": Shape(f"{_BASE} arguments name server_label"),
    "mcp_approval_response": Shape(f"{_BASE} approval_request_id approve reason"),
    "local_shell_call": _CALL.extended(action=Shape("type command timeout_ms user working_directory", env=FREE)),
    "local_shell_call_output": _CALL.extended("output"),
    "shell_call": _CALL.extended(
        "max_output_length",
        action=Shape("commands max_output_length timeout_ms"),
        environment=Shape("type container_id", skills=FREE),
    ),
    "shell_call_output": _CALL.extended(
        "max_output_length", output=Many(Shape("stdout stderr created_by", outcome=Shape("type exit_code")))
    ),
    "apply_patch_call": _CALL.extended(operation=Shape("type path diff")),
    "apply_patch_call_output": _CALL.extended("output"),
    "computer_call": _CALL.extended(action=_ACTION, actions=Many(_ACTION), pending_safety_checks=_CHECKS),
    "computer_call_output": _CALL.extended(
        output=Shape("type file_id image_url"), acknowledged_safety_checks=_CHECKS, pending_safety_checks=_CHECKS
    ),
    "tool_search_call": _CALL.extended("execution", arguments=FREE),
    "tool_search_output": _CALL.extended("execution", tools=Many(TOOL)),
    "additional_tools": Shape(f"{_BASE} role", tools=Many(TOOL)),
    "configuration_update": Shape(
        _BASE, reasoning=Shape("effort"), text=Shape("verbosity", format=Shape("type name description strict", schema=FREE))
    ),
    "compaction": Shape(f"{_BASE} encrypted_content"),
    "program": _CALL.extended("code fingerprint"),
    "program_output": _CALL.extended("result"),
    "item_reference": Shape(_BASE),
}
ITEM = ByTag("type", ITEMS)
MAP = Map(Either(FREE))
"""An object whose names are the user's own."""
