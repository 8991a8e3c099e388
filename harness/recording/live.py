"""Recording a provider: a scenario's requests, with and without streaming, made to a live server and kept as a cassette."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx

from harness import dialects
from harness.cassette.model import Cassette, Exchange, Provenance, Request
from harness.cassette.pairing import provider_of
from harness.dialects import Dialect
from harness.errors import InputError, UnsupportedRequestError
from harness.recording.recorder import Recorder
from harness.recording.scenarios import Scenario
from harness.recording.transport import RecordingTransport
from harness.redacting import redacted_cassette
from harness.request import RequestParts, TurnRequest

_CONNECT = 10.0
_HEADERS = {"content-type": "application/json", "accept-encoding": "identity"}  # so that recordings can be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server to be recorded: where it is, which API it speaks, which model is asked, with which key (None: with none).

    `headers` go with every request; `timeout` is how long it may be silent, in seconds.
    """

    base_url: str
    dialect: str
    model: str
    key: str | None = None
    provider: str | None = None
    headers: Mapping[str, str] | None = None
    timeout: float = 120.0

    @property
    def api(self) -> Dialect:
        return dialects.dialect(self.dialect)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written down, whatever it looks like."""
        return (self.key,) if self.key else ()


class Live:
    """Records scenarios of one server. `transport` stands in for the network in tests."""

    def __init__(self, server: Server, *, by: str | None = None, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._server = server
        self._by = by
        self._transport = transport

    async def record(self, scenario: Scenario) -> Cassette:
        """The cassette of a scenario. Raises `UnsupportedRequestError` for what the API cannot be asked or the model does not
        do, and `InputError` if the server does not answer."""
        asked = self._request(scenario)
        if scenario.then is not None:
            asked = await self._second(scenario, asked)
        stream = await self._exchange(asked, scenario, stream=True)
        reference = await self._exchange(asked, scenario, stream=False)
        return redacted_cassette(self._cassette(scenario, asked.model, stream, reference), self._server.secrets)

    def name(self, scenario: Scenario) -> str:
        """The id that the cassette of a scenario has."""
        return f"{self._server.api.name}/{self._provider.replace(':', '-')}/{scenario.name}"

    @property
    def _provider(self) -> str:
        host = httpx.URL(self._server.base_url).netloc.decode("ascii")
        return self._server.provider or provider_of(Request(host=host))

    def _cassette(self, scenario: Scenario, model: str, stream: Exchange, reference: Exchange) -> Cassette:
        return Cassette(
            id=self.name(scenario),
            dialect=self._server.api.name,
            provider=self._provider,
            model=model,
            scenario=scenario.name,
            stream=stream,
            reference=reference,
            pair_kind="exact",
            provenance=Provenance(kind="recorded", on=datetime.now(UTC).date().isoformat(), by=self._by),
        )

    def _request(self, scenario: Scenario) -> TurnRequest:
        if scenario.words and self._server.api.name not in scenario.words:
            raise UnsupportedRequestError(f"{self._server.api.name} cannot be asked for {scenario.what}")
        return replace(scenario.request, model=scenario.request.model or self._server.model)

    async def _second(self, scenario: Scenario, first: TurnRequest) -> TurnRequest:
        """The request that follows from the answer to the first one."""
        answer = await self._exchange(first, scenario, stream=False)
        then = scenario.then(self._server.api.read(answer.json)) if scenario.then and answer.status < 400 else None
        if then is None:
            raise UnsupportedRequestError(f"the answer of {first.model} did not lead to {scenario.what}")
        return replace(then, model=first.model)

    async def _exchange(self, request: TurnRequest, scenario: Scenario, *, stream: bool) -> Exchange:
        """One exchange as it passed; the caller takes out its secrets."""
        parts = self._server.api.build_request(request, stream=stream)
        words = scenario.words.get(self._server.api.name, {})
        body = json.dumps(_merged(parts.body, words), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        recorder = Recorder()
        limits = httpx.Timeout(self._server.timeout, connect=_CONNECT)
        inner = self._transport or httpx.AsyncHTTPTransport()
        async with httpx.AsyncClient(transport=RecordingTransport(inner, recorder), timeout=limits) as client:
            failed = await _sent(client, self._url(parts), self._headers(parts), body)
        (recorded,) = recorder.taken
        if recorded.status == 0:
            hint = "is the server running, and is --base-url right?"
            raise InputError(f"does not answer: {failed}", where=self._server.base_url, hint=hint)
        return recorded

    def _url(self, parts: RequestParts) -> str:
        return self._server.base_url.rstrip("/") + parts.path

    def _headers(self, parts: RequestParts) -> dict[str, str]:
        name, prefix = self._server.api.key_header
        key = {name: prefix + self._server.key} if self._server.key else {}
        return {**_HEADERS, **key, **parts.headers, **(self._server.headers or {})}


async def _sent(client: httpx.AsyncClient, url: str, headers: Mapping[str, str], body: bytes) -> str | None:
    """Send a request and read its answer to the end, or as far as it comes: what went wrong, in words."""
    try:
        async with client.stream("POST", url, headers=dict(headers), content=body) as response:
            async for _ in response.aiter_raw():
                pass
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return str(error) or type(error).__name__
    return None


def chosen(names: Iterable[str], known: Mapping[str, Scenario]) -> list[Scenario]:
    """The scenarios with these names; all, if there are none. Raises `InputError`."""
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise InputError(f"no scenario is called {unknown!r}", hint=f"there are {', '.join(known)}")
    return [known[name] for name in names] or list(known.values())


def _merged(body: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(body)
    for name, value in words.items():
        inner = merged.get(name)
        merged[name] = _merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged
