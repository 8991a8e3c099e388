"""Names that stand in both of OpenAI's APIs: moderation, Azure's content filters, llama.cpp's measurements."""

from harness.vocabulary import Many, Shape

CATEGORIES = Shape(
    "harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm self-harm/instructions "
    "self-harm/intent sexual sexual/minors violence violence/graphic"
)

_FILTERED = Shape("filtered severity detected")
FILTER_RESULTS = Shape(
    hate=_FILTERED,
    self_harm=_FILTERED,
    sexual=_FILTERED,
    violence=_FILTERED,
    jailbreak=_FILTERED,
    indirect_attack=_FILTERED,
    profanity=_FILTERED,
    protected_material_text=_FILTERED.extended(citation=Shape("URL license")),
    protected_material_code=_FILTERED.extended(citation=Shape("URL license")),
    custom_blocklists=_FILTERED.extended(details=Many(Shape("filtered id"))),
    error=Shape("code message"),
)

TIMINGS = Shape(
    "cache_n prompt_n prompt_ms prompt_per_token_ms prompt_per_second predicted_n predicted_ms predicted_per_token_ms "
    "predicted_per_second draft_n draft_n_accepted"
)
