"""What an adapter under test is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One turn: `body` is the recorded request in the words of `dialect`; `model` the model that was asked, for APIs that have
    it in their paths. `timeout` is how many seconds the adapter may wait. `cassette` and `fault` say where the test stands.

    An adapter that takes no such body is asked in plain words: `prompt` and `tools`.
    """

    dialect: str
    body: Mapping[str, Any]
    model: str
    timeout: float
    cassette: str
    fault: str | None = None
    stream: bool = True

    @classmethod
    def of(cls, asked: Mapping[str, Any], cassette: str, fault: str | None) -> Request:
        """The request that a message of the process protocol holds."""
        body, timeout = asked["request"], asked["timeout_s"]
        model = body.get("model") or asked.get("model") or "a-model"
        return cls(
            dialect=asked["dialect"],
            body=body,
            model=model,
            timeout=timeout,
            cassette=cassette,
            fault=fault,
            stream=asked["stream"],
        )

    def asked(self, *but: str) -> dict[str, Any]:
        """The body without its streaming switch and without these fields."""
        return {name: value for name, value in self.body.items() if name not in ("stream", *but)}

    @property
    def prompt(self) -> str:
        """The words of the last message; some word where none was recorded."""
        said = next((self.body[name] for name in ("input", "messages", "contents", "prompt") if self.body.get(name)), "")
        texts = [said] if isinstance(said, str) else list(_texts(said[-1:] if isinstance(said, list) else []))
        return " ".join(texts) or "Hello"

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The functions that the model may call, each with `name`, `description` and `parameters`, whichever API was told."""
        config = self.body.get("toolConfig")
        listed = self.body.get("tools") or (config.get("tools") if isinstance(config, Mapping) else None)
        entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
        return [tool for entry in entries for tool in _tools(entry)]


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("text"), str):
            yield node["text"]
        for key in ("content", "parts"):
            inner = node.get(key)
            yield from [inner] if isinstance(inner, str) else _texts(inner)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)


def _tools(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in entry.get("functionDeclarations") or [entry.get("function") or entry.get("toolSpec") or entry]:
        names = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")
        schema = next(
            (tool[name] for name in names if isinstance(tool.get(name), Mapping)), {"type": "object", "properties": {}}
        )
        if tool.get("name"):
            schema = schema.get("json", schema)
            yield {"name": tool["name"], "description": tool.get("description") or "A tool.", "parameters": schema}
