"""The pytest plugin: what is collected, what passes and fails, what a failure says, and what is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.reporting import results
from tests.testing.conftest import Written

MINE = "class TestMine(Base):\n    pass\n"


def lines(file: Path) -> list[Any]:
    return list(results.read(file))


def test_a_good_adapter_passes_with_readable_ids(written: Written) -> None:
    done = written(MINE).runpytest_subprocess("-v", "--streamproof-report", "out/results.jsonl")
    done.assert_outcomes(passed=12)
    done.stdout.fnmatch_lines(["*TestMine::test_turn?openai-chat/llamacpp/text-byte-by-byte? PASSED*"])
    run, *verdicts, summary = lines(Path("out/results.jsonl"))
    assert run.adapters == {"TestMine": "unknown"}
    assert {verdict.grade.value for verdict in verdicts} == {"pass"}
    assert (summary.verdicts, summary.cassettes) == (12, 3)


def test_a_failure_says_all_that_is_needed(written: Written) -> None:
    code = """
class TestMine(Base):
    select = ["*/llamacpp/text"]
    faults = ["none"]
    def observe(self, request, base_url):
        turn = ask(request, base_url)
        return {**turn, "text": turn["text"].replace("Green", "Greed")}
"""
    done = written(code).runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*openai-chat/llamacpp/text · wrong",
            "*the text is not what was sent*",
            "*expected  *Green*",
            "*observed  *Greed*",
            "*frame * · bytes *",
            "*data: {*",
            "*^^^*",
            "again: pytest 'test_mine.py::TestMine::test_turn?openai-chat/llamacpp/text?'",
        ],
        consecutive=False,
    )


def test_the_command_in_a_failure_asks_for_that_test_alone(written: Written) -> None:
    code = "class TestMine(Base):\n    def observe(self, request, base_url):\n        return {'text': 'no'}\n"
    pytester = written(code)
    done = pytester.runpytest_subprocess("-k", "text-truncated")
    again = next(line for line in done.stdout.lines if line.startswith("again: pytest "))
    node = again.removeprefix("again: pytest ").strip("'")
    pytester.runpytest_subprocess(node).assert_outcomes(failed=1)


def test_what_the_adapter_raised_is_shown(written: Written) -> None:
    code = (
        "class TestMine(Base):\n    faults = ['none']\n    def observe(self, request, base_url):\n        return {}['gone']\n"
    )
    done = written(code).runpytest_subprocess("-k", "llamacpp/text")
    done.assert_outcomes(failed=1)  # a client of one's own that fails before it asks is no case for a skip
    done.stdout.fnmatch_lines(["*never asked*", "*KeyError: 'gone'*"], consecutive=False)
    assert "door.py" not in done.stdout.str()
    code = code.replace("        return {}", "        ask(request, base_url)\n        return {}")
    done = written(code).runpytest_subprocess("-k", "llamacpp/text")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*fails on a turn that can be read to its end*", "*KeyError: 'gone'*"], consecutive=False)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_coroutine_function(written: Written, backend: str) -> None:
    if backend == "trio":
        pytest.importorskip("trio")
    code = f"""
import anyio

class TestMine(Base):
    backend = "{backend}"
    async def observe(self, request, base_url):
        await anyio.sleep(0)
        return await anyio.to_thread.run_sync(ask, request, base_url)
"""
    written(code).runpytest_subprocess().assert_outcomes(passed=12)


def test_what_is_not_offered_is_deselected_with_the_reason(written: Written) -> None:
    code = "class TestMine(Base):\n    supports_reasoning = False\n    supports_parallel_tool_calls = False\n"
    done = written(code).runpytest_subprocess()
    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines_random(
        [
            "streamproof: TestMine: 4 tests of 1 cassettes deselected: supports_reasoning is False",
            "streamproof: TestMine: 4 tests of 1 cassettes deselected: supports_parallel_tool_calls is False",
        ]
    )


def test_what_cannot_be_asked_is_skipped(written: Written) -> None:
    code = "class TestMine(Base):\n    def observe(self, request, base_url):\n        raise NotImplementedError('no tides')\n"
    done = written(code).runpytest_subprocess("-rs")
    done.assert_outcomes(skipped=12)
    done.stdout.fnmatch_lines(["*no tides*"])


class TestKnown:
    CODE = """
class TestMine(Base):
    known = [Known("*/reasoning", "it forgets", fault="none"), Known("*/reasoning", "it forgets", fault="byte-by-byte")]
    def observe(self, request, base_url):
        return {**ask(request, base_url), "reasoning": None}
