"""What the harness and a system under test say to each other, one JSON object per line.

The harness asks on the subject's standard input (`describe`, `run`, `stop`), the subject answers on its standard output, one
line for each `describe` and `run`. Fields that nobody knows are passed over, so that either side may be newer than the other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Describe(_Message):
    """Who are you? The first thing that is asked."""

    op: Literal["describe"] = "describe"


class Run(_Message):
    """Do one turn: ask the server at `base_url` what `request`, the body of the recorded request, asks, in your own way.

    Whatever path the client appends to `base_url` is answered. `model` is the model that was asked when it was recorded, for
    APIs that have it in their paths. `timeout_s` is how long the client may wait.
    """

    op: Literal["run"] = "run"
    id: str
    dialect: str
    base_url: str
    stream: bool
    request: dict[str, Any]
    model: str | None = None
    timeout_s: float


class Stop(_Message):
    """There is nothing more to do: end."""

    op: Literal["stop"] = "stop"


class Described(_Message):
    """The answer to `describe`. `packages` tells which package, at which version, speaks each dialect."""

    name: str
    version: str
    language: str
    dialects: list[str]
    packages: dict[str, str] = {}


class ToldCall(_Message):
    """A call of a tool. `arguments` is the value where the client parsed it, else its text."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None


class ToldUsage(_Message):
    """Counts of tokens; null is unknown, which is not zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class ToldResponse(_Message):
    """What the client made of the turn. `finish_reason` is in the client's words or in the API's."""

    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToldCall] = []
    finish_reason: str | None = None
    usage: ToldUsage | None = None


class Failure(_Message):
    """How the client said that the turn failed: the type of its exception, and its words."""

    type: str
    message: str = ""


class Said(_Message):
    """The answer to `run`.

    `raw` is whatever the client keeps of the turn besides: a fact that stands only there is not lost, but has to be dug for.
    `unsupported` says why the client cannot be asked this at all. `outside` lists addresses off this machine that it tried.
    """

    id: str
    response: ToldResponse | None = None
    error: Failure | None = None
    events: list[Any] | None = None
    raw: Any = None
    unsupported: str | None = None
    outside: list[str] = []


Asked = Annotated[Describe | Run | Stop, Field(discriminator="op")]


def schema() -> dict[str, Any]:
    """The JSON Schema of both sides: `$defs` has each message by its name."""
    _, both = TypeAdapter.json_schemas(
        [
            ("asked", "validation", TypeAdapter(Asked)),
            ("described", "validation", TypeAdapter(Described)),
            ("said", "validation", TypeAdapter(Said)),
        ],
        title="streamproof process protocol",
        description="JSON lines between the harness and a system under test: Describe, Run, Stop; Described, Said.",
    )
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    anyone = [{"$ref": f"#/$defs/{name}"} for name in ("Describe", "Run", "Stop", "Described", "Said")]
    return {**head, **both, "anyOf": anyone}
