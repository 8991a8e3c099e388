"""`streamproof record`: cassettes of a live server, or of whatever a program asks of one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from harness import __version__
from harness import cassette as cassettes
from harness.cassette.model import Cassette
from harness.cli.base import JSON, app, print_json
from harness.errors import CassetteError, InputError, UnsupportedRequestError
from harness.reporting import results
from harness.reporting.terminal import Terminal

if TYPE_CHECKING:
    from harness.recording import Recorder
    from harness.recording.live import Server
    from harness.recording.scenarios import Scenario

_KEYS = {
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "bedrock-converse": ("AWS_BEARER_TOKEN_BEDROCK",),
    "bedrock-invoke": ("AWS_BEARER_TOKEN_BEDROCK",),
    "ollama-chat": ("OLLAMA_API_KEY",),
    "anthropic-messages": ("ANTHROPIC_API_KEY",),
}
"""Where the key is looked for after STREAMPROOF_API_KEY, if the server is the vendor's own."""
_OURS = "STREAMPROOF_API_KEY"
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_ROUTES = {
    "openai": ("https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": ("https://api.anthropic.com", ("ANTHROPIC_BASE_URL",)),
    "gemini": ("https://generativelanguage.googleapis.com", ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL")),
    "ollama": ("http://127.0.0.1:11434", ("OLLAMA_HOST",)),
    "bedrock": ("https://bedrock-runtime.us-east-1.amazonaws.com", ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",)),
    "azure": ("", ("AZURE_OPENAI_ENDPOINT",)),
    "groq": ("https://api.groq.com", ("GROQ_BASE_URL",)),
}
"""By the first step of the proxy's path: the server behind it, and the variables that tell programs where it is."""
_PLACEHOLDER = "{url}"
_KILLED = 128


@app.command(
    epilog="Keys come from STREAMPROOF_API_KEY, or from --key-env, and never reach a file.",
)
def record(
    what: Annotated[
        list[str] | None, typer.Argument(help="Scenarios (default: all; --list names them), or after -- a command.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The server, up to where the API's own paths begin.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The API it speaks.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that is asked.")] = None,
    provider: Annotated[str | None, typer.Option(help="Who answers. Default: known by the host.")] = None,
    to: Annotated[Path, typer.Option(help="The folder that cassettes are written to.")] = Path("cassettes"),
    name: Annotated[str, typer.Option(help="What the cassettes of a command are called.")] = "recorded",
    key_env: Annotated[str | None, typer.Option(help="The variable that holds the key.")] = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a server may be silent.")] = 120.0,
    force: Annotated[bool, typer.Option("--force", help="Write over cassettes that are there.")] = False,
    show: Annotated[bool, typer.Option("--list", help="Name the scenarios.")] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Make cassettes of a live server: scenarios, each with and without streaming, or what a command asks through a proxy."""
    from harness.recording.live import Server, chosen
    from harness.recording.scenarios import SCENARIOS

    names = what or []
    if base_url is not None:
        _check_url(base_url)
    if show:
        for scenario in SCENARIOS.values():
            Terminal(Console(highlight=False)).line(f"{scenario.name}  {scenario.what}")
        return
    if names and model is None and names[0] not in SCENARIOS:  # a command says itself which models it asks
        raise typer.Exit(_of_command(names, base_url, _Files(to, force=force, as_json=as_json), name, dialect, provider))
    if base_url is None or dialect is None or model is None:
        hint = "give --base-url, --dialect and --model, or a command after --"
        raise InputError("there is nothing to record", hint=hint)
    server = Server(
        base_url=base_url, dialect=dialect, model=model, key=_key(dialect, key_env), provider=provider, timeout=timeout
    )
    made = asyncio.run(_scenarios(server, chosen(names, SCENARIOS), _Files(to, force=force, as_json=as_json)))
    if not made:
        raise typer.Exit(1)


class _Files:
    """Where cassettes go, and what is said of it."""

    def __init__(self, to: Path, *, force: bool, as_json: bool) -> None:
        self._to = to
        self._force = force
        self._json = as_json
        self.say = Terminal(Console(stderr=True, highlight=False))
        self._show = Terminal(Console(highlight=False))

    def check(self, name: str) -> None:
        """Whether a cassette may be written. Raises `InputError`."""
        if not self._force and self._file(name).exists():
            raise InputError("is there already", where=str(self._file(name)), hint="--force writes over it")

    def prepare(self) -> None:
        """Make the folder, before anything is recorded that could not be written then. Raises `InputError`."""
        try:
            self._to.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self._to):
                pass
        except OSError as error:
            raise InputError(
                f"cannot be written to: {error.strerror}", where=str(self._to), hint="--to says where to"
            ) from None

    def free(self, name: str) -> str:
        """The name, or one like it that nothing is called by: what was recorded is never thrown away."""
        number, free = 2, name
        while not self._force and self._file(free).exists():
            free, number = f"{name}-{number}", number + 1
        return free

    def write(self, case: Cassette) -> None:
        file = self._file(case.id)
        cassettes.save(case, file)
        sides = [side for side in (case.stream, case.reference) if side is not None]
        row = {
            "path": str(file),
            "id": case.id,
            "dialect": case.dialect,
            "provider": case.provider,
            "model": case.model,
            "status": [side.status for side in sides],
            "ending": [side.ending for side in sides],
        }
        if self._json:
            print_json([results.dumped(row)])
        else:
            told = ", ".join(f"{side.status} {side.ending} {len(side.body)} bytes" for side in sides)
            self._show.line(f"{file}  {told}")

    def _file(self, name: str) -> Path:
        return self._to / f"{PurePosixPath(name.replace('#', '-'))}.yaml"


async def _scenarios(server: Server, scenarios: list[Scenario], files: _Files) -> int:
    """Record them one after the other; each is on the disk before the next one begins."""
    from harness.recording.live import Live

    live = Live(server, by=f"streamproof record {__version__}")
    made = 0
    files.prepare()
    for scenario in scenarios:
        files.check(live.name(scenario))
    for scenario in scenarios:
        try:
            case = await live.record(scenario)
        except UnsupportedRequestError as error:
            files.say.line(f"passed over: {scenario.name}: {error.message}")
            continue
        files.write(case)
        made += 1
    return made


def _of_command(
    command: list[str], base_url: str | None, files: _Files, name: str, dialect: str | None, provider: str | None
) -> int:
    """Run a command against a proxy and keep what it asked, however it ended: its exit status."""
    from harness.recording import Recorder
    from harness.recording.proxy import Proxy

    secrets = [v for n, v in os.environ.items() if any(word in n.upper() for word in _SECRET) and len(v) >= 16]
    recorder = Recorder(by=f"streamproof record {__version__}", secrets=secrets)
    routes = {"": base_url} if base_url is not None else _routes(os.environ)

    files.prepare()

    async def scenario() -> int:
        async with Proxy(routes, recorder) as proxy:
            told = [word.replace(_PLACEHOLDER, proxy.url) for word in command]
            try:
                process = await asyncio.create_subprocess_exec(*told, env=_environment(proxy.url, alone=base_url is not None))
            except OSError as error:
                raise InputError(f"cannot be run: {error.strerror}", where=command[0]) from None
            try:
                return await process.wait()
            except asyncio.CancelledError:
                process.terminate()
                await process.wait()
                raise

    try:
        status = asyncio.run(scenario())
        return status if status >= 0 else _KILLED - status  # as shells say that a signal ended it
    except KeyboardInterrupt:
        return 130
    finally:
        _keep(recorder, files, name, dialect, provider)


def _keep(recorder: Recorder, files: _Files, name: str, dialect: str | None, provider: str | None) -> None:
    """Write what was recorded, under names that nothing is called by. One that cannot be written does not stop the others."""
    failed: list[CassetteError] = []
    try:
        found = recorder.cassettes(name, dialect=dialect, provider=provider)
    except CassetteError as error:
        files.say.line(f"nothing was kept: {error.message}")
        return
    for case in found:
        scenario = case.id.replace("#", "-")
        base = f"{case.dialect}/{case.provider.replace(':', '-')}/{scenario}"
        free = files.free(base)
        try:
            files.write(replace(case, id=free, scenario=free.rpartition("/")[2]))
        except CassetteError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def _routes(environment: Mapping[str, str]) -> dict[str, str]:
    routes = {}
    for step, (usual, names) in _ROUTES.items():
        base = next((environment[name] for name in names if environment.get(name)), usual)
        if base:
            routes[step] = base if "://" in base else f"http://{base}"
    return routes


def _environment(url: str, *, alone: bool) -> dict[str, str]:
    """The environment of a command: every API that it knows is behind the proxy."""
    environment = dict(os.environ)
    for step, (_, names) in _ROUTES.items():
        environment.update(dict.fromkeys(names, url if alone else f"{url}/{step}"))
    return {**environment, "STREAMPROOF_BASE_URL": url}


def _check_url(base_url: str) -> None:
    import httpx

    try:
        url = httpx.URL(base_url)
        is_one = url.scheme in ("http", "https") and bool(url.host)
    except httpx.InvalidURL:
        is_one = False
    if not is_one:
        raise InputError("is no address of a server", where=base_url or "--base-url", hint="it begins with https:// or http://")


def _key(dialect: str, variable: str | None) -> str | None:
    """The key: of the variable named, which must be there, or of the usual ones."""
    if variable is not None and not os.environ.get(variable, "").strip():
        raise InputError("holds no key", where=f"${variable}", hint="set it, or leave out --key-env")
    names = (_OURS, *_KEYS.get(dialect, ())) if variable is None else (variable,)
    name = next((name for name in names if os.environ.get(name, "").strip()), None)
    key = os.environ[name].strip() if name is not None else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise InputError("holds no key: there are letters in it that no key has", where=f"${name}", hint="set it again")
    return key
