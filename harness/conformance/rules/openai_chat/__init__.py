"""Rules of Chat Completions (wire/openai-chat.md).

`walk` shows them what there is to be seen, `sights` says what that is, `order` is the order of a stream as tables; each other
file has the rules of one subject.
"""

from __future__ import annotations

from harness.conformance.rules.openai_chat.calls import CALLS
from harness.conformance.rules.openai_chat.choices import CHOICES
from harness.conformance.rules.openai_chat.chunks import CHUNKS
from harness.conformance.rules.openai_chat.errors import ERRORS
from harness.conformance.rules.openai_chat.finish import FINISH
from harness.conformance.rules.openai_chat.logprobs import LOGPROBS
from harness.conformance.rules.openai_chat.order import CHOICE_ORDER, ENDS, ORDER
from harness.conformance.rules.openai_chat.tools import TOOLS
from harness.conformance.rules.openai_chat.usage import USAGE
from harness.conformance.rules.openai_chat.walk import ChatWalk

GROUPS = (ENDS, CHUNKS, CHOICES, FINISH, TOOLS, CALLS, USAGE, LOGPROBS, ERRORS)
WALKS = {"openai-chat": ChatWalk}
TABLES = (ORDER, CHOICE_ORDER)
