"""Rules of Anthropic's Messages API, and of Claude's events inside Bedrock's InvokeModel."""

from __future__ import annotations

from harness.conformance.rules.anthropic import blocks, deltas, events, finish
from harness.conformance.rules.anthropic.order import ANTHROPIC, BLOCKS, ORDER
from harness.conformance.rules.anthropic.walk import MessagesWalk

__all__ = ["blocks", "deltas", "events", "finish"]

GROUPS = (ANTHROPIC,)
WALKS = {"anthropic-messages": MessagesWalk, "bedrock-invoke": MessagesWalk}
TABLES = (ORDER, BLOCKS)
