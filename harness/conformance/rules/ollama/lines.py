"""Rules about the lines of Ollama: their fields, their contents, their errors."""

from __future__ import annotations

from harness.conformance.rules.ollama.order import OLLAMA
from harness.conformance.rules.ollama.walk import ErrorLine, Line, Times
from harness.conformance.rules.rule import Blame, Breach, Need, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

REASONS = ("stop", "length", "load", "unload")


@OLLAMA.rule(
    2,
    Level.MUST,
    "done_reason is sent with done: true, and only there",
    at=Line,
    kind="finish/missing",
    source="OLL-SRC",
    why="Without it a turn that was cut off by the token limit looks like one that is whole.",
    bad='{"done":true}',
    good='{"done":true,"done_reason":"stop"}',
    seen="servers whose runner broke off",
)
def reason_comes_with_done(it: Line) -> Said:
    reason = it.raw.get("done_reason")
    if it.done == bool(reason):
        return True
    what = "no done_reason on the line that says done" if it.done else f"done_reason {reason!r} on a line that is not the last"
    return Breach(what, "/done_reason", got=reason)


@OLLAMA.rule(
    3,
    Level.MUST,
    "done_reason is stop, length, load or unload",
    at=Line,
    kind="finish/unknown-value",
    source="OLL-SRC",
    why="Clients that map reasons fall back to a default, or raise.",
    bad='"done_reason":"tool_calls"',
    good='"done_reason":"stop"',
    seen="servers that imitate the API",
)
def reason_is_known(it: Line) -> Said:
    reason = it.raw.get("done_reason")
    if reason is None or reason == "":
        return None
    return True if reason in REASONS else Breach(f"done_reason is {reason!r}", "/done_reason", " or ".join(REASONS), reason)


@OLLAMA.rule(
    4,
    Level.MUST,
    "every line has model, created_at, message (or response) and done",
    at=Line,
    kind="ollama/field-missing",
    source="OLL-SRC, the struct; recordings, 19 of 19; lines with an error excepted",
    why="Typed clients fail on the line that lacks one.",
    bad='{"model":"m","done":false}',
    good='{"model":"m","created_at":"…","message":{…},"done":false}',
)
def line_has_its_fields(it: Line) -> Said:
    lacks = [name for name in ("model", "created_at", "done") if it.raw.get(name) in (None, "")]
    if not it.generate and not isinstance(it.raw.get("message"), dict):
        lacks.append("message")
    return Breach(f"a line without {', '.join(lacks)}", "") if lacks else True


@OLLAMA.rule(
    5,
    Level.MUST,
    "model stays the same, and created_at does not go back",
    at=(Line, Times),
    kind="ollama/line-unstable",
    source="OLL-SRC",
    why="Lines of two turns were mixed, or lines came in another order than they were made.",
    bad="created_at of the second line is before that of the first",
    good="created_at grows",
)
def line_goes_on(it: Line | Times) -> Said:
    if isinstance(it, Times):
        message = f"created_at goes back from {it.before} to {it.after}"
        return Breach(message, "/created_at", frame=it.frame.index, span=it.frame.span) if it.backwards else None
    before, model = it.facts.model, it.raw.get("model")
    if not before or not model:
        return None
    return True if model == before else Breach(f"the model changes to {model!r}", "/model", before, model)


@OLLAMA.rule(
    6,
    Level.MUST,
    "message.role is assistant on every line",
    at=Line,
    kind="delta/role-invalid",
    source="OLL-SRC; recordings, 15 of 15; not applicable on /api/generate",
    why="Clients take the role from any line, and file the answer under it.",
    bad='"message":{"content":"a"}',
    good='"message":{"role":"assistant","content":"a"}',
)
def role_is_assistant(it: Line) -> Said:
    if it.generate or not isinstance(it.raw.get("message"), dict):
        return None
    role = it.message.get("role")
    return True if role == "assistant" else Breach(f"the role is {role!r}", "/message/role", "assistant", role)


@OLLAMA.rule(
    7,
    Level.MUST,
    "message.content (or response) is there and is a string",
    at=Line,
    kind="ollama/content-missing",
    source="OLL-SRC: the field is always written; recordings, 19 of 19; BR-109",
    why="Clients concatenate it without looking.",
    bad='"content":null',
    good='"content":""',
    seen="servers that imitate the API",
)
def content_is_a_string(it: Line) -> Said:
    if not it.generate and not isinstance(it.raw.get("message"), dict):
        return None
    if isinstance(it.content, str):
        return True
    return Breach(f"content is {it.content!r}; a string was expected, if only an empty one", it.place, "a string", it.content)


