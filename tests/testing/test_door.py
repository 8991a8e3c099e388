"""The door: what `observe` may be, what it may return and raise, and what it may reach."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from harness.adapters.protocol import Said, ToldResponse
from harness.response import FinishReason, Response, Text, Usage
from harness.testing.door import NoObservation, spoken
from harness.testing.loopback import alone
from harness.testing.request import Request
from tests.testing.conftest import Written

ONE = "    select = ['*/llamacpp/text']\n    faults = ['none']\n"


class Word(Enum):
    STOP = "stop"


@dataclass(slots=True)
class Kept:
    tide: str


def test_words_of_a_dict() -> None:
    told = {"text": "a", "reasoning": None, "tool_calls": None, "finish_reason": Word.STOP, "usage": {"input_tokens": 3}}
    said = spoken("1", {**told, "raw": {"kept": Kept("high"), "both": (1, b"no")}})
    assert said.response is not None
    assert (said.response.tool_calls, said.response.finish_reason) == ([], "stop")
    assert said.raw == {"kept": {"tide": "high"}, "both": [1, None]}


def test_calls_may_be_a_tuple() -> None:
    said = spoken("1", {"tool_calls": ({"id": "a", "name": "b", "arguments": {}},)})
    assert said.response is not None
    assert said.response.tool_calls[0].name == "b"


def test_a_response_of_ours() -> None:
    usage = Usage(input_tokens=1, output_tokens=2)
    said = spoken("1", Response(id="r", model="m", parts=(Text(text="a"),), finish_reason=FinishReason.STOP, usage=usage))
    assert said == Said(id="1", response=ToldResponse(text="a", finish_reason="stop", usage=said.response.usage))  # type: ignore[union-attr]
    assert said.response is not None
    assert said.response.usage is not None
    assert said.response.usage.output_tokens == 2


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "observe returned NoneType; it returns a dict with text, "),
        ("text", "observe returned str; "),
        (object(), "observe returned object; "),
        ({"txt": "a"}, "observe returned the dict with txt; it has text, "),
        ({"usage": 3}, "observe returned usage: "),
        ({"text": 3}, "observe returned text: "),
        ({"usage": {"prompt_tokens": 3}}, "observe returned usage with prompt_tokens; it has input_tokens, "),
        ({"tool_calls": [{"function": {}}]}, "observe returned a tool call with function; it has id, name, arguments"),
    ],
)
def test_what_says_nothing_of_a_turn(told: Any, words: str) -> None:
    with pytest.raises(NoObservation) as caught:
        spoken("1", told)
    assert str(caught.value).startswith(words)


def test_a_mistake_in_the_test_is_no_known_deviation(written: Written) -> None:
    code = f"""
class TestMine(Base):
{ONE}    known = [Known("*", "why")]
    def observe(self, request, base_url):
        return 3
"""
    done = written(code).runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E *observe returned int; it returns a dict*"])
    assert "bench.py" not in done.stdout.str()


def test_a_slip_in_the_test_does_not_tell_that_a_turn_failed(written: Written) -> None:
    """The adapter hides the failure, and reading a count that is not there would have looked like telling it."""
    code = """
class TestMine(Base):
    select = ["*/llamacpp/parallel-tool-calls"]
    faults = ["none", "truncated"]
    def observe(self, request, base_url):
        try:
            turn = ask(request, base_url)
        except TurnError:
            turn = {"text": "", "usage": None}
        return {**turn, "usage": {**turn["usage"], "total_tokens": turn["usage"]["total_tokens"]}}
"""
    done = written(code).runpytest_subprocess("--streamproof-report", "out.jsonl")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*raised by the test's own lines*", "*TypeError*"])


def test_what_ends_the_test_ends_it(written: Written) -> None:
    code = f"""
import pytest
class TestSkips(Base):
{ONE}    def observe(self, request, base_url):
        pytest.skip("no tides")
class TestFails(Base):
{ONE}    def observe(self, request, base_url):
        pytest.fail("no moon")
"""
    done = written(code).runpytest_subprocess("-rs")
    done.assert_outcomes(skipped=1, failed=1)
    done.stdout.fnmatch_lines(["*no moon*", "SKIPPED*no tides"])


@pytest.mark.parametrize("decorated", ["", "    @decorated\n", "    @staticmethod\n"])
def test_a_coroutine_may_come_from_anything(written: Written, decorated: str) -> None:
    first = "" if "static" in decorated else "self, "
    code = f"""
import anyio, functools
def decorated(function):
    return functools.wraps(function)(lambda *given: function(*given))
class TestMine(Base):
{ONE}{decorated}    async def observe({first}request, base_url):
        await anyio.sleep(0)
        return ask(request, base_url)
"""
    written(code).runpytest_subprocess().assert_outcomes(passed=1)


def test_context_and_fixtures_are_there(written: Written) -> None:
    code = f"""
