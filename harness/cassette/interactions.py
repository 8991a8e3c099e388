"""One interaction of a vcrpy cassette as an exchange, in every form that vcrpy has written since its version 1."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Any

from harness.cassette.metadata import whole
from harness.cassette.model import Exchange, Headers, Request
from harness.errors import CassetteError, Where

UNKNOWN_HOST = "unknown.invalid"
"""Stands for a host that was not recorded: a URI must have one, and nobody ever has this one (RFC 6761)."""

_URI = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*))?([^#]*)", re.DOTALL)


def uri(request: Request) -> str:
    slash = "" if request.target.startswith("/") else "/"
    return f"{request.scheme}://{request.host or UNKNOWN_HOST}{slash}{request.target}"


def exchange(interaction: Any, number: int, path: Path) -> Exchange:
    """The exchange; `number` and `path` say in errors where it stands. Raises `CassetteError`."""
    reader = _Reader(number, path)
    request, response = (reader.mapping(interaction, name) for name in ("request", "response"))
    body = reader.response_body(response)
    return Exchange(
        request=reader.request(request),
        status=reader.status(response),
        headers=Headers(reader.headers(response, "response")),
        chunks=whole(body),
    )


class _Reader:
    """Reads the fields of one interaction and knows where they stand."""

    def __init__(self, number: int, path: Path) -> None:
        self._number = number
        self._path = path

    def mapping(self, holder: Any, name: str) -> dict[str, Any]:
        value = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(value, dict):
            raise self._error(f"/{name}", f"the {name} is missing, or no mapping")
        return value

    def request(self, request: dict[str, Any]) -> Request:
        address, method = request.get("uri"), request.get("method")
        if not isinstance(address, str):
            raise self._error("/request/uri", f"expected a URI, got {address!r:.80}")
        if not isinstance(method, str):
            raise self._error("/request/method", f"expected a method, got {method!r:.80}")
        parts = _URI.match(address)
        scheme, host, target = parts.groups() if parts else (None, None, address)
        return Request(
            method=method,
            scheme=scheme or "https",
            host="" if host in (None, UNKNOWN_HOST) else host,
            target=target if target.startswith("/") else f"/{target}",
            headers=Headers(self.headers(request, "request")),
            body=self._bytes(request.get("body"), "/request/body"),
        )

    def status(self, response: dict[str, Any]) -> int:
        """`status: {code: 200}`; before vcrpy 6 `status_code: 200` for httpx."""
        status = response.get("status", response.get("status_code"))
        code = status.get("code") if isinstance(status, dict) else status
        if type(code) is not int:
            raise self._error("/response/status", f"expected a status code, got {code!r:.80}")
        return code

    def headers(self, holder: dict[str, Any], side: str) -> list[tuple[str, str]]:
        fields = holder.get("headers")
        if fields is None:
            return []
        if not isinstance(fields, dict):
            raise self._error(f"/{side}/headers", "expected a mapping of names to values")
        return [
            (self._text(name, side), self._text(value, side))
            for name, values in fields.items()
            for value in (values if isinstance(values, list) else [values])
        ]

    def response_body(self, response: dict[str, Any]) -> bytes:
        """The body must be there; what stands in its place may be null, for an answer that has none."""
        name = "body" if "body" in response else "content"  # `content`: before vcrpy 6, for httpx
        if name not in response:
            raise self._error("/response", "the response has no body", hint="an empty one is `body: {string: ''}`")
        return self._bytes(response[name], f"/response/{name}") or b""

    def _bytes(self, body: Any, at: str) -> bytes | None:
        if body is None or isinstance(body, bytes):
            return body
        if isinstance(body, str):
            return body.encode("utf-8", "surrogatepass")  # a lone surrogate can stand in JSON
        if isinstance(body, dict) and "string" in body:
            return self._bytes(body["string"], f"{at}/string")
        if isinstance(body, dict) and isinstance(body.get("base64_string"), (str, bytes)):
            try:
                return base64.b64decode(body["base64_string"])
            except (binascii.Error, ValueError) as error:
                raise self._error(f"{at}/base64_string", f"is not base64: {error}") from None
        if isinstance(body, dict) and isinstance(state := body.get("state"), list) and state:
            return self._bytes(state[0], f"{at}/state")  # a file, whose first field is its contents
        raise self._error(at, f"expected a body, got {body!r:.80}", hint="a body is a text, or {string: text}")

    def _text(self, value: Any, side: str) -> str:
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if value is None or isinstance(value, (dict, list)):
            raise self._error(f"/{side}/headers", f"expected texts, got {value!r:.80}")
        return str(value)

    def _error(self, at: str, message: str, hint: str | None = None) -> CassetteError:
        place = Where(cassette=str(self._path), path=f"/interactions/{self._number}{at}")
        return CassetteError(message, where=place, hint=hint)
