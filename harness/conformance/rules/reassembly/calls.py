"""Laws of assembling calls and counting tokens."""

from __future__ import annotations

from harness.adapters.observation import Observation
from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading, calls_of, short, unchanged
from harness.conformance.rules.rule import Breach, Said
from harness.dialects.translating import DONE
from harness.response import FinishReason

CALLS = Laws("REASM")
_MAPS = "the reassembly maps of wire/*.md"


@CALLS.law(
    9,
    "there are as many calls as the stream has keys, and they stand in the order of the keys",
    kind="reader/calls",
    source=f"{_MAPS}; semantics.md D2",
    why="Two calls that became one are a call that nobody made; in another order, results go to the wrong one.",
    bad="all calls of a turn at one index, their arguments joined",
    good="one call for each key of the stream",
    seen="clients that merge at index 0",
)
def calls_are_told_apart(it: Reading) -> Said:
    told, seen = it.account.calls, calls_of(it.seen)
    if it.seen.response is None or not (told or seen):
        return None
    if len(told) != len(seen):
        return Breach(
            f"{len(seen)} calls, where {len(told)} were streamed", None, [c.name for c in told], [c.name for c in seen]
        )
    if it.pairs is None:
        return Breach("the calls are not in the order of their keys", None, [c.name for c in told], [c.name for c in seen])
    return True


@CALLS.law(
    10,
    "ids, names and types are set once, and never joined",
    kind="reader/identity",
    source=f"{_MAPS}; wire/openai-chat.md section 4",
    why="Servers repeat them in every fragment. A result with a joined id belongs to no call, a joined name to no tool.",
    bad="functionfunction, call_1call_1",
    good="the first id and name that are not empty",
    seen="generic merges of deltas",
)
def identities_are_set_once(it: Reading) -> Said:
    response, account = it.seen.response, it.account
    if response is None:
        return None
    told = [(account.id, response.id), (account.model, response.model)]
    for call, seen in it.pairs or ():
        told += [(call.name, seen.name), (call.id, seen.id if call.id else "")]
    broken = [
        Breach(f"{short(seen)}, where {short(value)} was streamed", None, value, seen)
        for value, seen in told
        if value and seen is not None and value != seen
    ]
    if broken:
        return broken
    repeated = unchanged(it, changes.with_repeated_identity, "an identity that every fragment repeats")
    return (True if any(value for value, _ in told) else None) if repeated is None else repeated


@CALLS.law(
    15,
    "a call that came without arguments has `{}` for them, or the empty text where arguments are text",
    kind="reader/empty-arguments",
    source=_MAPS,
    why="A tool without parameters is called with null, or not at all.",
    bad='"input": null',
    good='"input": {}',
)
def no_arguments_are_an_empty_object(it: Reading) -> Said:
    bare = [seen for told, seen in it.pairs or () if told.meant == {}]
    wrong = [seen.arguments for seen in bare if seen.arguments.strip() not in ("", "{}")]
    return [Breach(f"arguments {short(given)} of a call that has none", None, "{}", given) for given in wrong] or (
        True if bare else None
    )


@CALLS.law(
    32,
    "a turn with calls is a tool turn, whatever its stop reason says",
    kind="reader/tool-turn",
    source=f"{_MAPS}; semantics.md D6",
    why="Gemini, Ollama and some servers of Chat stop with `stop` all the same: a loop that goes by the reason ends here.",
    bad="if finish_reason == 'tool_calls': run the tools",
    good="if the turn has calls: run the tools",
    seen="loops that go by the finish reason",
)
def calls_make_a_tool_turn(it: Reading) -> Said:
    readings = [it.seen] * bool(it.account.calls and it.account.ended and it.account.failed is None)
    other = it.under(changes.stopped_in_order)
    for seen in [*readings, *([] if other is None else [other])]:
        verdict = _tool_turn(seen, it)
        if verdict is not True:
            return verdict
    return True if readings else None


def _tool_turn(seen: Observation, it: Reading) -> Said:
    response = seen.response
    if response is None or seen.error is not None:
        return None
    if not response.tool_calls:
        return Breach(
            f"no calls, where {len(it.account.calls)} were streamed: the turn stops with {response.raw_finish_reason!r}"
        )
    if response.finish_reason is FinishReason.STOP:
        return Breach("a turn with calls counts as one that is over", None, FinishReason.TOOL_CALLS.value, "stop")
    return True


@CALLS.law(
    11,
    "usage is what was reported last, field by field where the API counts so, and never a sum",
    kind="reader/usage",
    source=f"{_MAPS}; wire/google-generatecontent.md section 5",
    why="Reports are snapshots. Their sum charges for tokens that nobody used.",
    bad="12 + 25 + 40 output tokens",
    good="40 output tokens",
    seen="naive aggregators",
)
def usage_is_the_last_report(it: Reading) -> Said:
    told, response = it.account.usage, it.seen.response
    if not told or response is None or it.seen.error is not None:
        return None
    if response.usage is None:
        return None if _followed(it) else Breach("no usage, where it was reported", None, told)
    seen = {name: getattr(response.usage, name) for name in told}
    return True if seen == told else Breach(f"usage {seen}, where {told} was reported", None, told, seen)


@CALLS.law(
    12,
    "usage survives later payloads that have none",
    kind="reader/usage-lost",
    source="OAI-C-036; wire/openai-chat.md section 5: the vendor's own accumulator loses it",
    why="A chunk with the verdict of a moderation follows the one with the usage: the turn seems to cost nothing.",
    bad="snapshot.usage = chunk.usage",
    good="usage is set where a payload reports one",
    seen="the accumulator of the openai package",
)
def usage_survives(it: Reading) -> Said:
    told, response = it.account.usage, it.seen.response
    if not told or response is None or it.seen.error is not None:
        return None
    if response.usage is None:
        return Breach("the usage that was reported is gone", None, told) if _followed(it) else None
    other = it.under(changes.followed_by_no_usage)
    if other is None:
        return True if _followed(it) else None
    kept = other.response.usage if other.response is not None else None
    if kept == response.usage:
        return True
    return Breach("a later payload without usage takes the usage away", None, told, kept and kept.as_dict())


def _followed(it: Reading) -> bool:
    """Whether a payload follows the last report of usage."""
    counted = it.account.counted
    return counted is not None and any(f.index > counted and f.data.strip() != DONE for f in it.frames)