"""

    def test_it_is_expected_to_fail(self, written: Written) -> None:
        done = written(self.CODE).runpytest_subprocess("-rx", "--streamproof-report", "out.jsonl")
        done.assert_outcomes(passed=10, xfailed=2)
        done.stdout.fnmatch_lines(["*it forgets*"])
        verdicts = [line for line in lines(Path("out.jsonl")) if line.type == "verdict"]
        assert [verdict.known for verdict in verdicts if verdict.grade.value != "pass"] == ["it forgets"] * 2

    def test_it_fails_when_it_passes(self, written: Written) -> None:
        mended = self.CODE.replace(', "reasoning": None', "")
        written(mended).runpytest_subprocess().assert_outcomes(passed=10, failed=2)

    def test_one_that_names_no_test_is_an_error(self, written: Written) -> None:
        stale = self.CODE.replace('"*/reasoning", "it forgets", fault="none"', '"*/gone", "it forgets"')
        done = written(stale).runpytest_subprocess()
        assert done.ret != 0
        done.stdout.fnmatch_lines(["*known deviation '?/gone'*names no test any more; remove it*"])


def test_options_narrow(written: Written) -> None:
    pytester = written("class TestMine(Base):\n    dialects = ['openai-chat', 'gemini']\n    select = ['*/text']\n")
    done = pytester.runpytest_subprocess(
        "--streamproof-dialect", "gemini", "--streamproof-fault", "none", "--collect-only", "-q"
    )
    names = [line for line in done.stdout.lines if "test_turn" in line]
    assert names
    assert all("[gemini/" in name and not name.endswith("cated]") for name in names)


def test_other_cassettes(written: Written, pytester: pytest.Pytester) -> None:
    from harness import cassette

    pytester.mkdir("mine")
    text = (cassette.shipped() / "openai-chat/llamacpp/text.yaml").read_text(encoding="utf-8")
    (pytester.path / "mine" / "text.yaml").write_text(text, encoding="utf-8")
    done = written(MINE).runpytest_subprocess("--streamproof-cassettes", "mine")
    done.assert_outcomes(passed=4)


def test_nobody_leaves_the_machine(written: Written) -> None:
    code = """
import socket

class TestMine(Base):
    faults = ["none"]
    select = ["*/llamacpp/text"]
    def observe(self, request, base_url):
        try:
            socket.create_connection(("192.0.2.1", 443), timeout=1)
        except OSError:
            pass
        return ask(request, base_url)
"""
    done = written(code).runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*tried to reach other machines*", "*192.0.2.1*"], consecutive=False)


def test_one_that_hangs_is_told(written: Written) -> None:
    code = """
import time

class TestMine(Base):
    faults = ["none"]
    select = ["*/llamacpp/text"]
    timeout = 0.2
    def observe(self, request, base_url):
        ask(request, base_url)
        time.sleep(30)
"""
    done = written(code).runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*hang*"])


def test_under_xdist_the_report_is_the_same(written: Written) -> None:
    pytester = written(MINE)
    pytester.runpytest_subprocess("--streamproof-report", "one.jsonl").assert_outcomes(passed=12)
    pytester.runpytest_subprocess("-n", "2", "--streamproof-report", "two.jsonl").assert_outcomes(passed=12)

    def told(name: str) -> list[Any]:
        kept = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
        return [{key: value for key, value in line.items() if key not in ("ms", "seconds")} for line in kept]

    assert told("one.jsonl") == told("two.jsonl")


def test_an_interrupted_run_keeps_what_it_had(written: Written) -> None:
    code = """
class TestMine(Base):
    def observe(self, request, base_url):
        if request.fault == "truncated":
            TestMine.count = getattr(TestMine, "count", 0) + 1
        return ask(request, base_url)

def test_the_end():
    raise KeyboardInterrupt
"""
    done = written(code).runpytest_subprocess("--streamproof-report", "out.jsonl", "-p", "no:randomly")
    assert done.ret == pytest.ExitCode.INTERRUPTED
    assert len([line for line in lines(Path("out.jsonl")) if line.type == "verdict"]) == 12


def test_the_fixtures(written: Written) -> None:
    code = """
import httpx
import pytest
from harness.recording import SyncRecordingTransport

@pytest.mark.streamproof_cassette("openai-chat/llamacpp/text")
def test_a_cassette(cassette, replay_server, recorder):
    server = replay_server([cassette])
    with httpx.Client(transport=SyncRecordingTransport(httpx.HTTPTransport(), recorder)) as client:
        got = client.post(server.url_of(cassette.id) + "/v1/chat/completions", json={"stream": True})
    assert got.content == cassette.stream.body
    (taken,) = recorder.taken
    assert taken.body == cassette.stream.body

def test_which(cassette):
    pass
"""
    done = written(code).runpytest_subprocess("--strict-markers")
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*the fixture cassette wants to know which*"])


def test_the_plugin_is_light() -> None:
    """It is loaded with every pytest on the machine: it loads nothing but itself."""
    code = "import sys, pytest; before = {*sys.modules}; import harness.testing.plugin; print(sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['harness', 'harness.testing', 'harness.testing.plugin']"


def test_pytest_without_a_conformance_class_loads_no_harness(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            ours = sorted(name for name in sys.modules if name.partition(".")[0] == "harness")
            assert ours == ["harness", "harness.testing", "harness.testing.plugin"]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
