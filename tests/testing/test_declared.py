"""What a class or the command line says that cannot be: a clear line at collection, and no test that vanishes."""

from __future__ import annotations

import pytest

from tests.testing.conftest import Written

MINE = "class TestMine(Base):\n    {}\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dialects = []", "TestMine: it has no dialects (write dialects = ?'openai-chat'?)"),
        ("dialects = ['openai-chad']", "TestMine: unsupported dialect 'openai-chad'*did you mean 'openai-chat'?)"),
        ("dialects = ['openai-chat', 'gemini']", "TestMine: dialects has 'gemini', and there is no stream of it*"),
        ("faults = ['trunkated']", "TestMine: no fault is called 'trunkated' (did you mean truncated*"),
        ("cassettes = 'nowhere'", "TestMine: there are no cassettes 'nowhere' in *"),
        ("select = ['*/llamacpp/text', '*/llamacpp/gone']", "TestMine: select has '?/llamacpp/gone', and there is no such*"),
        ("supports_reasonning = False", "TestMine: there is no flag 'supports_reasonning' (did you mean supports_reasoning?)"),
        ("supports_reasoning = None", "TestMine: supports_reasoning is None (it is True or False)"),
        ("omits = ['finnish']", "TestMine: there is no fact 'finnish' (did you mean finish?)"),
        ("backend = 'curio'", "TestMine: there is no backend 'curio' (did you mean trio?)"),
        ("timeout = '5'", "TestMine: timeout is '5' (it is in seconds)"),
        ("known = [('*/text', 'why')]", "TestMine: known has ('?/text', 'why') (write Known(*"),
        ("known = [Known('*/text', '')]", "TestMine: known has Known(*"),
        ("known = [Known('*/gone', 'why')]", "TestMine: the known deviation '?/gone'*names no test any more; remove it"),
        ("observe = ProviderConformance.observe", "TestMine: observe is not written (it asks your adapter: *"),
    ],
)
def test_of_a_class(written: Written, line: str, words: str) -> None:
    done = written(MINE.format(line)).runpytest_subprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines([words])
    assert "Traceback" not in done.stdout.str()
    assert "harness/" not in done.stdout.str().partition("short test summary")[0].partition("ERRORS")[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--streamproof-dialect", "openai-chad"], "ERROR: --streamproof-dialect: unsupported dialect 'openai-chad'*"),
        (["--streamproof-fault", "trunkated"], "ERROR: --streamproof-fault: no fault is called*did you mean truncated*"),
        (["--streamproof-fault", "byte-by-byte+trunkated"], "ERROR: --streamproof-fault: no fault is called 'trunkated'*"),
        (["--streamproof-cassettes", "nowhere"], "ERROR: --streamproof-cassettes: there is no *nowhere"),
        (["--streamproof-report", "test_mine.py/out"], "ERROR: --streamproof-report: *test_mine.py*"),
    ],
)
def test_of_the_command_line(written: Written, arguments: list[str], words: str) -> None:
    done = written(MINE.format("pass")).runpytest_subprocess(*arguments)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([words])


def test_a_cassette_that_cannot_be_read(written: Written, pytester: pytest.Pytester) -> None:
    pytester.mkdir("mine")
    (pytester.path / "mine" / "text.yaml").write_text("version: 1\ninteractions: [", encoding="utf-8")
    done = written(MINE.format("cassettes = 'mine'")).runpytest_subprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(["TestMine: *text.yaml*"])


def test_one_word_is_as_good_as_a_list(written: Written) -> None:
    lines = ("dialects = 'openai-chat'", "select = '*/llamacpp/text'", "faults = 'none'", "omits = 'usage'")
    written(MINE.format("\n    ".join(lines))).runpytest_subprocess().assert_outcomes(passed=1)


def test_folders_are_looked_for_beside_the_class(pytester: pytest.Pytester, written: Written) -> None:
    from harness import cassette

    folder = pytester.mkdir("inner")
    text = (cassette.shipped() / "openai-chat/llamacpp/text.yaml").read_text(encoding="utf-8")
    pytester.mkdir("inner/cases")
    (folder / "cases" / "text.yaml").write_text(text, encoding="utf-8")
    written("class TestMine(Base):\n    select = '*'\n    cassettes = 'cases'\n")
    (pytester.path / "test_mine.py").rename(folder / "test_mine.py")
    pytester.runpytest_subprocess("inner").assert_outcomes(passed=4)
