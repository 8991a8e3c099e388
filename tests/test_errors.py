"""Errors name a place and end in a hint."""

from __future__ import annotations

import pytest

from harness.errors import (
    CassetteError,
    HarnessError,
    InputError,
    KnownError,
    MissingExtraError,
    UnsupportedDialectError,
    Where,
)

EVERYTHING = Where(cassette="a/b", exchange=0, frame=3, span=(1187, 2402), path="/choices/0")


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        (Where(), ""),
        (Where(cassette="a/b"), "a/b"),
        (Where(exchange=0), "exchange 0"),
        (Where(frame=3), "frame 3"),
        (Where(span=(0, 1234567)), "bytes 0–1 234 567"),
        (Where(path="/a"), "/a"),
        (Where(path=""), "/"),
        (EVERYTHING, "a/b · exchange 0 · frame 3 · bytes 1 187–2 402 · /choices/0"),
    ],
)
def test_a_place_in_words(where: Where, shown: str) -> None:
    assert str(where) == shown


def test_a_place_as_json() -> None:
    assert Where().as_dict() == {}
    assert EVERYTHING.as_dict() == {"cassette": "a/b", "exchange": 0, "frame": 3, "span": [1187, 2402], "path": "/choices/0"}


def test_a_place_is_completed_and_never_changed() -> None:
    inner = Where(frame=0, path="")
    assert inner.within(EVERYTHING) == Where(cassette="a/b", exchange=0, frame=0, span=(1187, 2402), path="")
    assert Where().within(EVERYTHING) == EVERYTHING
    assert EVERYTHING.within(Where(cassette="x", exchange=9, frame=9, span=(9, 9), path="/x")) == EVERYTHING
    assert inner == Where(frame=0, path="")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (HarnessError("it broke"), "it broke"),
        (HarnessError("it broke", hint="mend it"), "it broke (mend it)"),
        (HarnessError("it broke", where="here"), "here: it broke"),
        (HarnessError("it broke", where=Where()), "it broke"),
        (HarnessError("it broke", where=Where(frame=0), hint="mend it"), "frame 0: it broke (mend it)"),
    ],
)
def test_an_error_in_words(error: HarnessError, shown: str) -> None:
    assert str(error) == shown
    assert error.message == "it broke"


def test_the_tree_of_errors() -> None:
    """Status 2 is decided by these two classes."""
    assert {e for e in (CassetteError, KnownError, UnsupportedDialectError) if issubclass(e, InputError)} == {
        CassetteError,
        KnownError,
        UnsupportedDialectError,
    }
    assert issubclass(InputError, HarnessError)
    assert issubclass(MissingExtraError, HarnessError)
    assert not issubclass(MissingExtraError, InputError)


def test_a_dialect_that_nobody_registered() -> None:
    error = UnsupportedDialectError("openai-chatt", ["openai-chat", "gemini"])
    assert isinstance(error, ValueError)
    assert (error.name, error.supported) == ("openai-chatt", ("openai-chat", "gemini"))
    assert str(error) == ("unsupported dialect 'openai-chatt'; supported are openai-chat, gemini (did you mean 'openai-chat'?)")
    assert UnsupportedDialectError("zzz", ["gemini"]).hint is None
    assert "None" in str(UnsupportedDialectError(None, ["gemini"]))
