"""Settings of a project: `[tool.streamproof.COMMAND]` in its pyproject.toml has for each option of the command what it is
unless the command line says otherwise; `[tool.streamproof]` has the files of known deviations.

    [tool.streamproof]
    known = ["known.toml"]

    [tool.streamproof.run]
    adapter = ["./my_client.py"]
    fault = ["none", "truncated"]
    fail-on = "should"
"""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from harness.errors import InputError

PROJECT = Path("pyproject.toml")
_OURS = ("known",)  # settings that are no command's


def defaults(commands: Any, project: Path = PROJECT) -> dict[str, Any]:
    """What the options of each command of a group are by this project's settings, as click wants them (`default_map`). Raises
    `InputError` for a setting that no option is called."""
    told = table(project)
    found: dict[str, Any] = {}
    for name, settings in told.items():
        if name in _OURS:
            continue
        command = commands.commands.get(name)
        if command is None or not isinstance(settings, dict):
            raise _unknown(name, [*commands.commands, *_OURS], f"{project} [tool.streamproof]")
        options = {_long(option): str(option.name) for option in command.params if option.param_type_name == "option"}
        for key, value in settings.items():
            if key not in options:
                raise _unknown(key, list(options), f"{project} [tool.streamproof.{name}]")
            found.setdefault(name, {})[options[key]] = value
    return found


def table(project: Path = PROJECT) -> dict[str, Any]:
    """The table `[tool.streamproof]`; empty where there is none. Raises `InputError`."""
    if not project.is_file():
        return {}
    try:
        told: Any = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(project), hint="settings may stand there") from None
    for step in ("tool", "streamproof"):
        told = told.get(step, {}) if isinstance(told, dict) else {}
    if not isinstance(told, dict):
        raise InputError("streamproof must be a table", where=f"{project} [tool]", hint="write [tool.streamproof]")
    return told


def _long(option: Any) -> str:
    return str(max(option.opts, key=len)).lstrip("-")


def _unknown(name: str, there: list[str], where: str) -> InputError:
    close = get_close_matches(name, there, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(sorted(there))}"
    return InputError(f"no setting is called {name!r}", where=where, hint=hint)
