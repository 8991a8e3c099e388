"""Links of the documentation that lead out of `docs/`: paths in the repository, addresses of the repository on the site."""

from __future__ import annotations

import re
from typing import Any

_OUT = re.compile(r"\]\(\.\./([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return _OUT.sub(lambda found: f"]({config.repo_url}/blob/main/{found[1]}{found[2] or ''})", markdown)
