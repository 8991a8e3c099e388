"""Rules of Google's `generateContent`, as the Gemini API and Vertex AI have it (wire/google-generatecontent.md).

`walk` shows them what there is to be seen, `sights` says what that is, `order` is the order of a stream as tables and `steps`
what moves them; each other file has the rules of one subject.
"""

from __future__ import annotations

from harness.conformance.rules.gemini.calls import CALLS
from harness.conformance.rules.gemini.chunks import CHUNKS
from harness.conformance.rules.gemini.errors import ERRORS
from harness.conformance.rules.gemini.finish import FINISH
from harness.conformance.rules.gemini.grounding import GROUNDING
from harness.conformance.rules.gemini.order import CALL, CANDIDATE, CODE, ORDER, PATH
from harness.conformance.rules.gemini.order import THOUGHTS as THOUGHT_ORDER
from harness.conformance.rules.gemini.partial_args import PARTIAL_ARGS
from harness.conformance.rules.gemini.parts import PARTS
from harness.conformance.rules.gemini.thoughts import THOUGHTS
from harness.conformance.rules.gemini.usage import USAGE
from harness.conformance.rules.gemini.walk import GeminiWalk

GROUPS = (CHUNKS, FINISH, PARTS, CALLS, PARTIAL_ARGS, THOUGHTS, USAGE, GROUNDING, ERRORS, ORDER)
WALKS = {"gemini": GeminiWalk}
TABLES = (CANDIDATE, THOUGHT_ORDER, CODE, CALL, PATH)
