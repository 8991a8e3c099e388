"""Writes the JSON Schema of the process protocol: `python -m tools.protocol_schema`."""

from __future__ import annotations

import json

from harness.adapters import protocol


def page() -> str:
    return json.dumps(protocol.schema(), indent=2) + "\n"


if __name__ == "__main__":
    protocol.SCHEMA.write_text(page(), encoding="utf-8")
