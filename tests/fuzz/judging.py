"""What must be true of any bytes at all, whatever they are a mutation of.

Whether a turn came to its end is told here by the bytes alone, without our own reader: the API's last word has to stand in
them somewhere. That is less than completeness; without it nothing is complete.
"""

from __future__ import annotations

import base64
import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from harness import checking, dialects, payload
from harness.cassette.decoding import DecodedBody
from harness.checking import Checked
from harness.errors import Where
from harness.findings import KINDS
from harness.inputs import Input
from harness.reporting import results
from tests.fuzz.mutating import Mutated

_SECONDS = 20  # far more than any of these streams takes; one that takes it hangs
_LAST_WORDS = {
    "openai-chat": rb'finish_reason"\s*:\s*"',
    "openai-responses": rb'response\.(completed|incomplete)|"status"\s*:\s*"(completed|incomplete)"',
    "gemini": rb"[fF]inish_?[rR]eason|blockReason|completed",
    "bedrock-converse": rb"messageStop|stopReason",
    "bedrock-invoke": rb'message_?[sS]top|[sS]top_?[rR]eason"?\s*:\s*"|completionReason|is_finished|finish_reason'
    rb"|bedrock-(trace|invocationMetrics)",
    "ollama-chat": rb'"done"\s*:\s*true',
    "anthropic-messages": rb"message_stop",
}
_BASE64 = re.compile(rb'"bytes"\s*:\s*"([A-Za-z0-9+/]*=*)"')


def judge(made: Mutated, seconds: int = _SECONDS) -> Checked:
    """Check a mutated stream as `streamproof check` does, and what it says of itself, in so many seconds; 0: somebody else
    watches the time."""
    api = dialects.dialect(made.dialect)
    given = Input(name="mutated", dialect=api, detected=False, exchanges=(made.exchange,), provider=made.provider)
    with _in_time(seconds) if seconds else nullcontext():
        checked = checking.check(given)
        json.loads(results.dumped(checked.as_dict()))
    body = b"".join(chunk.data for chunk in DecodedBody(made.exchange))
    ended = re.search(_LAST_WORDS[made.dialect], _said(made.dialect, body)) is not None
    if checked.outcome is checking.Outcome.OK:
        assert checked.seen.complete, "a turn that is not complete is `ok`"
        assert ended, "a turn that never came to its end is `ok`"
    assert ended or not checked.seen.complete or _is_document(body), "a turn that never came to its end is complete"
    for finding in checked.findings:
        assert finding.kind in KINDS
        assert _lies_in(finding.where, body), f"{finding.kind} points outside of the body: {finding.where}"
    return checked


def _said(dialect: str, body: bytes) -> bytes:
    """The body, and what it carries in base64."""
    if dialect != "bedrock-invoke":
        return body
    return body + b"".join(base64.b64decode(found[: len(found) // 4 * 4]) for found in _BASE64.findall(body))


def _is_document(body: bytes) -> bool:
    """Whether the body is one JSON value: a turn that came at once, which some APIs give no last word."""
    try:
        payload.tolerant(body)
    except payload.NotJSON:
        return False
    return True


def _lies_in(where: Where, body: bytes) -> bool:
    return where.span is None or 0 <= where.span[0] <= where.span[1] <= len(body)


@contextmanager
def _in_time(seconds: int) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not judged after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
