"""Files for importers, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.model import Cassette, Exchange
from harness.errors import InputError
from harness.importing import Import, Made, Told


def written(folder: Path, name: str, data: bytes | str | Any) -> Path:
    path = folder / name
    if not isinstance(data, (bytes, str)):
        data = json.dumps(data, ensure_ascii=False)
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


def made(path: Path, told: Told | None = None, **more: Any) -> list[Made]:
    with Import(path, told, **more) as job:
        return list(job)


def only(path: Path, told: Told | None = None, **more: Any) -> Made:
    (one,) = made(path, told, **more)
    return one


def side(one: Made | Cassette) -> Exchange:
    case = one.cassette if isinstance(one, Made) else one
    exchange = case.stream or case.reference
    assert exchange is not None
    return exchange


def failed(path: Path, told: Told | None = None, **more: Any) -> InputError:
    """The error; it says which file, and what to do."""
    with pytest.raises(InputError) as error:
        made(path, told, **more)
    assert str(error.value.where).startswith(str(path.parent)), error.value.where
    assert error.value.hint
    return error.value
