"""Laws of what the assembled body looks like, and of what a reader does with what it does not know."""

from __future__ import annotations

from harness.conformance import native
from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.bodies import LITERALS, STREAM_ONLY, at, role_of
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading, short, text_of, unchanged
from harness.conformance.rules.rule import Breach, Said

FORMS = Laws("REASM")
_MAPS = "the reassembly maps of wire/*.md"


@FORMS.law(
    1,
    "the assembled body has no field that only a stream has: delta, obfuscation, p, sequence_number, a call's index",
    kind="reader/stream-only-field",
    source=_MAPS,
    why="Sent back as history the body is refused; validated against the type of the answer it fails.",
    bad='"tool_calls": [{"index": 0, …}]',
    good='"tool_calls": [{"id": …, "type": "function", …}]',
    seen="naive merges of dictionaries",
)
def nothing_of_the_stream_stays(it: Reading) -> Said:
    if not isinstance(it.seen.body, dict) or it.dialect.name not in STREAM_ONLY or not it.account.payloads:
        return None
    found = [place for place in STREAM_ONLY[it.dialect.name] if any(True for _ in at(it.seen.body, place))]
    return [Breach(f"{place} is a field of the stream and stands in the body", f"/{place}") for place in found] or True


@FORMS.law(
    2,
    "the assembled body has the form of the vendor's non-streaming type",
    kind="native/unlike",
    source="the SDKs' types; product contract, law 4",
    why="Code that was written for plain answers meets what no plain answer has.",
    bad='"object": "chat.completion.chunk"',
    good='"object": "chat.completion"',
    seen="naive merges",
)
def the_body_is_genuine(it: Reading) -> Said:
    body = it.seen.body
    if not isinstance(body, dict) or not it.seen.complete:
        return None
    name, due = LITERALS.get(it.dialect.name, ("", ""))
    if name and body.get(name, due) != due:
        return Breach(f"the body calls itself {body[name]!r}", f"/{name}", due, body[name])
    found = native.findings(it.dialect.name, body) if it.case.first_party else None
    return [Breach(finding.message, finding.where.path) for finding in found or ()] or True


@FORMS.law(
    13,
    "a role that was streamed is kept; a default stands only where none was",
    kind="reader/role",
    source=_MAPS,
    why="The turn is put into the history as somebody else's.",
    bad="the stream says `tool`, the body says `assistant`",
    good="the first role that is not null",
)
def streamed_roles_are_kept(it: Reading) -> Said:
    seen = role_of(it.dialect.name, it.seen.body)
    if seen is None or it.account.role is None:
        return None
    other = it.under(changes.with_another_role)
    roles = [(it.account.role, seen)]
    if other is not None and other.body is not None:
        roles.append((changes.ROLE, role_of(it.dialect.name, other.body)))
    wrong = next(((told, role) for told, role in roles if told != role), None)
    return True if wrong is None else Breach(f"the role {wrong[0]!r} was streamed, and {wrong[1]!r} is told", None, *wrong)


@FORMS.law(
    21,
    "a field that the reader does not know is kept or passed over, and never fatal",
    kind="reader/unknown-field",
    source="every API adds fields without notice; wire/bedrock-converse.md section 2 (`p`)",
    why="The day on which the server sends one more field, every turn fails.",
    bad="ValidationError: extra fields not permitted",
    good="the turn, as it would be without the field",
    seen="strict models",
)
def unknown_fields_do_no_harm(it: Reading) -> Said:
    return unchanged(it, changes.with_unknown_fields, "a field of an unknown name")


@FORMS.law(
    22,
    "an event of an unknown type is skipped, and never fatal",
    kind="reader/unknown-event",
    source="OR-SPEC; wire/anthropic-messages.md section 2",
    why="The vendors say in so many words that there will be more types of events.",
    bad="KeyError: 'streamproof.pulse'",
    good="the turn, as it would be without the event",
    dialects=["openai-responses", "anthropic-messages"],
)
def unknown_events_do_no_harm(it: Reading) -> Said:
    return unchanged(it, changes.with_unknown_event, "an event of an unknown type")


@FORMS.law(
    23,
    "a Responses turn is the terminal event's `response`, unless its output lacks items; deltas only confirm it",
    kind="reader/terminal-ignored",
    source="wire/openai-responses.md section 7",
    why="What the server settles at the end (filtered texts, final ids, encrypted reasoning) is what it will accept back.",
    bad="the output is put together from deltas, whatever the terminal event says",
    good="response.completed wins",
    dialects=["openai-responses"],
)
def the_terminal_event_wins(it: Reading) -> Said:
    other = it.under(changes.with_another_ending)
    if other is None:
        return None
    due, got = text_of(it.seen) + changes.MARK, text_of(other)
    if got == due:
        return True
    return Breach(f"the terminal event has another text than was streamed, and {short(got[-40:])} is read", None, due, got)
