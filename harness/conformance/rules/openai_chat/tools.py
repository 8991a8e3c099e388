"""Rules about the fragments of calls in a Chat stream: their index, and what the first and the later ones say."""

from __future__ import annotations

from collections import Counter

from harness.conformance.rules.openai_chat.sights import Choice, Fragment, integer, rules
from harness.conformance.rules.rule import Breach, Said
from harness.findings import Level

TOOLS = rules()


@TOOLS.rule(
    22,
    Level.MUST,
    "every fragment of a tool call has an integer index",
    at=Fragment,
    kind="tool/index-missing",
    source="wire/openai-chat.md section 4; SDK-OAI, `ChoiceDeltaToolCall.index`: required; BR-001",
    why="Clients put fragments together by index. Without one, parallel calls cannot be told apart.",
    bad='{"tool_calls":[{"id":"c1","function":{"name":"tide","arguments":"{}"}}]}',
    good='{"tool_calls":[{"index":0,"id":"c1","function":{"name":"tide","arguments":"{}"}}]}',
    seen="Mistral, the Gemini compatibility endpoint",
)
def every_fragment_has_an_index(it: Fragment) -> Said:
    index = it.raw.get("index")
    if it.index is not None:
        return True
    return Breach(f"a fragment with the index {index!r}; an integer was expected", it.path, expected="an integer", got=index)


@TOOLS.rule(
    23,
    Level.MUST,
    "the indexes of the calls of a choice start at 0 and leave no gap",
    at=Fragment,
    kind="tool/index-gap",
    source="SDK-OAI: its accumulator takes the index as the place in a list; BR-004",
    why="Clients that keep calls in a list fail on a hole in it, or hand on a call that is empty.",
    bad='the only call has "index":1',
    good='the first call has "index":0, the second one "index":1',
    seen="Anthropic's compatibility layer, Foundry Local",
)
def indexes_have_no_gap(it: Fragment) -> Said:
    highest = it.choice.facts.calls.highest
    if it.index is None or it.held is not None or 0 <= it.index <= highest:
        return None
    if it.index == highest + 1:
        return True
    message = f"a call opens at index {it.index}, where {highest + 1} is next"
    return Breach(message, f"{it.path}/index", highest + 1, it.index)


@TOOLS.rule(
    24,
    Level.MUST,
    "the first fragment of a call has its id, its type and the name of its function",
    at=Fragment,
    kind="tool/id-missing",
    source="wire/openai-chat.md section 4; recordings, 45 of 45; BR-014, BR-015",
    why="The result of a call is sent back by its id, and a call is announced by its name: without them it cannot be answered.",
    bad='{"index":0,"function":{"name":"tide","arguments":""}}',
    good='{"index":0,"id":"c1","type":"function","function":{"name":"tide","arguments":""}}',
    seen="proxies in front of local models",
)
def a_head_is_complete(it: Fragment) -> Said:
    if it.call is not None:
        return None
    wanted = (
        ("id", it.id, "tool/id-missing"),
        ("name", it.name, "tool/name-late"),
        ("type", it.raw.get("type"), "tool/type-missing"),
    )
    return [
        Breach(f"a call opens without its {what}; the first fragment has it", it.path, kind=kind)
        for what, value, kind in wanted
        if not value
    ] or True


@TOOLS.rule(
    25,
    Level.MUST,
    "later fragments of an index keep its id",
    at=Fragment,
    kind="tool/index-reused",
    source="wire/openai-chat.md section 4; BR-002, BR-003",
    why="Fragments are keyed by index: a second id at one index welds two calls into one in clients that follow the form.",
    bad='index 0 with id "a", then index 0 with id "b"',
    good='index 0 with id "a", then index 1 with id "b"',
    seen="Gemini proxies, LiteLLM over Ollama, Plexus",
)
def an_index_keeps_its_id(it: Fragment) -> Said:
    if it.held is None or not it.held.id:
        return None
    if not it.id or it.id == it.held.id:
        return True
    message = f"index {it.index} belongs to the call {it.held.id!r}, and a fragment says {it.id!r}; use the next index"
    return Breach(message, f"{it.path}/id", expected=it.held.id, got=it.id)


@TOOLS.rule(
    26,
    Level.MUST,
    "later fragments of a call do not repeat its id or name",
    at=Fragment,
    kind="tool/identity-repeated",
    source="recordings, 18 of 18; BR-006: the official accumulator makes 'calccalccalc' of it",
    why="Clients add up the strings of fragments, as the official SDK does: the name of the call is then known to nobody.",
    bad='{"index":0,"id":"c1","function":{"name":"calc","arguments":":1"}} as the second fragment',
    good='{"index":0,"function":{"arguments":":1"}} as the second fragment',
    seen="vLLM with Qwen models, LiteLLM over Ollama",
)
def identity_is_not_repeated(it: Fragment) -> Said:
    call = it.call
    if call is None:
        return None
    if it.name and call.name and it.name != call.name:
        message = f"the name was {call.name!r} and is {it.name!r} now; the first one counts"
        return Breach(message, it.path, call.name, it.name, kind="tool/identity-changed")
    again = [what for what, here, known in (("id", it.id, call.id), ("name", it.name, call.name)) if here and known]
    if not again:
        return True
    return Breach(f"a later fragment of {call.name!r} repeats the {' and the '.join(again)}; leave them out", it.path)


