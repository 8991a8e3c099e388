"""The replay server: cassettes for any client in any language. The verb is `serve`.

`Server` listens on the caller's event loop, `serving` in a thread of its own; `Entry` is a line of its log.
"""

from harness.serving.entry import Entry
from harness.serving.limits import Limits
from harness.serving.server import Server
from harness.serving.threads import Served, serving

__all__ = ["Entry", "Limits", "Served", "Server", "serving"]
