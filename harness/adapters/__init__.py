"""Systems under test: what each of them makes of an exchange.

An adapter has a `name`, a `version` and one verb, `observe`. Our own pipeline is the adapter `ours`, by the same door.
"""

from __future__ import annotations

from harness.adapters.observation import Observation
from harness.adapters.ours import Ours

__all__ = ["Observation", "Ours"]
