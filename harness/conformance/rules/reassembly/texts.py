"""Laws of assembling: fragments, in their order, each once; and what belongs to a text or stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.bodies import tokens_of
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import (
    Reading,
    breach,
    differing,
    refusal_of,
    said,
    short,
    text_of,
    thought_of,
    unchanged,
)
from harness.conformance.rules.rule import Breach, Said
from harness.dialects.translating import as_json
from harness.response import Text

TEXTS = Laws("REASM")
_MAPS = "the reassembly maps of wire/*.md"


class _Fact(NamedTuple):
    """One text of the turn, as it was told and as it was read."""

    name: str
    told: str
    seen: str


def _facts(it: Reading) -> Iterator[_Fact]:
    if it.seen.response is None:
        return
    account = it.account
    yield _Fact("text", account.text, text_of(it.seen))
    yield _Fact("reasoning", account.thought, thought_of(it.seen))
    yield _Fact("refusal", account.refusal, refusal_of(it.seen))
    for told, seen in it.pairs or ():
        if told.meant != {}:  # calls without arguments have a law of their own
            shown = seen.shown_arguments()
            same = told.meant == shown
            yield _Fact(f"arguments of {told.name!r}", told.arguments, told.arguments if same else _text(shown, seen.arguments))


def _text(shown: Any, arguments: str) -> str:
    return arguments if isinstance(shown, str) else as_json(shown)


@TEXTS.law(
    5,
    "a text is its fragments in the order in which they arrived, for each key",
    kind="reader/text-order",
    source=_MAPS,
    why="The same letters in another order are another answer.",
    bad="fragments sorted by a number that means something else",
    good="text += fragment, for each choice, block or item",
)
def fragments_keep_their_order(it: Reading) -> Said:
    facts = [fact for fact in _facts(it) if fact.told and Counter(fact.told) == Counter(fact.seen)]
    wrong = [fact for fact in facts if fact.told != fact.seen]
    if wrong:
        return [Breach(f"{f.name} has its letters in another order: {short(f.seen)}", None, f.told, f.seen) for f in wrong]
    return True if facts else None


@TEXTS.law(
    6,
    "no fragment is lost and none is used twice: the assembled text is as long as its fragments together",
    kind="reader/text-lost",
    source=f"{_MAPS}; the first-chunk trap of wire/openai-chat.md section 7",
    why="A first chunk that becomes the snapshot, or a delta that is applied twice, changes the answer in silence.",
    bad="the first chunk is only looked at for its role",
    good="every fragment of every chunk, the first included",
    seen="naive merges of the first chunk",
)
def every_fragment_counts_once(it: Reading) -> Said:
    facts = [fact for fact in _facts(it) if fact.told or fact.seen]
    wrong = [fact for fact in facts if Counter(fact.told) != Counter(fact.seen)]
    if wrong:
        return [
            Breach(f"{f.name} has {len(f.seen)} characters, its fragments have {len(f.told)}", None, f.told, f.seen)
            for f in wrong
        ]
    return True if facts else None


@TEXTS.law(
    7,
    "what is assembled does not depend on how the bytes were cut into reads",
    kind="reader/cut-dependent",
    source="product contract, law 1",
    why="Behind another proxy the same answer comes in other pieces.",
    bad="one payload for each read",
    good="a whole body in one read, or in random pieces, is the same turn",
)
def cuts_do_not_matter(it: Reading) -> Said:
    for change, what in ((changes.in_one_piece, "the whole body in one read"), (changes.cut_anyhow, "another cutting")):
        verdict = unchanged(it, change, what)
        if verdict is not True:
            return verdict
    return True


@TEXTS.law(
    8,
    "assembling twice gives equal turns, made-up ids included",
    kind="reader/unsteady",
    source="product contract, law 11",
    why="What differs from run to run can neither be compared nor cached; results that refer to a call do not find it.",
    bad="uuid4() for a call that came without an id",
    good="call_0, by position",
    seen="collectors that mint ids",
)
def twice_is_the_same(it: Reading) -> Said:
    again = it.under(changes.same_bytes)
    if again is None:
        return None
    found = differing({**said(it.seen), **_whole(it.seen)}, {**said(again), **_whole(again)})
    return True if found is None else breach(it, found, again, "assembled a second time, the turn is another one")


def _whole(seen: Any) -> dict[str, Any]:
    return {"the response": seen.response, "the body": seen.body}


@TEXTS.law(
    14,
    "`content` is null when no fragment of it arrived",
    kind="reader/content-not-null",
    source="wire/openai-chat.md section 7",
    why="An empty text is an answer, null is none: what goes back to the API with a call differs.",
    bad='"content": "" beside tool_calls',
    good='"content": null beside tool_calls',
    dialects=["openai-chat"],
)
def no_fragment_is_null(it: Reading) -> Said:
    response = it.seen.response
    if response is None or it.account.texts or "content" in it.account.thoughts or not it.account.ended:
        return None
    return True if response.text is None else Breach("a text, where no content was streamed", None, None, response.text)


@TEXTS.law(
    30,
    "lists of log probabilities are extended in the order in which they arrive",
    kind="reader/logprobs",
    source="wire/openai-chat.md section 7",
    why="With the last chunk only, the numbers no longer belong to the text.",
    bad="choice.logprobs = chunk.logprobs",
    good="choice.logprobs.content += chunk.logprobs.content",
    seen="naive merges",
)
def logprobs_are_extended(it: Reading) -> Said:
    if not it.account.tokens or it.seen.body is None:
        return None
    tokens = tokens_of(it.dialect.name, it.seen.body)
    if tokens == it.account.tokens:
        return True
    message = f"log probabilities of {len(tokens)} tokens, where those of {len(it.account.tokens)} were streamed"
    return Breach(message, None, it.account.tokens, tokens)


@TEXTS.law(
    31,
    "the halves of a surrogate pair that two fragments divide become one character",
    kind="reader/surrogates",
    source="RFC 8259 section 7; wire/openai-chat.md section 4",
    why="A reader that mends each fragment by itself writes two U+FFFD in the place of one character.",
    bad='"\\ud83d" and "\\ude00", each replaced',
    good="one character, U+1F600",
    seen="decoding for each fragment",
)
def halves_become_one(it: Reading) -> Said:
    whole, halves = it.under(changes.with_character), it.under(changes.with_halves)
    if whole is None or halves is None:
        return None
    found = differing(said(whole), said(halves))
    return True if found is None else breach(it, found, halves, "a character in two halves is not read as one")


@TEXTS.law(
    34,
    "offsets of citations and annotations are those that were streamed, which point into the joined text",
    kind="reader/offsets",
    source=f"{_MAPS}; wire/google-generatecontent.md section 7",
    why="An offset that is taken to be one into its chunk marks the wrong words.",
    bad="start - length of the text so far",
    good="start_index as it came",
)
def offsets_are_untouched(it: Reading) -> Said:
    told = [place for citation in it.account.citations for place in _offsets(citation)]
    if not told or it.seen.response is None:
        return None
    parts = [part for part in it.seen.response.parts if isinstance(part, Text)]
    seen = [place for part in parts for citation in part.annotations for place in _offsets(citation)]
    if sorted(told) == sorted(seen):
        return True
    return Breach(f"{len(told)} places were streamed; read: {short(sorted(seen))}", None, sorted(told), sorted(seen))


_OFFSETS = (("start_index", "end_index"), ("startIndex", "endIndex"), ("start_char_index", "end_char_index"))


def _offsets(citation: Any) -> Iterator[tuple[int, int]]:
    """All places in a citation, however deep; a beginning that is left out is 0."""
    if isinstance(citation, dict):
        for start, end in _OFFSETS:
            if type(citation.get(end)) is int:
                yield (citation[start] if type(citation.get(start)) is int else 0), citation[end]
    for inner in citation.values() if isinstance(citation, dict) else citation if isinstance(citation, list) else ():
        yield from _offsets(inner)
