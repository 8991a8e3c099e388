"""Words for words: what stays of a text, and what two texts keep of their likeness."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.anonymizing import policy
from harness.anonymizing.texts import Texts
from harness.anonymizing.words import Words

KEY = b"k" * 32
WORDS = Words(KEY)
TEXTS = Texts(WORDS)


@given(st.text())
def test_every_character_keeps_its_place_its_length_and_its_kind(text: str) -> None:
    new = WORDS.text(text)
    assert len(new) == len(text)
    for old, became in zip(text, new, strict=True):
        assert len(old.encode("utf-8", "surrogatepass")) == len(became.encode("utf-8", "surrogatepass"))
        assert old.isalnum() == became.isalnum()
        assert old.isupper() == became.isupper()
        assert old.isalnum() or old == became


@given(
    st.text(alphabet="ab \n.1é", max_size=30),
    st.text(alphabet="ab \n.1é", max_size=5),
    st.text(alphabet="ab \n.1é", max_size=5),
)
def test_texts_agree_as_far_as_they_agreed(begun: str, one: str, other: str) -> None:
    old = begun + one, begun + other
    assert _agreement(*map(WORDS.text, old)) == _agreement(*old)


def _agreement(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def test_white_space_and_marks_around_a_text_change_no_word() -> None:
    said = WORDS.text("High water at noon")
    assert WORDS.text("\n\nHigh water at noon.") == f"\n\n{said}."


def test_a_word_in_other_company_becomes_another() -> None:
    words = WORDS.text("tide tide tide tide tide tide ebbs tide").split()
    assert len(set(words[:2])) == 2
    assert words[7] != words[0]


def test_another_key_gives_other_words() -> None:
    assert WORDS.text("spring tide") != Words(b"l" * 32).text("spring tide")


@pytest.mark.parametrize("markup", ["<think>", "</think>", "<tool_call>", "<|channel|>", "[DONE]", "https://"])
def test_markup_that_is_read_stays(markup: str) -> None:
    assert WORDS.text(f"ebb {markup}flood").split()[1].startswith(markup)


def test_after_markup_a_text_is_what_it_is_alone() -> None:
    assert WORDS.text("<think>slack water</think>Low tide").endswith(f"</think>{WORDS.text('Low tide')}")


def test_numbers_stay_numbers() -> None:
    for number in ("0", "10", "-3.50", "1e308", "2E-7", "100200"):
        new = WORDS.number(number)
        assert json.loads(new) is not None
        assert [c == "0" for c in new] == [c == "0" for c in number]
    assert WORDS.number("1e308").endswith("e308")


def test_lists_of_bytes_can_keep_their_length() -> None:
    said = "abc Cab xyz bad cabbage"
    assert [len(str(code)) for code in Words(KEY, narrow=True).text(said).encode()] == [
        len(str(code)) for code in said.encode()
    ]


def test_arguments_stay_json_and_their_names_are_those_of_everywhere() -> None:
    note, inner = '"caf\\u00E9 \\"a\\\\b\\"\\n"', '{"port": "{\\"x\\": 1}"}'
    old = f'{{"port": "Brest", "heights": [1.5, 20, null, true], "note": {note}, "in": {inner}}}'
    new = TEXTS.text(old)
    value = json.loads(new)
    assert len(new) == len(old)
    assert next(iter(value)) == TEXTS.text("port") == next(iter(value[TEXTS.text("in")]))
    assert value[TEXTS.text("port")] == TEXTS.text("Brest")
    assert value[TEXTS.text("heights")][2:] == [None, True]
    assert re.search(r"\\u00[A-F0-9]{2} ", new)  # an escape in capitals stays one
    innermost = json.loads(value[TEXTS.text("in")][TEXTS.text("port")])
    assert list(innermost) == [TEXTS.text("x")]


@pytest.mark.parametrize("cut", [cut for cut in range(1, 64) if cut not in (28, 29, 30)])  # inside of an escape nobody can know
def test_cut_arguments_are_the_beginning_of_the_whole_ones(cut: int) -> None:
    whole = '{"port":"Brest","at":"caf\\u00e9","deep":[12.5,-3],"tidal":"yes"}'
    assert TEXTS.text(whole).startswith(TEXTS.text(whole[:cut]))


def test_cut_literals_can_still_be_finished() -> None:
    assert [TEXTS.text(f'{{"a":{word}')[-len(word) :] for word in ("t", "fal", "nul")] == ["t", "fal", "nul"]


def test_base64_stays_base64() -> None:
    for data in (b"tide", b"tides", b"tides!", bytes(range(40))):
        old = base64.b64encode(data).decode()
        new = TEXTS.text(old)
        assert base64.b64encode(base64.b64decode(new, validate=True)).decode() == new


def test_phrases_for_too_long_a_context_stay_in_messages() -> None:
    new = TEXTS.message("This model's maximum context length is 4096 tokens")
    assert "maximum context length" not in TEXTS.text("maximum context length")
    assert "maximum context" in new or "context length" in new
    assert policy.OVERFLOW.search(new)


def test_letters_that_follow_each_other_do_not_tell_each_other() -> None:
    new = WORDS.text("aaaaaaaaaaaaaaaaaaaaaaaa")
    assert len({b for a, b in pairwise(new)}) > 8
