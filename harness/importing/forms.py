"""The formats that recordings come in, and which of them a file is of.

A format is told by how the file begins, never by its name alone; a name only says what the framing of a bare body is. What is
of no other format is taken for a body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from harness.detection import detect
from harness.errors import InputError
from harness.importing.found import Found, Told
from harness.importing.http_text import STATUS_LINE
from harness.importing.json_items import Damaged, Items
from harness.importing.source import Source

_BODY_NAMES = (".sse", ".ndjson", ".bin", ".hex")
_YAML = re.compile(rb"""^(?:["']?(?:interactions|http_interactions)["']?[ ]*:|- request:|version[ ]*:)""", re.MULTILINE)
_FLOW = re.compile(rb"\d{1,10}:\d{1,10}:[a-z]")
_LINES = 40


@dataclass(frozen=True, slots=True)
class Form:
    """A format: its `name` for `--format`, `what` it is, and the module that reads it."""

    name: str
    what: str
    module: str

    def read(self, source: Source, told: Told) -> Iterator[Found]:
        """What is in the file, one exchange after the other. Raises `InputError`."""
        reader: Callable[[Source, Told], Iterator[Found]] = import_module(f"harness.importing.{self.module}").read
        return reader(source, told)


FORMS = {
    form.name: form
    for form in (
        Form("vcrpy", "cassettes of vcrpy and pytest-recording, in YAML or JSON, or either in gzip", "vcr"),
        Form("har", "HTTP Archives of browsers, Playwright, mitmproxy", "har"),
        Form("curl", "output of curl -i, with --raw or without", "curl_output"),
        Form("curl-trace", "files of curl --trace and --trace-ascii, best with --trace-time", "curl_trace"),
        Form("mitmproxy", "flows that mitmdump -w wrote", "mitmproxy"),
        Form("wiretruth", "fixtures of wiretruth", "wiretruth"),
        Form("aimock", "fixtures of aimock", "aimock"),
        Form("payloads", "payloads line by line, as the logs of applications hold them", "payload_lines"),
        Form("body", "the body of a response: .sse, .ndjson, .json, .bin, .hex", "bodies"),
    )
}


def form_of(source: Source, name: str | None = None) -> Form:
    """The format of a file, or the one called `name`. Raises `InputError`."""
    if name is None:
        return FORMS[_name(source)]
    if name not in FORMS:
        raise InputError(f"no format is called {name!r}", hint=f"there are {', '.join(FORMS)}")
    return FORMS[name]


def _name(source: Source) -> str:
    head = source.head
    if STATUS_LINE.match(head):
        return "curl"
    if _is_trace(head):
        return "curl-trace"
    if _FLOW.match(head):
        return "mitmproxy"
    named_as_body = source.path.suffix.lower() in _BODY_NAMES
    if not named_as_body and head.lstrip()[:1] == b"{":
        found = _of_document(source)
        if found is not None:
            return found
    if not named_as_body and _YAML.search(head):
        return "vcrpy"
    return "payloads" if not named_as_body and _is_payload_lines(source) else "body"


def _is_trace(head: bytes) -> bool:
    from harness.importing.curl_trace import MARK

    return any(MARK.match(line) for line in head.splitlines()[:3])


def _of_document(source: Source) -> str | None:
    """The format of a file that is one JSON object, by its names; None if they tell none."""
    from harness.importing import aimock, wiretruth

    names = top(source.head)
    if "log" in names:
        return "har"
    if "interactions" in names or "http_interactions" in names:
        return "vcrpy"
    if names.get("format") == wiretruth.FORMAT:
        return "wiretruth"
    return "aimock" if aimock.is_fixtures(names) else None


def top(head: bytes) -> dict[str, Any]:
    """The names at the top of a JSON object that begins so, with their values where they are short; `...` for the last one if
    it is not over."""
    items = Items([head], ("",), len(head))
    try:
        list(items)
    except Damaged:
        if items.open is not None:
            return {**items.beside, items.open: ...}
    return items.beside


def _is_payload_lines(source: Source) -> bool:
    """Payloads on lines of their own, which neither an event stream nor a body of JSON lines are."""
    from harness.importing.payload_lines import holds_payloads

    head = source.head if source.is_short else source.head[: source.head.rfind(b"\n") + 1]
    lines = head.splitlines()[:_LINES]
    full = [line for line in lines if line.strip()]
    if len(full) < 2 or _is_json(head) or not holds_payloads(head):
        return False
    if full[0].lstrip()[:1] in (b"{", b"[") and not _is_json(full[0]):  # a document of many lines
        return False
    if any(line.startswith(b"data:") for line in full) and len(full) < len(lines):
        return not all(line.startswith((b"data:", b"event:", b"id:", b"retry:", b":")) for line in full)
    return detect(head, "ndjson") is None


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
