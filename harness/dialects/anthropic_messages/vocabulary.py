"""The names of Anthropic's Messages API: its events, the blocks of a message, and what stands inside them.

Facts from wire/anthropic-messages.md, the recordings and the vendor's own types. What is not here is kept and listed.
"""

from harness.vocabulary import FREE, ByTag, Either, Many, Shape

CACHE_CREATION = Shape("ephemeral_5m_input_tokens ephemeral_1h_input_tokens")
TOKENS = Shape("input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens", cache_creation=CACHE_CREATION)
USAGE = TOKENS.extended(
    "service_tier inference_geo speed",
    server_tool_use=Shape("web_search_requests web_fetch_requests"),
    output_tokens_details=Shape("thinking_tokens"),
    iterations=Many(TOKENS.extended("type model")),
    fallback_credit=Shape(status=Shape("type reason remove_to_redeem")),
)

CITATION = Shape(
    "type cited_text document_index document_title file_id title url source search_result_index encrypted_index "
    "start_char_index end_char_index start_page_number end_page_number start_block_index end_block_index"
)
CALLER = Shape("type tool_id")
TEXT = Shape("type text", citations=Many(CITATION))
SOURCE = Shape("type media_type data url file_id")
DOCUMENT = Shape("type title context", source=SOURCE, citations=Shape("enabled"))
OUTPUT = Shape("type return_code stdout stderr encrypted_stdout", content=Many(Shape("type file_id")))
FAILURE = Shape("type error_code error_message")

RESULTS = {  # what stands in the `content` of a tool's result
    "text": TEXT,
    "image": Shape("type", source=SOURCE),
    "document": DOCUMENT,
    "web_search_result": Shape("type url title encrypted_content page_age"),
    "web_fetch_result": Shape("type url retrieved_at", content=DOCUMENT),
    "code_execution_result": OUTPUT,
    "encrypted_code_execution_result": OUTPUT,
    "bash_code_execution_result": OUTPUT,
    "text_editor_code_execution_view_result": Shape("type file_type content num_lines start_line total_lines"),
    "text_editor_code_execution_create_result": Shape("type is_file_update"),
    "text_editor_code_execution_str_replace_result": Shape("type old_start old_lines new_start new_lines lines"),
    "tool_search_tool_search_result": Shape("type", tool_references=Many(Shape("type tool_name"))),
    "advisor_result": Shape("type text stop_reason"),
    "advisor_redacted_result": Shape("type encrypted_content stop_reason"),
    "web_search_tool_result_error": FAILURE,
    "web_fetch_tool_result_error": FAILURE,
    "code_execution_tool_result_error": FAILURE,
    "bash_code_execution_tool_result_error": FAILURE,
    "text_editor_code_execution_tool_result_error": FAILURE,
    "tool_search_tool_result_error": FAILURE,
    "advisor_tool_result_error": FAILURE,
}
_RESULT = ByTag("type", RESULTS)
TOOL_RESULT = Shape("type tool_use_id is_error", content=Either(Many(_RESULT), _RESULT), caller=CALLER)

BLOCKS = {
    "text": TEXT,
    "thinking": Shape("type thinking signature"),
    "redacted_thinking": Shape("type data"),
    "tool_use": Shape("type id name toolset_name", input=FREE, caller=CALLER),
    "server_tool_use": Shape("type id name", input=FREE, caller=CALLER),
    "web_search_tool_result": TOOL_RESULT,
    "web_fetch_tool_result": TOOL_RESULT,
    "code_execution_tool_result": TOOL_RESULT,
    "bash_code_execution_tool_result": TOOL_RESULT,
    "text_editor_code_execution_tool_result": TOOL_RESULT,
    "tool_search_tool_result": TOOL_RESULT,
    "advisor_tool_result": TOOL_RESULT,
    "mcp_tool_use": Shape("type id name server_name", input=FREE),
    "mcp_tool_result": TOOL_RESULT,
    "mcp_tool_listing": Shape("type mcp_server_name", tools=Many(Shape("name description", input_schema=FREE))),
    "container_upload": Shape("type file_id"),
    "compaction": Shape("type content encrypted_content signature", tool_changes=Many(Shape("type", tool=FREE))),
    "fallback": Shape("type", **{"from": Shape("model")}, to=Shape("model"), trigger=Shape("type category")),
}
BLOCK = ByTag("type", BLOCKS)

_ENDING = Shape(
    "stop_reason stop_sequence",
    stop_details=Shape("type category explanation recommended_model fallback_credit_token fallback_has_prefill_claim"),
    container=Shape("id expires_at", skills=Many(Shape("type skill_id version"))),
)
_EDITING = Shape(
    context_management=Shape(applied_edits=Many(Shape("type cleared_input_tokens cleared_tool_uses cleared_thinking_turns"))),
    input_transformations=Many(Shape("type path reason")),
)
MESSAGE = _ENDING.extended(
    "id type role model",
    content=Many(BLOCK),
    usage=USAGE,
    diagnostics=Shape(cache_miss_reason=Shape("type cache_missed_input_tokens")),
    **_EDITING.nested,
)

DELTAS = {
    "text_delta": Shape("type text"),
    "thinking_delta": Shape("type thinking estimated_tokens"),
    "signature_delta": Shape("type signature"),
    "citations_delta": Shape("type", citation=CITATION),
    "input_json_delta": Shape("type partial_json"),
    "compaction_delta": Shape("type content encrypted_content"),
}

EVENT = ByTag(
    "type",
    {
        "message_start": Shape("type", message=MESSAGE),
        "content_block_start": Shape("type index", content_block=BLOCK),
        "content_block_delta": Shape("type index", delta=ByTag("type", DELTAS)),
        "content_block_stop": Shape("type index"),
        "message_delta": Shape("type", delta=_ENDING, usage=USAGE, **_EDITING.nested),
        "message_stop": Shape("type"),
        "ping": Shape("type"),
        "error": Shape("type request_id", error=Either(Shape("type message", details=FREE))),
    },
)
