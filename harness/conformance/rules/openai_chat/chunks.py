"""Rules about the envelope of a Chat chunk: its fields, those that do not change, and chunks without choices."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.sights import FILTER_FIELDS, Chunk, request, rules
from harness.conformance.rules.rule import Breach, Need, Said
from harness.dialects.translating import as_object, as_objects
from harness.findings import Level

CHUNKS = rules()

_OBJECT = "chat.completion.chunk"
_REQUIRED = ("id", "created", "model", "choices")


@CHUNKS.rule(
    2,
    Level.MUST,
    "every chunk has the object `chat.completion.chunk`",
    at=Chunk,
    kind="chunk/object-wrong",
    source="SDK-OAI, `ChatCompletionChunk.object`; recordings, 56 of 56 (Azure's filter chunks have an empty one)",
    why="Typed clients validate the literal and refuse the chunk; others dispatch on it.",
    bad='{"object":"chat.completion", …}',
    good='{"object":"chat.completion.chunk", …}',
    seen="Moonshot, Copilot (no key), Perplexity (`chat.completion.done`)",
)
def object_is_the_chunk(it: Chunk) -> Said:
    got = it.raw.get("object")
    if got == _OBJECT or (got == "" and it.filters):
        return True
    return Breach(f"a chunk whose object is {got!r}; {_OBJECT!r} was expected", "/object", _OBJECT, got)


@CHUNKS.rule(
    3,
    Level.MUST,
    "every chunk has `id`, `created`, `model` and a list of `choices`",
    at=Chunk,
    kind="chunk/field-missing",
    source="SDK-OAI, `ChatCompletionChunk`: all four are required",
    why="Typed clients fail on a missing field; others fail when they loop over `choices` that are not there.",
    bad='{"object":"chat.completion.chunk","usage":{…}}',
    good='{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{…}}',
    seen="servers that send their own notices as data",
)
def required_fields_are_there(it: Chunk) -> Said:
    lacks = [name for name in _REQUIRED if it.raw.get(name) is None]
    if not lacks and isinstance(it.raw["choices"], list):
        return True
    if not lacks:
        return Breach(
            "choices are no list; a list was expected, an empty one if there is none", "/choices", got=it.raw["choices"]
        )
    return Breach(f"a chunk without {', '.join(lacks)}; the API's own chunks always have them")


@CHUNKS.rule(
    4,
    Level.MUST,
    "all chunks have one id",
    at=Chunk,
    kind="chunk/id-changes",
    source="SDK-OAI: 'each chunk has the same ID'; recordings, 56 of 56 (an empty id of Azure's filter chunks says nothing)",
    why="Clients that tell streams apart by id see a new answer with every change, and split or drop the turn.",
    bad='"id":"chatcmpl-1", then "id":"chatcmpl-2"',
    good='"id":"chatcmpl-1" on every chunk',
    seen="Groq's compound models (an id for each chunk), LiteLLM over Ollama, Avian, Perplexity",
)
def id_stays(it: Chunk) -> Said:
    return _stays(it, "id")


@CHUNKS.rule(
    5,
    Level.SHOULD,
    "the id of a chunk is not empty",
    at=Chunk,
    kind="chunk/id-empty",
    source="recordings: no chunk of OpenAI's own lacks it",
    why="Logs and traces are keyed by id; an empty one joins unrelated answers.",
    bad='"id":""',
    good='"id":"chatcmpl-1"',
    seen="Azure (first chunk), Snowflake",
)
def id_is_not_empty(it: Chunk) -> Said:
    if "id" not in it.raw:
        return None
    return True if it.raw["id"] else Breach("the id is empty", "/id", got=it.raw["id"])


@CHUNKS.rule(
    6,
    Level.SHOULD,
    "all chunks have one time of creation",
    at=Chunk,
    kind="chunk/created-changes",
    source="SDK-OAI: 'each chunk has the same timestamp'; recordings, 53 of 56 (0 is only right on Azure's filter chunks)",
    why="It is the time of the answer, and names it in logs; the time of the chunk is the client's to measure.",
    bad='"created":1700, then "created":1701',
    good='"created":1700 on every chunk',
    seen="Ollama (compatibility endpoint), llama.cpp, Groq, xAI, Databricks, Perplexity; Snowflake (0)",
)
def created_stays(it: Chunk) -> Said:
    if it.raw.get("created") == 0 and not it.filters:
        return Breach("created is 0; the time of the answer was expected", "/created", got=0)
    return _stays(it, "created")


@CHUNKS.rule(
    7,
    Level.MUST,
    "all chunks have one model",
    at=Chunk,
    kind="chunk/model-changes",
    source="SDK-OAI; recordings, 56 of 56 (an empty name of Azure's filter chunks says nothing)",
    why="The assembled answer has one model; which of two it names, and is billed by, depends on the client.",
    bad='"model":"m", then "model":"m-0925"',
    good='"model":"m-0925" on every chunk',
)
def model_stays(it: Chunk) -> Said:
    return _stays(it, "model")


@CHUNKS.rule(
    8,
    Level.MUST,
    "only usage, moderation and filter chunks have empty choices",
    at=Chunk,
    kind="choices/empty",
    source="SDK-OAI, `choices`: 'can also be empty for the last chunk if you set include_usage'; BR-019",
    why="Clients read `choices[0]` of every chunk but those that are documented to have none, and fail on it.",
    bad='{"choices":[]} with nothing else',
    good='{"choices":[],"usage":{…}}',
    seen="Ollama (compatibility endpoint, for an error that it swallowed), Portkey",
)
def empty_choices_have_a_reason(it: Chunk) -> Said:
    if it.raw.get("choices") != []:
        return None
    reasons = it.raw.get("usage") or it.raw.get("moderation") or as_object(it.raw.get("x_groq")).get("usage")
    if reasons or it.filters:
        return True
    return Breach("a chunk with empty choices that reports neither usage nor a verdict; leave it out", "/choices")


@CHUNKS.rule(
    38,
    Level.SHOULD,
    "before the first choice only Azure's prompt filter has a chunk with empty choices",
    at=Chunk,
    kind="choices/empty-first",
    source="wire/openai-chat.md section 3; recordings",
    why="Clients take role and id from the first chunk, and look for its first choice.",
    bad='first chunk {"choices":[],"usage":{…}}',
    good='first chunk {"choices":[{"index":0,"delta":{"role":"assistant"}}]}',
)
def first_chunk_has_a_choice(it: Chunk) -> Said:
    if it.facts.choices:
        return None
    if it.choices or it.filters:
        return True
    return Breach("a chunk with empty choices before any choice has begun; it belongs behind them", "/choices")


@CHUNKS.rule(
    39,
    Level.INFO,
    "chunks have none of the fields of Azure's content filter",
    at=Chunk,
    kind="field/azure-filter",
    source="wire/openai-chat.md section 10; recordings of Azure",
    why="Such a stream has chunks without choices and choices without deltas: a client made for OpenAI alone may trip on them.",
    bad='{"choices":[],"prompt_filter_results":[{"prompt_index":0,…}]}',
    good="chunks without them",
    seen="Azure",
)
def no_filter_fields(it: Chunk) -> Said:
    found = [name for name in FILTER_FIELDS if name in it.raw]
    found += [f"choices/{n}/{name}" for n, raw in enumerate(as_objects(it.choices)) for name in FILTER_FIELDS if name in raw]
    return Breach(f"the chunk has {found[0]}, a field of Azure's content filter", f"/{found[0]}") if found else True


@CHUNKS.rule(
    42,
    Level.MUST,
    "no chunk is padded when `include_obfuscation` is false",
    at=Chunk,
    needs=[Need.REQUEST],
    kind="field/obfuscation-unasked",
    source="SDK-OAI, `stream_options.include_obfuscation`",
    why="Who switches padding off pays for the bandwidth; a server that pads all the same ignores the option.",
    bad='"include_obfuscation":false answered with {"obfuscation":"aZ9", …}',
    good="chunks without `obfuscation`",
)
def no_padding_unasked(it: Chunk) -> Said:
    if as_object((request(it.case) or {}).get("stream_options")).get("include_obfuscation") is not False:
        return None
    if "obfuscation" not in it.raw:
        return True
    return Breach("the chunk is padded, though the request switched that off", "/obfuscation", got=it.raw["obfuscation"])


@CHUNKS.rule(
    51,
    Level.SHOULD,
    "the system fingerprint does not change once it is there",
    at=Chunk,
    kind="chunk/fingerprint-changes",
    source="SDK-OAI: it names the backend that the answer ran on; recordings",
    why="One answer comes from one configuration; with two fingerprints nobody can say which one to reproduce.",
    bad='"system_fingerprint":"fp_a", then "fp_b"',
    good='"system_fingerprint":"fp_a" on every chunk',
    seen="Groq",
)
def fingerprint_stays(it: Chunk) -> Said:
    return _stays(it, "system_fingerprint")


def _stays(it: Chunk, name: str) -> Said:
    """Whether a field that says something says what it said first."""
    value = it.raw.get(name)
    if not value:
        return None
    first = it.facts.first.get(name, value)
    if value == first:
        return True
    return Breach(f"{name} was {first!r} and is {value!r} now; one answer has one", f"/{name}", first, value)
