"""What a conformance class says of its adapter, checked before its first test: a slip of the pen must not make tests vanish."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from harness import cassette as cassettes
from harness import dialects
from harness.conformance.grading import FACTS
from harness.errors import InputError
from harness.response import COUNTS
from harness.testing.conformance import FLAGS, Known, ProviderConformance

Roots = tuple[Path, ...]


def several(value: Any) -> tuple[Any, ...]:
    """What a class may say as one or as several."""
    return (value,) if isinstance(value, (str, Path, Known)) else tuple(value)


def checked(tests: type[ProviderConformance]) -> tuple[str, ...]:
    """The dialects of a class all of whose words are known. Raises `InputError`."""
    if tests.observe is ProviderConformance.observe:
        raise InputError("observe is not written", hint="it asks your adapter: def observe(self, request, base_url)")
    spoken = tuple(dialects.dialect(name).name for name in several(tests.dialects))
    if not spoken:
        raise InputError("it has no dialects", hint=f"write dialects = [{dialects.names()[0]!r}]")
    _flags(tests)
    for name in several(tests.omits):
        _among("fact", name, (*FACTS, *COUNTS))
    _among("backend", tests.backend, ("asyncio", "trio"))
    if not isinstance(tests.timeout, (int, float)) or tests.timeout <= 0:
        raise InputError(f"timeout is {tests.timeout!r}", hint="it is in seconds")
    for entry in several(tests.known):
        if not isinstance(entry, Known) or not entry.reason:
            raise InputError(f"known has {entry!r}", hint='write Known("*/reasoning", "why it fails", fault="none")')
    return spoken


def _flags(tests: type[ProviderConformance]) -> None:
    for name in dir(tests):
        if name.startswith("supports_"):
            _among("flag", name, FLAGS)
            if not isinstance(getattr(tests, name), bool):
                raise InputError(f"{name} is {getattr(tests, name)!r}", hint="it is True or False")


def _among(what: str, name: Any, there: Iterable[str]) -> None:
    listed = sorted(there)
    if name not in listed:
        close = get_close_matches(str(name), listed, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(listed)}"
        raise InputError(f"there is no {what} {name!r}", hint=hint)


def roots_of(tests: type[ProviderConformance]) -> Roots:
    """The places of its cassettes: beside the module of the class that names them, or below the working directory; the shipped
    ones if it names none. Raises `InputError` for a place that is not there."""
    names = several(tests.cassettes)
    if not names:
        return (cassettes.shipped(),)
    namer = next(cls for cls in tests.__mro__ if "cassettes" in vars(cls))
    file = getattr(sys.modules.get(namer.__module__), "__file__", None)
    return tuple(_found(Path(name), Path(file).parent if file else Path()) for name in names)


def _found(name: Path, beside: Path) -> Path:
    tried = (beside / name, Path.cwd() / name)
    for path in tried:
        if path.exists():
            return path
    places = dict.fromkeys(str(path.parent) for path in tried)
    raise InputError(f"there are no cassettes {str(name)!r} in {' or in '.join(places)}")
