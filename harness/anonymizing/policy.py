"""What stays as it is: the words that belong to the APIs, not to those who use them.

Names of fields stay, but in data of the user's or the model's own. Of values, numbers and literals stay, and of texts those in
fields that hold words of the API. Everything else is replaced: what is not known is taken for somebody's own.
"""

from __future__ import annotations

import re

from harness.anonymizing.scanning import Mode
from harness.edits import Path


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_FREE = words(
    "arguments args labels env attributes partMetadata logit_bias additionalProperties variables prompt_variables "
    "template_values structValue client_metadata"
)
"""Fields whose objects are the user's or the model's own."""

_FREE_IN = {
    "response": words("functionResponse function_response toolResponse tool_response"),
    "json": words("content toolResult"),
}
"""Fields that are so inside certain others."""

_JUDGING = words("moderation guardrail")
"""What judges has an `input` of the API's own form."""

_SCHEMAS = words(
    "parameters input_schema inputSchema schema output_schema outputSchema responseSchema response_schema "
    "parametersJsonSchema parameters_json_schema responseJsonSchema response_json_schema"
)
_SCHEMA_MAPS = words("properties $defs definitions patternProperties dependentSchemas")
_SCHEMA_VALUES = words("enum const default example examples")
_SCHEMA_WORDS = words("type format nullable $schema")

_NAMES_OF_WORDS = words(
    # what things are
    "type role object status model models event phase mode kind language outcome service_tier serviceTier traffic_type "
    "trafficType modality modalities responseModalities response_modalities mime_type mimeType media_type mediaType "
    "responseMimeType response_mime_type output_format background quality size format verbosity truncation effort "
    "reasoning_effort thinkingLevel thinking_level voice syntax execution source_type token_type toolType tool_type "
    "file_type schemaVersion contentType method input_type response_type search_content_types service locale country @type "
    # how things ended
    "finish_reason finishReason stop_reason stopReason stop_details native_finish_reason nativeFinishReason done_reason "
    "reason completionReason completion_reason blockReason block_reason urlRetrievalStatus url_retrieval_status error_code "
    "errorCode code param param_name retryDelay quotaId quotaMetric category probability severity threshold trace action "
    "guardrailOrigin guardrailOwnership guardrailVersion filter_reason "
    # who answers, and for how much
    "modelVersion model_version modelId model_id provider provider_name providerName canonicalSlug internalModelId "
    "originalModelId providerApiModelId resolvedProvider resolvedProviderApiModelId internalResolvedModelId finalProvider "
    "fallbacksAvailable credentialType recommended_model anthropic_version anthropic_beta betas cost marketCost "
    "inference_geo payer order only ignore transforms sort data_collection "
    # what was asked for
    "tool_choice function_call include search_context_size prompt_cache_retention require_approval allowed_callers keep ttl "
    "detail display moderation ranker return_token_budget context summary enable_web_search response_format "
    "stream_options reasoning_config citationConfig "
    # when
    "created_at createTime create_time expires_at retrieved_at last_updated completed_at"
)
"""Fields that hold words of the API, as long as they look like such."""

_WORDLIKE = re.compile(r"[A-Za-z0-9@_.:/+~$-]{0,96}|[A-Z][A-Za-z.]*(?: [A-Z][A-Za-z.]*){1,3}")
_CODE = re.compile(r"[A-Za-z][A-Za-z_-]*|\d{3}")
_LONG_NUMBER = re.compile(r"\d{9,}|(?i:[0-9a-f]{8}-[0-9a-f]{4}-)")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?")

_CONFIGURED = words("auto none low medium high minimal detailed concise disabled enabled xhigh default all_turns current_turn")
_ONLY_CONFIGURED = words("summary context response_format function_call tool_choice format order only ignore detail")
"""Fields that hold a word of the API or a text: a word only if it is one of these, or has an underscore."""
_FORMATS = re.compile(r"[a-z]+(?:[-_][a-z0-9]+)+|txt|json|text|png|jpeg|webp|pdf|csv|wav|mp3|pcm16|unknown|any|required|")

