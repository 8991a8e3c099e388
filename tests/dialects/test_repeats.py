"""Repeated payloads: whatever comes, a translator with its memory gives the edits that one without it gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import StreamCollector
from harness.dialects.openai_chat.translator import ChatTranslator
from harness.dialects.repeats import Repeats
from harness.dialects.translating import BaseTranslator
from harness.edits import Edit, Op, PartKind, PartRef, Target
from harness.framing import Frame
from harness.vocabulary import Shape
from tests.chat import DONE, calls, choice, chunk, frames, head, more, says, stops

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Told = list[tuple[str, Any, Any, str, int, Any]]


def told(edits: Iterable[Edit]) -> Told:
    return [(e.op, e.path, e.part, e.target.source, e.frame, repr(e.value)) for e in edits]


def translated(make: Callable[[], BaseTranslator], stream: list[Frame]) -> tuple[list[Told], int]:
    """The edits of each frame and of the end, and how many frames went the careful way."""
    translator = make()
    with mock.patch.object(translator, "edits", wraps=translator.edits) as careful:
        edits = [told(translator.translate(frame)) for frame in stream]
    return [*edits, told(translator.close())], careful.call_count


def no_memory() -> Any:
    return mock.patch.object(Repeats, "careful", return_value=None)


def check(stream: list[Frame], make: Callable[[], BaseTranslator] = ChatTranslator, dialect: str | None = "openai-chat") -> int:
    """Both ways give the same; returns how many frames needed care with memory."""
    with_memory, needed = translated(make, stream)
    with no_memory():
        without, _ = translated(make, stream)
    assert with_memory == without
    if dialect is not None:
        by_extend, by_add = StreamCollector(dialect), StreamCollector(dialect)
        by_extend.extend(stream)
        with no_memory():
            for frame in stream:
                by_add.add(frame)
        assert by_extend.close() == by_add.close()
    return needed


# streams that repeat themselves

texts = st.one_of(
    st.text(max_size=12),
    st.text(st.sampled_from('ab"\\/{}[]:, \n\u2028é\U0001f30a'), max_size=8),
    st.sampled_from(["", " ", '"', "\\", '"}}]}', '"},"finish_reason":null}', 'a","content":"b', "null", "0"]),
)
STYLES: dict[str, Callable[[Any], bytes]] = {
    "compact": lambda p: json.dumps(p, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass"),
    "escaped": lambda p: json.dumps(p, separators=(",", ":")).encode(),
    "spaced": lambda p: json.dumps(p).encode(),
    "on_lines": lambda p: json.dumps(p, indent=1).encode(),
    "slashes_escaped": lambda p: json.dumps(p).replace("/", "\\/").encode(),
}
TEMPLATES: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "text": lambda t, n: says({"content": t}),
    "text_with_nulls": lambda t, n: chunk(
        choice({"content": t, "refusal": None}, logprobs=None), usage=None, system_fingerprint="f"
    ),
    "obfuscated": lambda t, n: says({"content": t}, obfuscation="abcXYZ0189"[: n % 10]),
    "odd_obfuscation": lambda t, n: says({"content": t}, obfuscation=["", 7, "ab-c", None, 0, 10, "é", {"x": 1}][n % 8]),
    "two_texts_obfuscated": lambda t, n: says({"reasoning": f"{n}", "content": t}, obfuscation="x" * (n % 5)),
    "obfuscation_first": lambda t, n: {"obfuscation": "x" * (n % 5), **says({"content": t})},
    "role_again": lambda t, n: says({"role": "assistant", "content": t}, provider="Harbour"),
    "reasoning": lambda t, n: says(
        {"content": "", "reasoning": t, "reasoning_details": [{"type": "reasoning.text", "text": t, "index": 0}]}
    ),
    "two_texts": lambda t, n: says({"reasoning_content": t[:3], "content": t}),
    "arguments": lambda t, n: calls(more(0, t)),
    "arguments_of_two": lambda t, n: calls(more(0, t), more(1, t)),
    "one_call_twice": lambda t, n: calls(more(0, t), more(0, t)),
    "arguments_in_turn": lambda t, n: calls(more(n % 2, t)),
    "interleaved_choices": lambda t, n: chunk(choice({"content": t}, index=n % 2)),
    "choices_together": lambda t, n: chunk(choice({"content": t}), choice({"content": t}, index=1)),
    "audio": lambda t, n: says({"audio": {"data": ["YWJj", "YWJjZA==", "YQ==", "!"][n % 4]}}),
    "new_field": lambda t, n: says({"content": t}, new=n % 3),
    "usage": lambda t, n: says({"content": t}, usage={"prompt_tokens": 9, "completion_tokens": n}),
    "padded": lambda t, n: says({"content": t}),
}


def opened() -> list[dict[str, Any]]:
    """What must have been said before the templates go on."""
    return [
        chunk(choice({"role": "assistant"}), choice({"role": "assistant"}, index=1)),
        calls(head(0, "a", "f"), head(1, "b", "g")),
    ]


def spoken(template: str, style: str, pieces: list[str], padding: int = 0) -> list[bytes]:
    payloads = [STYLES[style](TEMPLATES[template](piece, n)) for n, piece in enumerate(pieces)]
    if template == "padded":
        payloads = [p[:-1] + b" " * ((n * 7) % 5) + p[-1:] for n, p in enumerate(payloads)]
    return payloads


@quick
@given(
    parts=st.lists(
        st.tuples(st.sampled_from(sorted(TEMPLATES)), st.sampled_from(sorted(STYLES)), st.lists(texts, min_size=1, max_size=8)),
        min_size=1,
        max_size=5,
    ),
    seen=st.lists(
        st.sampled_from([b"[DONE]", b"", b"{", b'{"error":{"message":"x"}}', json.dumps(stops()).encode()]), max_size=1
    ),
    name=st.sampled_from([None, None, None, "message"]),
)
def test_streams_of_any_shape(parts: list[tuple[str, str, list[str]]], seen: list[bytes], name: str | None) -> None:
    payloads: list[Any] = opened()
    for template, style, pieces in parts:
        payloads += spoken(template, style, pieces)
    payloads[len(payloads) // 2 : len(payloads) // 2] = seen
    stream = frames(*payloads, stops(), DONE)
    stream[len(stream) // 3].name = name
    check(stream)


CHANGING = ["arguments_in_turn", "one_call_twice", "audio", "interleaved_choices", "new_field", "odd_obfuscation", "usage"]
REGULAR = [(t, s) for t in TEMPLATES for s in STYLES if t not in CHANGING and (t, s) != ("padded", "on_lines")]


@pytest.mark.parametrize(("template", "style"), REGULAR)
def test_payloads_that_repeat_need_no_care(template: str, style: str) -> None:
    """Otherwise nothing here is put to the test."""
    pieces = [f"piece {n}" for n in range(200)]
    stream = frames(*opened(), *spoken(template, style, pieces))
    assert check(stream) < 20


@pytest.mark.parametrize("template", ["arguments_in_turn", "one_call_twice", "interleaved_choices", "audio", "new_field"])
def test_payloads_with_another_effect_each_time_always_need_it(template: str) -> None:
    stream = frames(*opened(), *spoken(template, "compact", [f"piece {n}" for n in range(50)]))
    assert check(stream) >= 50


# one byte that differs

BYTES = [
    b"",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"]",
    b",",
    b":",
    b" ",
    b"0",
    b"1",
    b"-",
    b"e",
    b"n",
    b"x",
    b"\x00",
    b"\n",
    b"\xff",
    b"\xc3",
]
MUTATED = [
    "text",
    "obfuscated",
    "obfuscation_first",
    "two_texts",
    "two_texts_obfuscated",
    "role_again",
    "arguments",
    "arguments_of_two",
    "padded",
    "reasoning",
]


def mutants(payload: bytes) -> Iterable[bytes]:
    for place in range(len(payload)):
        for byte in BYTES:
            yield payload[:place] + byte + payload[place + 1 :]
        yield payload[:place] + b'"' + payload[place:]
        yield payload[:place] + b"\\" + payload[place:]
    yield from (payload + b" ", payload + b"x", payload + payload, payload[:-1], b"")


@pytest.mark.parametrize("template", MUTATED)
def test_every_byte_of_a_payload_can_differ(template: str) -> None:
    """Each mutant comes amid payloads that are served from memory, and again behind it."""
    first, last = [f"a{n}" for n in range(6)], [f"b{n}" for n in range(3)]
    before = frames(*opened(), *spoken(template, "compact", first))
    (middle,) = spoken(template, "compact", ["\u00e9\\x"])
    after = spoken(template, "compact", last)
    plain, needed = translated(ChatTranslator, [*before, *frames(middle, *after)])
    assert needed < len(plain) - 4  # the memory serves
    all_mutants = list(mutants(middle))
    for mutant in all_mutants[::9] + all_mutants[-5:]:
        stream = [*before, *frames(mutant, mutant, *after)]
        check(stream, dialect=None)


@quick
@given(
    template=st.sampled_from(MUTATED),
    style=st.sampled_from(sorted(STYLES)),
    pieces=st.lists(texts, min_size=6, max_size=14),
    data=st.data(),
)
def test_a_byte_in_the_middle_of_a_stream_differs(template: str, style: str, pieces: list[str], data: st.DataObject) -> None:
    payloads = spoken(template, style, pieces)
    number = data.draw(st.integers(len(payloads) // 2, len(payloads) - 1))
    payload = payloads[number]
    place = data.draw(st.integers(0, len(payload) - 1))
    byte = data.draw(st.one_of(st.sampled_from(BYTES), st.binary(min_size=1, max_size=2)))
    keep = data.draw(st.integers(0, 1))
    payloads[number] = payload[:place] + byte + payload[place + keep :]
    check(frames(*opened(), *payloads, stops(), DONE))


LOOKALIKES: dict[str, tuple[bytes, bytes]] = {
    "an_empty_text": (b'"content":"x"', b'"content":""'),
    "null": (b'"content":"x"', b'"content":null'),
    "a_number": (b'"content":"x"', b'"content":5'),
    "an_object": (b'"content":"x"', b'"content":{"x":1}'),
    "a_list_of_parts": (b'"content":"x"', b'"content":[{"type":"text","text":"x"}]'),
    "a_second_content": (b'"content":"x"', b'"content":"x","content":"y"'),
    "a_text_that_closes_the_payload": (b'"content":"x"', b'"content":"x\\"}}]}"'),
    "an_escape_before_the_quote": (b'"content":"x"', b'"content":"x\\\\"'),
    "half_a_pair": (b'"content":"x"', b'"content":"\\ud83d"'),
    "an_open_string": (b'"content":"x"', b'"content":"x'),
    "a_control_character": (b'"content":"x"', b'"content":"x\ny"'),
    "invalid_utf8": (b'"content":"x"', b'"content":"x\xff"'),
    "the_finish": (b'"finish_reason":null', b'"finish_reason":"stop"'),
    "another_index": (b'"index":0', b'"index":1'),
    "a_new_field_with_text": (b'"content":"x"', b'"content":"x","zz":"y"'),
    "bytes_behind": (b"]}", b"]} x"),
    "another_payload_behind": (b"]}", b']}{"choices":[]}'),
    "white_space_behind": (b"]}", b"]} \n"),
    "white_space_before": (b'{"id"', b' {"id"'),
    "another_id": (b"chatcmpl-1", b"chatcmpl-2"),
    "no_choices": (b'"choices":[', b'"chojces":['),
    "an_error": (b"]}", b'],"error":{"message":"no"}}'),
    "nothing": (b'{"id"', b""),
}


@pytest.mark.parametrize(("old", "new"), LOOKALIKES.values(), ids=LOOKALIKES)
@pytest.mark.parametrize("noise", [b"", b',"obfuscation":"ab1"'])
def test_payloads_that_only_look_the_same(old: bytes, new: bytes, noise: bytes) -> None:
    payload = STYLES["compact"](says({"content": "x"}))
    payload = payload[:-1] + noise + b"}" if noise else payload
    old = old.replace(b"]}", noise + b"}") if noise else old
    new = new.replace(b"]}", noise + b"}") if noise else new
    assert old in payload
    odd = payload.replace(old, new, 1) if new else b"{}"
    needed = check(frames(payload, *[payload] * 6, odd, *[payload] * 4, odd, odd, odd, payload, DONE))
    assert needed <= 14


NOISE = [
    b'""',
    b'"a b"',
    b'"a\\u0041"',
    b'"\xc3\xa9"',
    b"12",
    b"012",
    b"-1",
    b"1.5",
    b"true",
    b"null",
    b"[]",
    b"{}",
    b'{"x":1}',
]
BROKEN_NOISE = [b'"a\nb"', b'"\x00"', b'"\xff"', b'"a\\xb"', b'"a"b"', b'"', b"", b'"a","b":"c"']


@pytest.mark.parametrize("noise", [*NOISE, *BROKEN_NOISE])
@pytest.mark.parametrize("place", ["last", "first", "behind_two"])
def test_noise_of_any_kind(noise: bytes, place: str) -> None:
    def payload(value: bytes) -> bytes:
        said = STYLES["compact"](says({"reasoning": "y", "content": "x"} if place == "behind_two" else {"content": "x"}))
        field = b'"obfuscation":%b' % value
        return b"{" + field + b"," + said[1:] if place == "first" else said[:-1] + b"," + field + b"}"

    for usual in (b'"abc"', b"17", noise):
        check(frames(*[payload(usual)] * 5, payload(noise), *[payload(usual)] * 2, payload(b'"z"'), payload(b"3")))


def test_an_event_name_is_part_of_the_look() -> None:
    stream = frames(*[says({"content": "x"})] * 6, {"message": "no"}, *[says({"content": "x"})] * 3)
    for name in (None, "error"):
        for frame in stream[5:7]:
            frame.name = name
        check(stream)


def test_fragments_of_base64_are_never_served() -> None:
    """What a fragment adds to the bytes depends on those before it."""
    for pieces in (["YWJj"] * 6 + ["YWJjZA==", "YWJj", "YQ=="], ["YQ=="] * 7, ["YWJj"] * 20):
        check(frames(*(says({"audio": {"data": piece}}) for piece in pieces)))


# an object beside the text, by a translator of our own


class Counting(BaseTranslator):
    """One text and a snapshot of counts. A number is a text as well, and events of one name mean nothing."""

    shape = Shape("text seq pad", counts=Shape("in out word", details=Shape("cached"), list=Shape("x")))
    noise = ("seq", "pad")
    text = Target(Op.CONCAT, ("text",), PartRef(PartKind.TEXT), "/text")
    counts = Target(Op.SET, ("counts",), PartRef(PartKind.USAGE), "/counts")

    def missing(self) -> str | None:
        return None

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        out = []
        text = body.get("text")
        if frame.name == "quiet":
            return []
        if text and isinstance(text, (str, int)):
            out.append(Edit(self.text, str(text), frame.index))
        if body.get("counts"):
            out.append(Edit(self.counts, body["counts"], frame.index))
        return out


FORMS: dict[str, Callable[[int], Any]] = {
    "text": lambda n: {"text": f"x{n}"},
    "numbers_as_texts": lambda n: {"text": 7},
    "a_number_as_text": lambda n: {"text": f"x{n}" if n % 4 else n + 1},
    "counts": lambda n: {"text": f"x{n}", "counts": {"in": n, "out": 12 + n, "details": {"cached": 10}}},
    "counts_first": lambda n: {"counts": {"in": n, "word": "w"}, "text": f"x{n}"},
    "noise": lambda n: {"seq": n, "text": f"x{n}", "pad": "x" * (n % 3)},
    "number_first": lambda n: {"seq": n, "text": f"x{n}"},
    "number_last": lambda n: {"text": f"x{n}", "seq": n},
}
_numbers = st.one_of(
    st.integers(0, 20),
    st.sampled_from([-1, 1.5, 1e30, 10**25, None, True, "2", "12", "a\\b", "é", "", [], {}, [1], [{}], {"x": 1}]),
)
_counts = st.one_of(
    st.fixed_dictionaries({"in": _numbers, "out": _numbers}),
    st.fixed_dictionaries(
        {"in": st.integers(0, 99), "details": st.one_of(st.none(), st.fixed_dictionaries({"cached": _numbers}))}
    ),
    st.dictionaries(st.sampled_from(["in", "out", "word", "details", "list", "new"]), _numbers, max_size=3),
)


@quick
@given(
    st.lists(
        st.tuples(
            st.one_of(texts, st.integers(0, 3)),
            st.one_of(st.fixed_dictionaries({"in": st.integers(0, 99), "out": st.integers(0, 99)}), _counts),
        ),
        min_size=6,
        max_size=14,
    ),
    st.sampled_from(["text first", "counts first", "noise"]),
    st.sampled_from(sorted(STYLES)),
    st.sampled_from([None, "quiet", "message"]),
)
def test_counts_beside_the_text(values: list[tuple[Any, Any]], order: str, style: str, name: str | None) -> None:
    payloads: list[Any] = []
    for number, (text, counts) in enumerate(values):
        payload = {"text": text, "counts": counts} if order != "counts first" else {"counts": counts, "text": text}
        payloads.append(STYLES[style]({"seq": number, **payload} if order == "noise" else payload))
    stream = frames(*payloads)
    stream[-1].name = name
    check(stream, Counting, dialect=None)


@pytest.mark.parametrize(
    "odd",
    [
        {"in": {}, "out": 2},
        {"in": [], "out": 2},
        {"in": [{}], "out": 2},
        {"in": None, "out": 2},
        {"in": 1},
        {"in": 1, "out": 2, "new": 3},
        {"out": 2, "in": 1},
        {"in": "1", "out": "2"},
        {},
        None,
        [],
        5,
    ],
)
def test_counts_of_another_form(odd: Any) -> None:
    def payload(counts: Any) -> bytes:
        return STYLES["compact"]({"text": "x", "counts": counts})

    usual = [payload({"in": n, "out": 2}) for n in range(1, 9)]
    needed = check(frames(*usual, payload(odd), *usual, payload(odd), payload(odd)), Counting, dialect=None)
    assert needed <= 11
    with_details = [payload({"in": n, "details": {"cached": n}, "list": None}) for n in range(1, 9)]
    for details in ({}, [], 5, None, {"cached": []}, {"cached": {"x": 1}}, {"cached": None}):
        check(
            frames(*with_details, payload({"in": 1, "details": details, "list": None}), with_details[0]), Counting, dialect=None
        )
        check(
            frames(*with_details, payload({"in": 1, "details": {"cached": 1}, "list": details}), with_details[0]),
            Counting,
            dialect=None,
        )


@quick
@given(data=st.data())
def test_a_payload_of_another_form_with_a_byte_that_differs(data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(sorted(FORMS)))
    payloads = [STYLES["compact"](FORMS[form](n)) for n in range(8)]
    payload = payloads[6]
    place = data.draw(st.integers(0, len(payload) - 1))
    byte = data.draw(st.one_of(st.sampled_from(BYTES), st.binary(min_size=1, max_size=2)))
    payloads[6] = payload[:place] + byte + payload[place + data.draw(st.integers(0, 1)) :]
    check(frames(*payloads), Counting, dialect=None)


@pytest.mark.parametrize("number", [b"01", b"00", b"-0", b"1.", b"1.5", b"1e5", b"12", b"0x1", b"1 "])
def test_numbers_are_alike_in_their_digits_only(number: bytes) -> None:
    def payload(counted: bytes) -> bytes:
        return b'{"text":"x","counts":{"in":%b,"out":2}}' % counted

    usual = [payload(n) for n in (b"10", b"11", b"12", b"20", b"99", b"0", b"5", b"10")]
    check(frames(*usual, payload(number), *usual), Counting, dialect=None)


@pytest.mark.parametrize("form", ["text", "counts", "noise", "number_first", "number_last"])
def test_forms_of_our_own_are_served(form: str) -> None:
    stream = frames(*(STYLES["compact"](FORMS[form](n)) for n in range(50)))
    assert check(stream, Counting, dialect=None) < 8


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["quiet", "message"])
def test_forms_of_our_own_under_another_event_name(form: str, name: str) -> None:
    stream = frames(*(STYLES["compact"](FORMS[form](n)) for n in range(12)))
    stream[6].name = name
    check(stream, Counting, dialect=None)


@pytest.mark.parametrize("number", ["0", "7", "07", "00", "-7", "7.0", "1e3", "", "null", "12345678901234567890"])
def test_a_number_that_means_nothing(number: str) -> None:
    def payload(seq: str) -> bytes:
        return b'{"seq":%b,"text":"x","pad":"ab"}' % seq.encode()

    usual = [payload(str(n)) for n in range(3, 15)]
    check(frames(*usual, payload(number), *usual), Counting, dialect=None)


# how long it is patient


def test_a_memory_that_never_serves_is_made_ever_more_rarely() -> None:
    """Two payloads, each twice, in turn: every other one could be learned from, in vain."""
    learned: Counter[bool] = Counter()
    learn = Repeats._learn

    def counted(self: Repeats, *args: Any) -> Any:
        learned[True] += 1
        return learn(self, *args)

    one, other = says({"content": "x"}), says({"reasoning": "y"})
    with mock.patch.object(Repeats, "_learn", counted):
        translator = ChatTranslator()
        for frame in frames(*[one, one, other, other] * 250):
            translator.translate(frame)
    assert 1 <= learned[True] < 30
