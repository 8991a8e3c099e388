"""What a request to `generateContent` asked for. The API takes its field names in camel case and in snake case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.conformance.rules.sights import Case
from harness.dialects.translating import as_object

_CAPITAL = re.compile(r"(?=[A-Z])")
_GENERATION = re.compile(r"gemini-(\d+)")


def request(case: Case) -> Mapping[str, Any] | None:
    """The request's fields, if it is known: every one has contents, and of raw captures there is none."""
    return case.asked if case.asked is not None and "contents" in case.asked else None


def setting(asked: Mapping[str, Any], *steps: str) -> Any:
    """The value that these field names, in camel case, lead to; None if there is none."""
    value: Any = asked
    for step in steps:
        fields = as_object(value)
        value = fields.get(step, fields.get(_CAPITAL.sub("_", step).lower()))
    return value


def generation(case: Case, version: Any = None) -> int | None:
    """The generation of the model, by the version that a chunk names or by the path of the request: 3 for `gemini-3-pro`."""
    for name in (version, case.exchange.request.target):
        found = _GENERATION.search(name) if isinstance(name, str) else None
        if found:
            return int(found[1])
    return None
