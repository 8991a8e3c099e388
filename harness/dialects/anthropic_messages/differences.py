"""Where a streamed message and its twin differ, and why that is no fault: each place with its evidence.

The evidence names a recording of the corpus; an entry that excuses nothing in any recording fails a test.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "id": "every answer has its own",
        "content/*/id": "every call has its own",
        "content/*/tool_use_id": "refers to a call",
        "content/*/signature": "signed anew",
        "content/*/data": "encrypted anew",
    }
)

ENUMERATIONS = PathSet(
    {
        "type": "constant",
        "role": "assistant",
        "stop_reason": "end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal",
        "content/*/type": "kinds of blocks",
    }
)

PARTS = PathSet(
    {
        "content/*/citations": "sampling decides what is cited",
    }
)

FREE = PathSet(
    {
        "content/*/input": "the model's arguments",
    }
)
