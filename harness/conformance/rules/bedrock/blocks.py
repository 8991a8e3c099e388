"""Rules about the blocks of a message: their indexes, how they begin, what they consist of."""

from __future__ import annotations

from harness.conformance.rules.bedrock.order import BEDROCK
from harness.conformance.rules.bedrock.sights import ANNOUNCED, Closing, Delta, Start, Stop
from harness.conformance.rules.rule import Blame, Breach, Said
from harness.findings import Level

_OfBlock = Start | Delta | Stop
_EVENTS = (Start, Delta, Stop)
_MODEL = "service model"


@BEDROCK.rule(
    7,
    Level.MUST,
    "every event of a block has a contentBlockIndex of 0 or more",
    at=_EVENTS,
    kind="bedrock/index-invalid",
    source=f"{_MODEL}: required, and not negative",
    why="Blocks are told apart by it alone; without one, parallel calls are welded together.",
    bad='contentBlockDelta {"delta":{"text":"a"}}',
    good='contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"a"}}',
)
def event_has_an_index(it: _OfBlock) -> Said:
    index = it.index
    if type(index) is int and index >= 0:
        return True
    message = f"contentBlockIndex is {index!r}; a number from 0 on was expected"
    return Breach(message, f"{it.event.path}/contentBlockIndex", got=index)


@BEDROCK.rule(
    8,
    Level.MUST,
    "indexes of blocks begin at 0 and grow by 1 (inside Invoke, Nova leaves numbers out), and none begins twice",
    at=_EVENTS,
    kind="bedrock/index-order",
    source="wire/bedrock-converse.md section 3; recordings, 58 of 58, of Nova inside Invoke one more with calls at 22 and 24",
    why="Clients that keep blocks in a list put them in the wrong place, or leave a hole where a block should be.",
    bad="blocks 0 and 2",
    good="blocks 0 and 1",
)
def indexes_grow_by_one(it: _OfBlock) -> Said:
    block, due = it.block, it.facts.next
    path = f"{it.event.path}/contentBlockIndex"
    if not it.opens:
        began_twice = isinstance(it, Start)
        return Breach(f"block {block.index} begins again", path, due, block.index) if began_twice else None
    if block.index == due or (it.event.nova and block.index > due):
        return True
    return Breach(f"block {block.index} begins where {due} is due", path, due, block.index)


@BEDROCK.rule(
    9,
    Level.SHOULD,
    "blocks are not interleaved: once another block has begun, nothing more comes for the one before",
    at=_EVENTS,
    kind="bedrock/blocks-interleaved",
    source="wire/bedrock-converse.md section 3; recordings, 10 of 10; BR-107 for clients that ignore the index",
    why="Clients that take the open block for the one that is meant mix two blocks up.",
    bad="deltas of 0, of 1, and of 0 again",
    good="deltas of 0, its stop, deltas of 1",
)
def blocks_come_one_by_one(it: _OfBlock) -> Said:
    if it.opens or it.block.index not in it.facts.open:
        return None
    last = it.facts.last
    message = f"an event of block {it.block.index} comes after one of block {last}"
    return True if last == it.block.index else Breach(message, f"{it.event.path}/contentBlockIndex")


@BEDROCK.rule(
    11,
    Level.MUST,
    "blocks with toolUse, toolResult or image begin with contentBlockStart",
    at=Delta,
    kind="bedrock/block-not-started",
    source=f"{_MODEL}, ContentBlockStart",
    why="Id and name of a call stand in its start, and nowhere else.",
    bad='contentBlockDelta {"delta":{"toolUse":{"input":"{}"}}} of a new block',
    good='contentBlockStart {"start":{"toolUse":{"toolUseId":"t1","name":"tide"}}}, then its deltas',
)
def block_was_announced(it: Delta) -> Said:
    if it.kind not in ANNOUNCED or it.late:
        return None
    return True if it.block.started else Breach(f"a delta of {it.kind} in a block without contentBlockStart", it.path)


@BEDROCK.rule(
    12,
    Level.INFO,
    "blocks of text and of reasoning have no contentBlockStart",
    at=Delta,
    kind="bedrock/block-started",
    source="recordings, 14 of 14; BR-104, BR-105",
    why="Clients that wait for a start before they take a text lose it; one that comes all the same tells nothing.",
    bad='contentBlockStart {"start":{}}, then a delta of text',
    good="a delta of text as the first event of the block",
    seen="gateways",
    blame=Blame.NOBODY,
)
def text_was_not_announced(it: Delta) -> Said:
    if it.kind not in ("text", "reasoningContent") or it.block.kind is not None or it.late:
        return None
    return Breach(f"a block of {it.kind} has a contentBlockStart", it.path) if it.block.started else True


@BEDROCK.rule(
    13,
    Level.MUST,
    "`start` and `delta`, and the `reasoningContent` of a delta, have exactly one member",
    at=(Start, Delta),
    kind="bedrock/union",
    source=f"{_MODEL}: both are unions; BR-105",
    why="SDKs take the one member that is there: of two, one is lost, and of none they raise or make a block of no kind.",
    bad='"start":{}',
    good='"start":{"toolUse":{"toolUseId":"t1","name":"tide"}}',
    seen="gateways that announce texts",
)
def union_has_one_member(it: Start | Delta) -> Said:
    unions = {it.path: it.members}
    if isinstance(it, Delta) and isinstance(thought := it.members.get("reasoningContent"), dict):
        unions[f"{it.path}/reasoningContent"] = {name: value for name, value in thought.items() if value is not None}
    return [_not_one(path, list(members)) for path, members in unions.items() if len(members) != 1] or True


def _not_one(path: str, members: list[str]) -> Breach:
    name = path.rpartition("/")[2]
    message = f"`{name}` has {', '.join(members) or 'no member'}; exactly one was expected"
    return Breach(message, path, kind="bedrock/empty-start-union" if name == "start" and not members else None)


@BEDROCK.rule(
    14,
    Level.MUST,
    "a block is of one kind (texts and their citations are one)",
    at=Delta,
    kind="bedrock/kinds-mixed",
    source=f"{_MODEL}: ContentBlock is a union; recordings, 59 of 59",
    why="A block of the reply has one member: what is of another kind is lost, or becomes a block that nobody sent.",
    bad="a delta of text and a delta of toolUse, both of block 0",
    good="deltas of text of block 0, deltas of toolUse of block 1",
)
def block_has_one_kind(it: Delta) -> Said:
    before, kind = it.block.kind, it.kind
    if before is None or kind is None:
        return None
    return True if kind == before else Breach(f"a delta of {kind} in a block of {before}", it.path, before, kind)


@BEDROCK.rule(
    26,
    Level.INFO,
    "no block consists of an empty text",
    at=Closing,
    kind="bedrock/empty-text",
    source="recordings: block 0 of gpt-oss, which the answer that is not streamed lacks",
    why="Shown as it is, the answer begins with an empty paragraph.",
    bad='contentBlockDelta {"delta":{"text":""}}, contentBlockStop',
    good='contentBlockDelta {"delta":{"text":"a"}}, contentBlockStop',
    seen="gpt-oss",
    blame=Blame.NOBODY,
)
def no_text_is_empty(it: Closing) -> Said:
    if it.facts is None or not it.facts.texts:
        return None
    return it.ending.breaches("bedrock/empty-text") or True
