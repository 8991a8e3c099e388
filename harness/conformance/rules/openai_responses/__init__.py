"""Rules of OpenAI Responses, and of the Open Responses servers.

`walk` and `item_walk` show what there is to be seen (`sights`) and remember what later events are compared with (`facts`);
`order` has the tables of the order of events. The rules stand in a module for each subject.
"""

from __future__ import annotations

from harness.conformance.rules.openai_responses.errors import ERRORS
from harness.conformance.rules.openai_responses.events import EVENTS
from harness.conformance.rules.openai_responses.items import ITEMS
from harness.conformance.rules.openai_responses.lifecycle import LIFECYCLE
from harness.conformance.rules.openai_responses.order import CALL, ITEM, ORDER_OF_EVENTS, PART, RESPONSE, SUMMARY, TOOL
from harness.conformance.rules.openai_responses.output import OUTPUT
from harness.conformance.rules.openai_responses.parts import PARTS
from harness.conformance.rules.openai_responses.sequence import SEQUENCE
from harness.conformance.rules.openai_responses.text import TEXT
from harness.conformance.rules.openai_responses.walk import ResponsesWalk

GROUPS = (ORDER_OF_EVENTS, LIFECYCLE, EVENTS, SEQUENCE, ITEMS, PARTS, TEXT, OUTPUT, ERRORS)
WALKS = {"openai-responses": ResponsesWalk}
TABLES = (RESPONSE, ITEM, PART, SUMMARY, CALL, TOOL)
