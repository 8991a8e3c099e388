"""The names of OpenAI's `chat.completion.chunk`, and those that servers imitating it are known to add.

A name here is understood or known to be safe to keep as it is; which provider sends it stands in wire/openai-chat.md,
wire/openrouter.md and the recordings. What is not here is kept in the body and listed as unknown.
"""

from harness.dialects.openai_names import CATEGORIES, FILTER_RESULTS, TIMINGS
from harness.vocabulary import FREE, Either, Many, Shape

TOKEN = Shape("token logprob bytes id", top_logprobs=Many(Shape("token logprob bytes id")))
LOGPROBS = Shape(content=Many(TOKEN), refusal=Many(TOKEN), reasoning_content=Many(TOKEN))

SERVER_TOOLS = Shape("web_search_requests web_fetch_requests tool_calls_requested tool_calls_executed")
USAGE = Shape(
    "prompt_tokens completion_tokens total_tokens",
    prompt_tokens_details=Shape("cached_tokens cache_write_tokens audio_tokens image_tokens text_tokens video_tokens"),
    completion_tokens_details=Shape(
        "reasoning_tokens audio_tokens image_tokens text_tokens accepted_prediction_tokens rejected_prediction_tokens"
    ),
).extended(
    # OpenRouter; DeepSeek; Groq
    "is_byok prompt_cache_hit_tokens prompt_cache_miss_tokens queue_time prompt_time completion_time total_time",
    # a number; Perplexity: an object
    cost=Either(
        Shape(
            "input_tokens_cost output_tokens_cost reasoning_tokens_cost citation_tokens_cost request_cost "
            "search_queries_cost total_cost"
        )
    ),
    cost_details=Shape("upstream_inference_cost upstream_inference_prompt_cost upstream_inference_completions_cost"),
    server_tool_use=SERVER_TOOLS,
    server_tool_use_details=SERVER_TOOLS,
)

FUNCTION = Shape("name", arguments=FREE)  # a string; some servers send the object itself
TOOL_CALL = Shape("index id type", function=FUNCTION, custom=Shape("name input"), extra_content=FREE)

ANNOTATION = Shape(
    "type", url_citation=Shape("url title content start_index end_index"), file=FREE, file_citation=FREE, file_path=FREE
)
CONTENT_PART = Shape("type text closed refusal", thinking=Either(Many(Shape("type text"))), image_url=FREE)
REASONING_DETAIL = Shape("type text summary data signature id format index provider")

MESSAGE_FIELDS: dict[str, object] = {}
DELTA = Shape(
    "role refusal reasoning_content reasoning channel index token_id prefix",
    content=Either(Many(CONTENT_PART)),
    tool_calls=Many(TOOL_CALL),
    function_call=FUNCTION,
    audio=Shape("id data transcript expires_at"),
    annotations=Many(ANNOTATION),
    reasoning_details=Many(REASONING_DETAIL),
    executed_tools=FREE,
    extra_content=FREE,
)

CHOICE = Shape(
    "index finish_reason native_finish_reason stop_reason matched_stop token_ids",
    delta=DELTA,
    message=DELTA,
    logprobs=LOGPROBS,
    content_filter_results=FILTER_RESULTS,
    content_filter_result=FREE,
    content_filter_offsets=FREE,
)

MODERATION_RESULTS = Shape(
    "type model code message",
    results=Many(
        Shape(
            "flagged model type",
            categories=CATEGORIES,
            category_scores=CATEGORIES,
            category_applied_input_types=CATEGORIES,
        )
    ),
    error=FREE,
)

CHUNK = Shape(
    "id object created model system_fingerprint service_tier obfuscation provider",
    choices=Many(CHOICE),
    usage=USAGE,
    moderation=Shape(input=MODERATION_RESULTS, output=MODERATION_RESULTS),
    prompt_filter_results=Many(Shape("prompt_index", content_filter_results=FILTER_RESULTS)),
    error=FREE,
    x_groq=Shape("id seed", error=FREE, usage=USAGE),
    timings=TIMINGS,
    meta=Shape("requestDurationMillis"),  # AI21
    prompt_token_ids=FREE,  # vLLM
    kv_transfer_params=FREE,
)
