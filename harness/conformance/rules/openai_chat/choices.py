"""Rules about the choices of a Chat chunk: index, delta, role, content and reasoning."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.facts import ChatFacts
from harness.conformance.rules.openai_chat.sights import Choice, Chunk, integer, is_verdict, request, rules, turns
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_object
from harness.findings import Level

CHOICES = rules()

_REASONING = ("reasoning_content", "reasoning")


@CHOICES.rule(
    9,
    Level.MUST,
    "the index of a choice is an integer from 0, and below `n` where the request is known",
    at=Choice,
    kind="choices/index-invalid",
    source="SDK-OAI, `choices[].index`: required, an integer",
    why="Clients gather a choice by its index. One that is missing or out of range is lost, or welded to another choice.",
    bad='"index":1 in an answer to a request without `n`',
    good='"index":0',
)
def index_is_in_range(it: Choice) -> Said:
    index = integer(it.raw.get("index"))
    if index is None or index < 0:
        got = it.raw.get("index")
        return Breach(f"a choice with the index {got!r}; an integer from 0 was expected", f"{it.path}/index", got=got)
    asked = request(it.case)
    most = None if asked is None else integer(asked.get("n", 1))
    if most is None or index < max(most, 1):
        return True
    message = f"a choice with the index {index}, where {most} of them were asked for"
    return Breach(message, f"{it.path}/index", f"below {most}", index)


@CHOICES.rule(
    10,
    Level.MUST,
    "every choice has an object `delta`",
    at=Chunk,
    kind="delta/missing",
    source="SDK-OAI, `choices[].delta`: required (Azure's filter verdicts have none); BR-022",
    why="Clients read `choice.delta.content` without a look; on null they fail, in the middle of an answer.",
    bad='{"index":0,"delta":null,"finish_reason":"stop"}',
    good='{"index":0,"delta":{},"finish_reason":"stop"}',
    seen="Azure's asynchronous filter",
)
def delta_is_an_object(it: Chunk) -> Said:
    choices = [(n, raw) for n, raw in enumerate(it.choices) if not (isinstance(raw, dict) and is_verdict(raw))]
    broken = [(n, raw) for n, raw in choices if not isinstance(as_object(raw).get("delta"), dict)]
    if not broken:
        return True if choices else None
    return [
        Breach("a choice without an object delta; send an empty one", f"/choices/{n}/delta", got=as_object(raw).get("delta"))
        for n, raw in broken
    ]


@CHOICES.rule(
    11,
    Level.MUST,
    "the first delta of a choice has the role `assistant`, and later ones no other",
    at=Choice,
    kind="delta/role-invalid",
    source="recordings, 56 of 56; BR-021",
    why="The role is sent once, at the beginning: clients that copy it into the message keep none, or a wrong one.",
    bad='first delta {"content":"Hi"}, or {"role":"","content":"Hi"}',
    good='first delta {"role":"assistant","content":""}',
    seen="Groq's compound models, Mistral, gpustack",
)
def role_is_the_assistants(it: Choice) -> Said:
    role = it.delta.get("role")
    if role == "assistant":
        return True
    if role is not None:
        message = f"the role is {role!r}; 'assistant' was expected"
        return Breach(message, f"{it.path}/delta/role", "assistant", role)
    if it.facts.chunks:
        return None
    message = "the first delta of the choice has no role; 'assistant' was expected"
    return Breach(message, f"{it.path}/delta", "assistant", kind="delta/role-missing")


@CHOICES.rule(
    12,
    Level.SHOULD,
    "the role comes once in a choice",
    at=Choice,
    kind="delta/role-repeated",
    source="recordings, 56 of 56",
    why="Clients that join deltas string by string make 'assistantassistant' of it.",
    bad='{"delta":{"role":"assistant","content":"a"}} on every chunk',
    good='{"delta":{"role":"assistant"}} once, then {"delta":{"content":"a"}}',
    seen="OpenRouter, Z.ai, Together, Perplexity, Snowflake",
)
def role_comes_once(it: Choice) -> Said:
    if not it.facts.roles:
        return None
    role = it.delta.get("role")
    return True if role is None else Breach("the role is sent again; once is enough", f"{it.path}/delta/role", got=role)


@CHOICES.rule(
    13,
    Level.MUST,
    "the content of a delta is a string or null",
    at=Choice,
    kind="delta/content-not-text",
    source="SDK-OAI, `ChoiceDelta.content`",
    why="Clients append it to a string; a list makes them fail, or show the source of the list.",
    bad='{"delta":{"content":[{"type":"text","text":"Hi"}]}}',
    good='{"delta":{"content":"Hi"}}',
    seen="Mistral's reasoning models",
)
def content_is_text(it: Choice) -> Said:
    if "content" not in it.delta:
        return None
    content = it.delta["content"]
    if content is None or isinstance(content, str):
        return True
    message = f"content of the type {type(content).__name__}; a string or null was expected"
    return Breach(message, f"{it.path}/delta/content", "a string or null", content)


@CHOICES.rule(
    43,
    Level.SHOULD,
    "a choice has text or a refusal, and not both",
    at=Ending,
    kind="text/refusal-beside-content",
    source="SDK-OAI: a refusal takes the place of the content",
    why="Clients show one of the two, and lose the other.",
    bad='{"delta":{"content":"Sure"}}, then {"delta":{"refusal":"No."}}',
    good='{"delta":{"refusal":"No."}} alone',
)
def refusal_stands_alone(it: Ending) -> Said:
    refusing = [turn for turn in turns(it) if turn.message.get("refusal")]
    both = [turn for turn in refusing if turn.message.get("content")]
    if not refusing:
        return None
    message = "the choice has a text and a refusal; a refusal takes the place of the text"
    return [Breach(message, got=turn.message.get("refusal")) for turn in both] or True


@CHOICES.rule(
    47,
    Level.MUST,
    "as many choices finish as the request asked for with `n`",
    at=Ending,
    needs=[Need.REQUEST],
    kind="choices/missing",
    source="SDK-OAI, `n`: how many choices to generate",
    why="Who asks for several answers compares them; with one missing, the code behind fails or compares nothing.",
    bad='"n":2, and all chunks have "index":0',
    good='"n":2, a finish reason for each of the indexes 0 and 1',
    seen="servers that ignore `n`",
)
def as_many_as_asked(it: Ending) -> Said:
    asked = integer((request(it.case) or {}).get("n"))
    facts = it.facts
    if asked is None or not isinstance(facts, ChatFacts) or facts.errors or not facts.finished:
        return None
    if len(facts.choices) >= asked:
        return True
    noted = it.breaches("stream/finish-missing", "stream/truncated")  # the collector misses them as well: one measure
    message = f"{asked} choices were asked for, {len(facts.choices)} came"
    return noted or Breach(message, expected=asked, got=len(facts.choices))


@CHOICES.rule(
    48,
    Level.INFO,
    "no delta has reasoning in a field of its own",
    at=Choice,
    kind="reasoning/field-name",
    source="wire/openai-chat.md section 6; BR-029: OpenAI has no such field, servers have two",
    why="There is no standard: a client that knows one of `reasoning_content` and `reasoning` shows nothing for the other.",
    bad='{"delta":{"reasoning":"Count the buoys."}}',
    good='{"delta":{"content":"Four."}}',
    seen="DeepSeek, xAI, Alibaba, Z.ai, llama.cpp (`reasoning_content`); Groq, OpenRouter, Ollama (`reasoning`)",
)
def no_field_of_reasoning(it: Choice) -> Said:
    found = next((name for name in _REASONING if it.delta.get(name)), None)
    if found is None:
        return True
    return None if it.facts.reasoning else Breach(f"reasoning comes as {found!r}", f"{it.path}/delta/{found}")


@CHOICES.rule(
    49,
    Level.SHOULD,
    "reasoning comes before the text of its choice",
    at=Choice,
    kind="reasoning/after-content",
    source="recordings of servers that stream reasoning",
    why="Clients close the box of reasoning at the first text, and show later reasoning in it as text, or not at all.",
    bad='{"delta":{"content":"Four."}}, then {"delta":{"reasoning":"Count …"}}',
    good='{"delta":{"reasoning":"Count …"}}, then {"delta":{"content":"Four."}}',
    seen="models that think between calls",
)
def reasoning_comes_first(it: Choice) -> Said:
    found = next((name for name in _REASONING if it.delta.get(name)), None)
    if found is None:
        return None
    if not it.facts.content:
        return True
    return Breach("reasoning after the text of its choice has begun", f"{it.path}/delta/{found}")


@CHOICES.rule(
    50,
    Level.SHOULD,
    "there is no `<think>` markup in the content",
    at=Ending,
    kind="reasoning/think-tags",
    source="wire/openai-chat.md section 6; BR-030",
    why="It is reasoning in the place of the answer: clients show it, or parse it as the JSON that was asked for.",
    bad='{"delta":{"content":"<think>add two"}}',
    good='{"delta":{"reasoning":"add two"}}',
    seen="Together through the Hugging Face router, Groq's raw format, local models",
)
def no_think_tags(it: Ending) -> Said:
    texts = [(turn, text) for turn in turns(it) if isinstance(text := turn.message.get("content"), str) and text]
    marked = [(turn, text) for turn, text in texts if text.lstrip().startswith("<think>") or _closes_first(text)]
    if not texts:
        return None
    message = "the text has its reasoning in it, between <think> and </think>"
    return [Breach(message, f"{turn.path}/message/content", got=text[:80]) for turn, text in marked] or True


def _closes_first(text: str) -> bool:
    """Some templates open the tag in the prompt, and the answer only closes it."""
    head, closes, _ = text.partition("</think>")
    return bool(closes) and "<think>" not in head and "`" not in head
