"""Rules of Bedrock: the events of ConverseStream, and the chunks of InvokeModelWithResponseStream.

What a chunk carries is its vendor's. Nova's payloads are events of Converse by another name, and are judged as such.
"""

from __future__ import annotations

from harness.conformance.rules.bedrock import blocks, content, frames, message
from harness.conformance.rules.bedrock.order import BEDROCK, BLOCK_ORDER, ORDER
from harness.conformance.rules.bedrock.walk import ConverseWalk, InvokeWalk

__all__ = ["blocks", "content", "frames", "message"]

GROUPS = (BEDROCK,)
WALKS = {"bedrock-converse": ConverseWalk, "bedrock-invoke": InvokeWalk}
TABLES = (ORDER, BLOCK_ORDER)
