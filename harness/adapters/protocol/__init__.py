"""The process protocol: JSON lines between the harness and a system under test in any language (product contract, section 7).

`messages` holds what is said, `schema.json` is the same as JSON Schema, `templates/` has a program to begin with in Python,
Node, Go and shell.
"""

from __future__ import annotations

from pathlib import Path

from harness.adapters.protocol.messages import Described, Failure, Said, ToldCall, ToldResponse, ToldUsage, schema

__all__ = ["SCHEMA", "TEMPLATES", "Described", "Failure", "Said", "ToldCall", "ToldResponse", "ToldUsage", "schema"]

TEMPLATES = Path(__file__).parent / "templates"
SCHEMA = Path(__file__).parent / "schema.json"
"""The published schema, written by `python -m tools.protocol_schema`."""
