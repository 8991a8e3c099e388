"""Recordings that other programs made, as cassettes. The verb is `read`, of each format in a module of its own; the noun is
`Import`, which makes cassettes of what was read.

Every format says what it could not keep of an exchange.
"""

from harness.importing.found import Found, Told
from harness.importing.making import Import, Made

__all__ = ["Found", "Import", "Made", "Told"]
