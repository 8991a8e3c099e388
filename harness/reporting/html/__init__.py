"""Results as one HTML file that needs nothing else: no request leaves it, and text from recordings is only ever text.

`data` gathers what is shown, `streams` the recordings behind what fails; `page.html`, `page.css` and `page.js` show it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib import resources

from harness.cassette.model import Cassette
from harness.reporting.html.data import gathered
from harness.reporting.html.streams import streams
from harness.reporting.results import Line

__all__ = ["render"]


def render(lines: Sequence[Line], *, cassettes: Iterable[Cassette] = (), earlier: Sequence[Sequence[Line]] = ()) -> str:
    """The page for a run. `cassettes` are those that it replayed, for the streams behind what fails; `earlier` are runs before
    it, the oldest first, for the trend."""
    told = gathered(lines, earlier)
    told["streams"], told["left_out"] = streams(lines, cassettes)
    page = _part("page.html")
    for name, text in (("STYLE", _part("page.css")), ("SCRIPT", _part("page.js")), ("DATA", _inert(told))):
        page = page.replace(f"<!--{name}-->", text)
    return page


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _inert(value: object) -> str:
    """JSON that cannot end the element that it stands in, nor begin another one."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
