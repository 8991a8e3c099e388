"""Laws of the assembled turn beside its non-streaming twin."""

from __future__ import annotations

from collections.abc import Iterator

from harness.conformance.compare import compare
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading
from harness.conformance.rules.rule import Blame, Breach, Need, Said
from harness.conformance.twins import against_twin, comparable, match_of
from harness.findings import Finding, Level

TWINS = Laws("REASM")
_NEEDS = (Need.STREAM, Need.TWIN)
_BOTH = "the twins of the recordings; product contract, law 3"


def _beside(it: Reading) -> bool:
    """Whether there is a twin to compare with, and both sides have bodies."""
    return it.twin is not None and comparable(it.seen, it.twin) and isinstance(it.seen.body, dict)


def _differences(it: Reading, *kinds: str) -> Iterator[Finding]:
    if it.twin is not None:
        found = against_twin(it.cassette, it.seen, it.twin, it.dialect)
        yield from (f for f in found if f.kind in kinds and f.level is Level.MUST)


def _compared(it: Reading, *kinds: str) -> Said:
    if not _beside(it):
        return None
    found = list(_differences(it, *kinds))
    return [Breach(f.message, f.where.path, f.expected, f.got, kind=f.kind) for f in found] or True


def _same_output(it: Reading) -> bool:
    return _beside(it) and it.twin is not None and match_of(it.cassette, it.seen, it.twin) == "exact"


@TWINS.law(
    3,
    "the assembled body has the keys of its twin, but for those that the maps name for one side",
    kind="reference/absent",
    source=_BOTH,
    why="Code that reads a key finds it in plain answers only.",
    bad="message has no `refusal`",
    good='"refusal": null, as in the plain answer',
    needs=_NEEDS,
    blame=Blame.NOBODY,  # the two bodies do not tell whether the reader or the server made them differ
)
def keys_are_those_of_the_twin(it: Reading) -> Said:
    return _compared(it, "reference/absent", "reference/extra")


@TWINS.law(
    4,
    "values have the JSON types that they have in the twin",
    kind="reference/type",
    source=_BOTH,
    why="Arguments that are a text here and an object there need two sorts of code.",
    bad='"input": "{\\"city\\": \\"Oslo\\"}"',
    good='"input": {"city": "Oslo"}',
    needs=_NEEDS,
    blame=Blame.NOBODY,  # the two bodies do not tell whether the reader or the server made them differ
)
def types_are_those_of_the_twin(it: Reading) -> Said:
    if not _beside(it):
        return None
    found = [f for f in _differences(it, "reference/type", "reference/value") if _of_other_types(f)]
    return [Breach(f.message, f.where.path, f.expected, f.got, kind="reference/type") for f in found] or True


def _of_other_types(found: Finding) -> bool:
    """Where equal values are expected, a value of another type is told as another value."""
    return found.kind == "reference/type" or type(found.expected) is not type(found.got)


@TWINS.law(
    27,
    "for the same output the finish reason is that of the twin",
    kind="reference/word",
    source=_BOTH,
    why="The same turn is over for one reader, and waits for results of tools for the other.",
    bad="stop in the stream, tool_calls in the plain answer",
    good="tool_calls in both",
    seen="Gemini's endpoint for Chat, vLLM",
    needs=_NEEDS,
    blame=Blame.NOBODY,  # the two bodies do not tell whether the reader or the server made them differ
)
def reasons_are_those_of_the_twin(it: Reading) -> Said:
    words = _compared(it, "reference/word")
    if words is not True or not _same_output(it) or it.twin is None:
        return words
    one, other = (side.response.raw_finish_reason if side.response else None for side in (it.twin, it.seen))
    return True if one == other else Breach(f"the finish reason is {other!r}, that of the twin {one!r}", None, one, other)


@TWINS.law(
    28,
    "for the same output the usage is that of the twin",
    level=Level.SHOULD,
    kind="reference/usage",
    source=_BOTH,
    why="One of the two is not what is paid for.",
    bad="10 output tokens in the stream, 25 in the plain answer, for one text",
    good="equal counts",
    seen="caches, which count their own tokens apart",
    needs=_NEEDS,
    blame=Blame.NOBODY,  # the two bodies do not tell whether the reader or the server made them differ
)
def usage_is_that_of_the_twin(it: Reading) -> Said:
    if not _same_output(it) or it.twin is None or it.twin.response is None or it.seen.response is None:
        return None
    one, other = it.twin.response.usage, it.seen.response.usage
    if one is None or other is None:
        return None
    counts = [(n, getattr(one, n), getattr(other, n)) for n in ("input_tokens", "output_tokens")]
    wrong = [(name, due, got) for name, due, got in counts if None not in (due, got) and due != got]
    return [Breach(f"{got} {name}, in the twin {due}", None, due, got) for name, due, got in wrong] or True


@TWINS.law(
    29,
    "fields that are known to stand in plain answers only are not there",
    level=Level.INFO,
    kind="reference/only-plain",
    source="recordings: billing (Responses), finishMessage and avgLogprobs (Gemini), annotations, usage_breakdown",
    why="No fault: a reader of streams cannot have what was never streamed. Who needs such a field must ask without a stream.",
    bad="avgLogprobs in the plain answer, and not in the stream",
    good="both forms of the answer say the same",
    needs=_NEEDS,
    blame=Blame.NOBODY,  # the two bodies do not tell whether the reader or the server made them differ
)
def nothing_is_kept_for_plain_answers(it: Reading) -> Said:
    if not _beside(it) or it.twin is None:
        return None
    found = compare(it.twin.body, it.seen.body, it.dialect, match_of(it.cassette, it.seen, it.twin))
    only = [d for d in found if d.excuse is not None and d.excuse.startswith("unsent:")]
    return [Breach(f"{d.path} stands in plain answers only", d.path, d.expected, d.got) for d in only] or True
