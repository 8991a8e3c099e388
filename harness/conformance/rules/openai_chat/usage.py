"""Rules about usage in a Chat stream: where it is reported, and whether it adds up."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.openai_chat.facts import ChatFacts, UsageFacts
from harness.conformance.rules.openai_chat.sights import Chunk, integer, key, request, rules
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Case, Ending
from harness.dialects.translating import as_object, as_objects
from harness.findings import Level
from harness.framing import Frame

USAGE = rules()
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


@USAGE.rule(
    31,
    Level.MUST,
    "with `include_usage` one chunk of usage, with empty choices, comes before [DONE]",
    at=Ending,
    needs=[Need.REQUEST],
    kind="usage/missing",
    source="SDK-OAI, `stream_options.include_usage`",
    why="Clients that asked for it count a chunk with empty choices as usage, and others as content: they count nothing.",
    bad="usage beside the finish reason, then data: [DONE]",
    good='{"choices":[],"usage":{…}}, then data: [DONE]',
    seen="DeepSeek, Z.ai, OpenRouter, Vercel's gateway, Avian",
)
def usage_has_its_chunk(it: Ending) -> Said:
    usage = _usage(it)
    if usage is None or not _asked(it.case) or not it.facts.done or not it.facts.finished:
        return None
    if usage.alone:
        return True
    if usage.last is not None:
        return _at(
            usage.last, "usage was asked for, and came on a chunk with choices; a chunk of its own was expected", "/usage"
        )
    return Breach("usage was asked for, and no chunk reports it")


@USAGE.rule(
    32,
    Level.SHOULD,
    "with `include_usage` the chunks that have choices have a usage of null",
    at=Chunk,
    needs=[Need.REQUEST],
    kind="usage/key-missing",
    source="SDK-OAI: 'all other chunks will also include a usage field, but with a null value'; recordings, 28 of 38",
    why="Clients that ask every chunk for the key fail on one that lacks it; the others read it as null.",
    bad='{"choices":[{…}]}',
    good='{"choices":[{…}],"usage":null}',
    seen="Azure, Ollama (compatibility endpoint), vLLM, Snowflake, Z.ai, OpenRouter",
)
def usage_is_null_elsewhere(it: Chunk) -> Said:
    if not it.choices or not _asked(it.case):
        return None
    if "usage" in it.raw and it.raw["usage"] is None:
        return True
    if "usage" not in it.raw:
        return Breach("usage was asked for, and a chunk of content has no such key; null was expected")
    return Breach("usage beside choices; null was expected here", "/usage", got=it.raw["usage"])


@USAGE.rule(
    33,
    Level.SHOULD,
    "without `include_usage` no usage is sent",
    at=Ending,
    needs=[Need.REQUEST],
    kind="usage/unasked",
    source="SDK-OAI; recordings, 18 of 18. Harmless to clients that take the last usage there is",
    why="A chunk with empty choices surprises clients that never asked for one.",
    bad='a request without stream_options answered with {"choices":[],"usage":{…}}',
    good='"stream_options":{"include_usage":true} in the request',
    seen="Mistral, Groq, OpenRouter, Databricks, Perplexity",
)
def no_usage_unasked(it: Ending) -> Said:
    usage = _usage(it)
    if usage is None or request(it.case) is None or _asked(it.case):
        return None
    if usage.first is None:
        return True
    return _at(usage.first, "usage, though the request does not ask for it", "/usage")


@USAGE.rule(
    34,
    Level.MUST,
    "usage counts prompt, completion and total, and the total is the sum of the two",
    at=Ending,
    kind="usage/sum-wrong",
    source="SDK-OAI, `CompletionUsage`: 'total number of tokens used in the request (prompt + completion)'",
    why="Costs are counted from the parts or from the total: with two sums there are two bills.",
    bad='"prompt_tokens":9,"completion_tokens":4,"total_tokens":14',
    good='"prompt_tokens":9,"completion_tokens":4,"total_tokens":13',
    seen="xAI, which counts reasoning in the total only",
)
def the_sum_is_right(it: Ending) -> Said:
    usage = _body_usage(it)
    prompt, completion, total = (integer(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    if not usage:
        return None
    if lacks := [name for name in _COUNTS if usage.get(name) is None]:
        return _at(_last(it), f"usage without {' and '.join(lacks)}", "/usage", list(_COUNTS), usage, "usage/count-missing")
    if prompt is None or completion is None or total is None:
        return None
    if total == prompt + completion:
        return True
    message = f"{prompt} tokens of prompt and {completion} of completion, and a total of {total}"
    return _at(_last(it), message, "/usage/total_tokens", prompt + completion, total)


@USAGE.rule(
    35,
    Level.MUST,
    "the tokens of reasoning are among those of the completion",
    at=Ending,
    kind="usage/details-exceed",
    source="SDK-OAI, `completion_tokens_details`: 'breakdown of tokens used in a completion'",
    why="Clients subtract them to know the length of the answer, and get a negative number.",
    bad='"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":5}',
    good='"completion_tokens":8,"completion_tokens_details":{"reasoning_tokens":5}',
    seen="xAI, OpenRouter",
)
def details_are_a_part(it: Ending) -> Said:
    usage = _body_usage(it)
    completion = integer(usage.get("completion_tokens"))
    reasoning = integer(as_object(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    if completion is None or reasoning is None:
        return None
    if reasoning <= completion:
        return True
    message = f"{reasoning} tokens of reasoning in a completion of {completion}"
    return _at(_last(it), message, "/usage/completion_tokens_details/reasoning_tokens", f"at most {completion}", reasoning)


@USAGE.rule(
    36,
    Level.INFO,
    "no chunk follows the one that reports usage",
    at=Ending,
    kind="usage/not-last",
    source="recordings of moderated streams, in which the official accumulator loses usage",
    why="Clients that take the usage of the last chunk have none.",
    bad='{"choices":[],"usage":{…}}, then {"choices":[],"moderation":{…}}',
    good='{"choices":[],"usage":{…}}, then data: [DONE]',
    seen="OpenAI (moderated streams)",
)
def usage_is_last(it: Ending) -> Said:
    usage = _usage(it)
    if usage is None or not usage.chunks:
        return None
    if usage.followed_by is None:
        return True
    return _at(usage.followed_by, "a chunk without usage after one that reports it")


@USAGE.rule(
    37,
    Level.INFO,
    "usage is reported once, on a chunk of its own",
    at=Ending,
    kind="usage/cumulative",
    source="wire/openai-chat.md section 5; recordings; BR-027",
    why="Reports of one stream are cumulative: clients that add them up count tokens twice. The last one counts.",
    bad='"usage" on each of eight chunks, or on the chunk of the finish reason',
    good='{"choices":[],"usage":{…}} at the end',
    seen="Perplexity, Databricks, vLLM with continuous statistics; beside choices: DeepSeek, Mistral, Z.ai, Groq, Together",
)
def usage_comes_once(it: Ending) -> Said:
    usage = _usage(it)
    if usage is None or not (usage.chunks or usage.x_groq):
        return None
    odd = []
    if usage.chunks > 1:
        odd.append(_at(usage.last, "usage is reported again; the last report counts", "/usage"))
    if usage.beside is not None:
        odd.append(_at(usage.beside, "usage stands beside choices", "/usage", kind="usage/beside-choices"))
    if usage.x_groq is not None:
        odd.append(_at(usage.x_groq, "usage stands in Groq's own field", "/x_groq/usage", kind="usage/beside-choices"))
    return odd or True


@USAGE.rule(
    58,
    Level.MUST,
    "once every choice has its finish reason, a chunk with usage has empty choices",
    at=Chunk,
    kind="usage/on-chunk-with-choices",
    source="SDK-OAI, `choices`: 'empty for the last chunk if you set include_usage'; recordings, 38 of 38; BR-026",
    why="A choice behind the finish begins another answer in clients that look at choices first, and hides the usage.",
    bad='{"choices":[{"index":0,"delta":{},"finish_reason":null}],"usage":{…}} after the finish reason',
    good='{"choices":[],"usage":{…}} after the finish reason',
    seen="OpenRouter, Avian, Doubleword, LiteLLM",
)
def usage_stands_alone(it: Chunk) -> Said:
    opens = any(key(raw.get("index")) not in it.facts.choices for raw in as_objects(it.choices))
    if not it.raw.get("usage") or not it.facts.finished or opens:
        return None
    if not it.choices:
        return True
    return Breach(
        "usage after the finish, on a chunk that has a choice; an empty list was expected", "/choices", [], it.choices
    )


def _asked(case: Case) -> bool:
    return bool(as_object((request(case) or {}).get("stream_options")).get("include_usage"))


def _usage(it: Ending) -> UsageFacts | None:
    """Where usage was reported; None where the stream says nothing of it, since it failed."""
    return it.facts.usage if isinstance(it.facts, ChatFacts) and not it.facts.errors else None


def _last(it: Ending) -> Frame | None:
    usage = _usage(it)
    return usage.last if usage is not None else None


def _body_usage(it: Ending) -> dict[str, Any]:
    return as_object(as_object(it.seen.body).get("usage"))


def _at(
    frame: Frame | None, message: str, path: str | None = None, expected: Any = None, got: Any = None, kind: str | None = None
) -> Breach:
    """A breach that shows at a frame which has gone by."""
    if frame is None:
        return Breach(message, None, expected, got, kind=kind)
    return Breach(message, path, expected, got, frame.index, frame.span, kind=kind)