@TOOLS.rule(
    55,
    Level.MUST,
    "later fragments of a call have no empty id or name",
    at=Fragment,
    kind="tool/identity-blanked",
    source="BR-005; recordings, 18 of 18 without",
    why="Clients that take the last value that is there replace id and name by nothing.",
    bad='{"index":0,"id":"","function":{"name":"","arguments":":1"}} as the second fragment',
    good='{"index":0,"function":{"arguments":":1"}} as the second fragment',
    seen="Alibaba (id), Mistral (name)",
)
def identity_is_not_blanked(it: Fragment) -> Said:
    if it.call is None:
        return None
    blank = [path for path, value in (("id", it.raw.get("id")), ("function/name", it.function.get("name"))) if value == ""]
    if not blank:
        return True
    return Breach(f"a later fragment has an empty {' and '.join(blank)}; leave it out", f"{it.path}/{blank[0]}", got="")


@TOOLS.rule(
    56,
    Level.SHOULD,
    "later fragments of a call leave its type out",
    at=Fragment,
    kind="tool/type-repeated",
    source="recordings, 18 of 18; BR-007 (`ok`)",
    why="Clients that add up the strings of fragments make 'functionfunction' of it.",
    bad='{"index":0,"type":"function","function":{"arguments":":1"}} as the second fragment',
    good='{"index":0,"function":{"arguments":":1"}} as the second fragment',
    seen="Alibaba, Mistral, Venice, LiteLLM",
)
def type_is_not_repeated(it: Fragment) -> Said:
    if it.call is None:
        return None
    kind = it.raw.get("type")
    return True if kind is None else Breach("a later fragment repeats the type; leave it out", f"{it.path}/type", got=kind)


@TOOLS.rule(
    57,
    Level.MUST,
    "the arguments of a fragment are a string, or null",
    at=Fragment,
    kind="tool/arguments-not-string",
    source="SDK-OAI, `ChoiceDeltaToolCallFunction.arguments`; recordings, 21 of 21; BR-008",
    why="Clients add the fragments up as text; an object makes them fail, or becomes '[object Object]'.",
    bad='"arguments":{"a":1}',
    good='"arguments":"{\\"a\\":1}"',
    seen="MiniMax (compatibility endpoint)",
)
def arguments_are_text(it: Fragment) -> Said:
    if "arguments" not in it.function:
        return None
    arguments = it.function["arguments"]
    if arguments is None or isinstance(arguments, str):
        return True
    message = f"arguments of the type {type(arguments).__name__}; a string of JSON was expected"
    return Breach(message, f"{it.path}/function/arguments", "a string", arguments)


@TOOLS.rule(
    59,
    Level.MUST,
    "a delta has at most one fragment for each index",
    at=Choice,
    kind="tool/index-duplicated-in-delta",
    source="SDK-OAI: its accumulator takes a delta for one step of each call",
    why="Clients that merge a delta index by index keep the last fragment of the two.",
    bad='{"tool_calls":[{"index":0,…},{"index":0,…}]}',
    good='{"tool_calls":[{"index":0,…},{"index":1,…}]}',
)
def one_fragment_for_an_index(it: Choice) -> Said:
    counts = Counter(index for raw in it.fragments if (index := integer(raw.get("index"))) is not None)
    if not counts:
        return None
    return [
        Breach(f"one delta has {count} fragments at index {index}; one was expected", f"{it.path}/delta/tool_calls", 1, count)
        for index, count in counts.items()
        if count > 1
    ] or True


@TOOLS.rule(
    53,
    Level.SHOULD,
    "a delta without calls has no `tool_calls`",
    at=Choice,
    kind="tool/list-empty",
    source="recordings: no chunk of OpenAI's own has null or an empty list there",
    why="Clients that ask whether the key is there take a turn of text for a turn of calls.",
    bad='{"delta":{"content":"Hi","tool_calls":null}}',
    good='{"delta":{"content":"Hi"}}',
    seen="models hosted by Azure, Snowflake",
)
def no_empty_list_of_calls(it: Choice) -> Said:
    if "tool_calls" not in it.delta or it.delta["tool_calls"]:
        return True
    got = it.delta["tool_calls"]
    return Breach("tool_calls without any call; leave it out", f"{it.path}/delta/tool_calls", got=got)