_HOSTED = words(
    "web_search web_fetch code_execution bash bash_code_execution text_editor_code_execution str_replace_editor "
    "str_replace_based_edit_tool computer memory tool_search_tool_regex tool_search_tool_bm25 advisor nova_grounding "
    "nova_code_interpreter google_search url_context image_generation file_search code_interpreter x_search browser python "
    "browser_search"
)
"""Tools that an API brings along."""

_IDS = re.compile(
    r"(?:chatcmpl|cmpl|compl|call|toolu|srvtoolu|mcptoolu|tooluse|msg|resp|rs|fc|ws|ci|fs|ig|mcp|mcpl|mcpr|ctc|lsh|sh|cntr|gen|req|fp|file|"
    r"vs|run|id|audio|functions|ap|apc|tsc|tso|cmp|ctco|bedrock|fcr)[-_.](?=[A-Za-z0-9])"
)
_NAMES_OF_IDS = re.compile(r"(?:^|_)ids?$|Ids?$|^responseId$|fingerprint$|^caller_id$")

TOKENS = words("token_ids prompt_token_ids token_id tokens context embedding embeddings")
"""Fields of numbers that say the text in other words."""

MESSAGES = words("message error detail msg error_message finishMessage")
OVERFLOW = re.compile(
    r"context length|context window|context size|maximum context|prompt is too long|input is too long|too many tokens|"
    r"maximum number of tokens|exceeds the model's maximum|token limit reached",
    re.IGNORECASE,
)
"""By these phrases clients know that the context was too long."""

PATHS = words("jsonPath")
POSITION = re.compile(r"\[\d+\]")
"""Where a piece of an argument belongs: the names on the way are somebody's own, positions in lists are the wire's."""


def mode_of(mode: Mode, path: Path, bracket: str, *, metadata: bool = False) -> Mode:
    """Whose names an object at `path` has, or those in a list there; `metadata` says whether that word means the user's own."""
    name = path[-1]
    if mode is Mode.FREE or isinstance(name, int):
        return mode
    if mode is Mode.MAP:
        return Mode.SCHEMA
    if mode is Mode.SCHEMA:
        return Mode.MAP if name in _SCHEMA_MAPS and bracket == "{" else Mode.FREE if name in _SCHEMA_VALUES else mode
    if bracket == "{":
        if name in _SCHEMAS or path == ("format",):
            return Mode.SCHEMA
        inside = _FREE_IN.get(name, ())
        if name in _FREE or any(step in inside for step in path[:-1]):
            return Mode.FREE
        if name == "input" and path != ("input",) and not any(step in _JUDGING for step in path):
            return Mode.FREE
        if name == "metadata" and path in (("metadata",), ("response", "metadata")) and metadata:
            return Mode.FREE
    return mode


def name_of(path: Path) -> str:
    """The name of the field that a value is in, or in the list of."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def stays(mode: Mode, path: Path, text: str) -> bool:
    """Whether a text at a place stays as it is."""
    name = name_of(path)
    if "category_applied_input_types" in path:
        return True
    if mode is Mode.SCHEMA:
        return name in _SCHEMA_WORDS
    if mode is not Mode.API:
        return False
    if name == "name":
        return text in _HOSTED
    if name not in _NAMES_OF_WORDS:
        return False
    if name == "code" and not _CODE.fullmatch(text):
        return False
    if name in _ONLY_CONFIGURED:
        return text in _CONFIGURED or _FORMATS.fullmatch(text) is not None
    if _TIME.fullmatch(text):
        return True
    return _WORDLIKE.fullmatch(text) is not None and not _LONG_NUMBER.search(text)


def prefix(path: Path, text: str) -> int:
    """How many letters of an id say what it is the id of."""
    if not _NAMES_OF_IDS.search(name_of(path)):
        return 0
    said = _IDS.match(text)
    return said.end() if said else 0
