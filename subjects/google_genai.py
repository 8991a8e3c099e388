"""google-genai: the chunks of `generate_content_stream`, which its users add up."""

# /// script
# dependencies = ["google-genai==3.6.1"]
# [tool.streamproof]
# packages = {"*" = "google-genai"}
# dialects = ["gemini"]
# ///
from google import genai
from streamproof_subject import call, counts, get, reply, serve

COUNTS = ("prompt_token_count", "candidates_token_count", "total_token_count", "cached_content_token_count", None)
COUNTS += ("thoughts_token_count",)


def gemini(task):
    options = {"base_url": task.url(), "timeout": int(task.timeout * 1000), "retry_options": {"attempts": 1}}
    client = genai.Client(api_key="none", vertexai=False, http_options=options)  # it closes itself once nobody holds it
    chunks = list(client.models.generate_content_stream(model="a-model", contents=task.prompt))
    blocked = [get(chunk, "prompt_feedback.block_reason") for chunk in chunks]
    told = [candidate for chunk in chunks for candidate in chunk.candidates or [] if not candidate.index]
    parts = [part for candidate in told for part in (candidate.content and candidate.content.parts) or []]
    uses = [part.function_call for part in parts if part.function_call]
    if any(use.partial_args or use.will_continue for use in uses):
        raise NotImplementedError("arguments come in pieces, which the SDK leaves to its users")
    thoughts, texts = ("".join(p.text for p in parts if p.text and bool(p.thought) is which) for which in (True, False))
    usage = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    finish = [reason for reason in (*blocked, *(candidate.finish_reason for candidate in told)) if reason]
    calls = [call(use.id, use.name, use.args) for use in uses]
    return reply(texts, thoughts, calls, finish[-1] if finish else None, counts(usage and usage[-1], *COUNTS), chunks)


serve({"gemini": gemini})