import contextvars, pytest
TIDE = contextvars.ContextVar("tide")
class TestMine(Base):
{ONE}    @pytest.fixture(autouse=True)
    def _given(self):
        self.client = ask
        TIDE.set("high")
    def observe(self, request, base_url):
        assert TIDE.get() == "high"
        return self.client(request, base_url)
"""
    written(code).runpytest_subprocess().assert_outcomes(passed=1)


def test_one_that_hung_says_nothing_of_the_next_try(written: Written) -> None:
    code = f"""
import time
class TestMine(Base):
    timeout = 0.2
{ONE}    def observe(self, request, base_url):
        tries = TestMine.tries = getattr(TestMine, "tries", 0) + 1
        turn = ask(request, base_url)
        if tries == 1:
            time.sleep(1.3)
            raise KeyError("late")
        time.sleep(0.3)
        return turn
"""
    written(code).runpytest_subprocess().assert_outcomes(passed=1)


def test_a_debugger_may_take_its_time(written: Written) -> None:
    code = f"""
import time, pytest
class TestMine(Base):
    timeout = 0.2
{ONE}    @pytest.fixture(autouse=True)
    def _given(self, request):
        self.config = request.config
    def observe(self, request, base_url):
        self.config.hook.pytest_enter_pdb(config=self.config, pdb=None)
        turn = ask(request, base_url)
        time.sleep(1.5)
        return turn
"""
    written(code).runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_nobody_gets_away(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        alone() as tried,
        socket.socket(family, socket.SOCK_STREAM) as stream,
        socket.socket(family, socket.SOCK_DGRAM) as grams,
    ):
        with pytest.raises(OSError, match="not on this machine"):
            stream.connect((host, 9))
        with pytest.raises(OSError, match="not on this machine"):
            grams.sendto(b"tide", (host, 9))
        with pytest.raises(OSError, match="not on this machine"):
            socket.getaddrinfo("tide.example", 443)
        with pytest.raises(OSError, match="not on this machine"):
            socket.gethostbyname("tide.example")
    assert tried == [host, host, "tide.example", "tide.example"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "LOCALHOST."])
def test_who_stays_may_look(host: str) -> None:
    with alone() as tried, suppress(socket.gaierror):  # not every machine knows every name
        socket.getaddrinfo(host, 80)
    assert tried == []


def test_proxies_are_not_asked_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "tide.example")
    monkeypatch.delenv("no_proxy", raising=False)
    with alone():
        assert os.environ["NO_PROXY"] == "tide.example,127.0.0.1,localhost,::1"
        assert os.environ["no_proxy"] == "127.0.0.1,localhost,::1"
    assert os.environ["NO_PROXY"] == "tide.example"
    assert "no_proxy" not in os.environ


def test_a_proxy_of_the_environment_is_passed_by(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")
    written(f"class TestMine(Base):\n{ONE}").runpytest_subprocess().assert_outcomes(passed=1)


class TestRequest:
    def of(self, body: dict[str, Any]) -> Request:
        return Request(dialect="openai-chat", body=body, model="m", timeout=1.0, cassette="c")

    @pytest.mark.parametrize(
        "body",
        [
            {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "high tide?"}]},
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "high"}, {"text": "tide?"}]}]},
            {"contents": [{"role": "user", "parts": [{"text": "high tide?"}]}]},
            {"input": "high tide?"},
            {"prompt": "high tide?"},
        ],
    )
    def test_the_prompt(self, body: dict[str, Any]) -> None:
        assert self.of(body).prompt == "high tide?"

    @pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": 3}, {"input": [3]}])
    def test_some_word_where_there_is_none(self, body: dict[str, Any]) -> None:
        assert self.of(body).prompt == "Hello"

    @pytest.mark.parametrize(
        "body",
        [
            {"tools": [{"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}]},
            {"tools": [{"type": "function", "name": "tide", "parameters": {"type": "object"}}]},
            {"tools": [{"functionDeclarations": [{"name": "tide", "parameters": {"type": "object"}}]}]},
            {"tools": [{"name": "tide", "input_schema": {"type": "object"}}]},
            {"toolConfig": {"tools": [{"toolSpec": {"name": "tide", "inputSchema": {"json": {"type": "object"}}}}]}},
        ],
    )
    def test_the_tools(self, body: dict[str, Any]) -> None:
        assert self.of(body).tools == [{"name": "tide", "description": "A tool.", "parameters": {"type": "object"}}]

    @pytest.mark.parametrize("body", [{}, {"tools": 3}, {"tools": [3, {}]}, {"toolConfig": 3}])
    def test_no_tools(self, body: dict[str, Any]) -> None:
        assert self.of(body).tools == []

    def test_the_body_without_its_switch(self) -> None:
        assert self.of({"stream": True, "model": "m", "top_k": 3}).asked("top_k") == {"model": "m"}