@OLLAMA.rule(
    15,
    Level.SHOULD,
    "all thinking comes before the first content",
    at=Line,
    kind="reasoning/after-content",
    source="Ollama documentation; OLL-SRC, the parser",
    why="Clients that close the thinking block at the first content show the rest as nothing, or twice.",
    bad='"content":"a", then "thinking":"b"',
    good='"thinking":"b", then "content":"a"',
    seen="models that think between tool calls",
)
def thinking_comes_first(it: Line) -> Said:
    if not it.message.get("thinking"):
        return None
    place = "/thinking" if it.generate else "/message/thinking"
    return Breach("thinking after the content has begun", place) if it.facts.content else True


@OLLAMA.rule(
    16,
    Level.INFO,
    "the line that says done carries no content, thinking or calls",
    at=Line,
    kind="finish/with-content",
    source="OLL-SRC: parsers that hold text back send it with the end; BR-116",
    why="A client that only reads counts from the last line loses the end of the answer.",
    bad='{"message":{"content":"end"},"done":true}',
    good='{"message":{"content":""},"done":true}',
    blame=Blame.NOBODY,
)
def done_line_is_empty(it: Line) -> Said:
    if not it.done:
        return None
    carried = [name for name in ("content", "response", "thinking", "tool_calls") if it.message.get(name)]
    return Breach(f"the last line carries {', '.join(carried)}", "") if carried else True


@OLLAMA.rule(
    17,
    Level.SHOULD,
    "no thinking is sent where think was false",
    at=Line,
    needs=[Need.REQUEST],
    kind="reasoning/unasked",
    source="OLL-SRC; recordings, 7 of 9: gpt-oss on Ollama Cloud cannot switch it off",
    why="A trace shows up where the caller has no place for it.",
    bad='"think":false, answered with "thinking":"…"',
    good='"think":false, and no thinking',
    seen="gpt-oss on Ollama Cloud",
)
def no_thinking_unasked(it: Line) -> Said:
    if (it.case.asked or {}).get("think") is not False:
        return None
    return Breach("thinking, although think was false") if it.message.get("thinking") else True


@OLLAMA.rule(
    18,
    Level.MUST,
    "logprobs are only sent when they were asked for",
    at=Line,
    needs=[Need.REQUEST],
    kind="logprobs/unasked",
    source="OLL-SRC",
    why="They multiply the size of every line.",
    bad='"logprobs":[…] on a plain request',
    good='"logprobs":[…] where "logprobs":true was asked',
)
def no_logprobs_unasked(it: Line) -> Said:
    asked = it.case.asked or {}
    if asked.get("logprobs") or asked.get("top_logprobs"):
        return None
    return Breach("logprobs that nobody asked for", "/logprobs") if it.raw.get("logprobs") else True


@OLLAMA.rule(
    19,
    Level.MUST,
    "a line with an error has it as a string, and has no message",
    at=ErrorLine,
    needs=[Need.ERROR],
    kind="error/form",
    source="OLL-SRC",
    why="The official client raises with the string; an object is shown as its Python form.",
    bad='{"error":{"message":"busy"}}',
    good='{"error":"busy"}',
    seen="proxies",
)
def error_is_a_string(it: ErrorLine) -> Said:
    error = it.raw.get("error")
    if not isinstance(error, str):
        return Breach(f"the error is {error!r}; a string was expected", "/error", "a string", error)
    return Breach("a line with an error has a message too", "/message") if "message" in it.raw else True


@OLLAMA.rule(
    22,
    Level.INFO,
    "done_reason is length when num_predict is reached",
    at=Ending,
    needs=[Need.REQUEST],
    kind="finish/length-lost",
    source="OLL-SRC",
    why="The caller may take half an answer for a whole one.",
    blame=Blame.NOBODY,
    changed="INFO: the token that ends an answer is counted too, so that one which ends by itself with the last token that is "
    "allowed has the same counts and says `stop` by right; the bytes do not tell the two apart (OLL-SRC, the runner).",
    bad='"num_predict":8, "eval_count":8, "done_reason":"stop"',
    good='"num_predict":8, "eval_count":8, "done_reason":"length"',
)
def length_is_told(it: Ending) -> Said:
    options = (it.case.asked or {}).get("options")
    limit = options.get("num_predict") if isinstance(options, dict) else None
    done = it.facts.done if it.facts is not None else None
    if done is None or not isinstance(limit, int) or limit <= 0 or not isinstance(done.get("eval_count"), int):
        return None
    if done["eval_count"] < limit:
        return None
    reason = done.get("done_reason")
    if reason == "length":
        return True
    message = f"eval_count is {done['eval_count']} of {limit} that num_predict allows, and done_reason {reason!r}"
    return Breach(f"{message}: the answer may be cut off", "/done_reason", "length", reason)
