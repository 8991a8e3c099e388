"""Where the shared material lies: recordings and specifications that tests read in place.

`STREAMPROOF_SHARED` names the folder; without it, it is `shared` beside the checkout. Tests that need it are skipped where
it is missing, and fail where `STREAMPROOF_REQUIRE_CORPUS=1` says that it must be there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("STREAMPROOF_SHARED") or Path(__file__).resolve().parents[2] / "shared")
REQUIRED = os.environ.get("STREAMPROOF_REQUIRE_CORPUS") == "1"


def needed(name: str) -> Path:
    """A folder or file of the shared material; skips the test, or fails it, where it is missing."""
    path = SHARED / name
    if not path.exists():
        reason = f"{path} is missing; STREAMPROOF_SHARED may name its folder"
        (pytest.fail if REQUIRED else pytest.skip)(reason)
    return path
