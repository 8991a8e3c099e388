"""Every verb of an edit, as a table: what the body is afterwards, and what was found to disagree."""

from __future__ import annotations

from typing import Any

import pytest

from harness import StreamCollector, dialects
from harness.api_error import ErrorKind, api_error
from harness.edits import UNKNOWN, LateEdit, Op, PartKind, PartRef, Path, Target, pointer
from harness.errors import UnsupportedDialectError, Where
from harness.findings import Finding
from harness.framing import Frame
from tests.collector.scripted import WAYS, Step, edit, play, with_targets

SET, CONCAT, APPEND, PARSE, SETTLE, MOVE = Op.SET, Op.CONCAT, Op.APPEND, Op.PARSE, Op.SETTLE, Op.MOVE
A: Path = ("a",)
B: Path = ("b",)

Case = tuple[list[Step], Any, list[tuple[str, Any, Any]]]


def case(*steps: Step, body: Any, disagree: list[tuple[str, Any, Any]] | None = None) -> Case:
    return list(steps), body, disagree or []


CASES: dict[str, Case] = {
    # set
    "set": case((SET, A, 1), body={"a": 1}),
    "set_again": case((SET, A, 1), (SET, A, "x"), (SET, A, None), body={"a": None}),
    "set_makes_its_way": case((SET, ("a", "b", "c"), 1), (SET, ("a", "d"), 2), body={"a": {"b": {"c": 1}, "d": 2}}),
    "set_element": case((SET, ("a", 0), "x"), (SET, ("a", 1), "y"), body={"a": ["x", "y"]}),
    "set_in_an_element": case((SET, ("a", 0, "b"), 1), (SET, ("a", 0, "c"), 2), body={"a": [{"b": 1, "c": 2}]}),
    "set_lists_in_lists": case((SET, ("a", 0, 1), "x"), (SET, ("a", 0, 0), "y"), body={"a": [["y", "x"]]}),
    "set_over_a_text_by_a_text": case((CONCAT, A, "x"), (SET, A, "y"), (CONCAT, A, "z"), body={"a": "yz"}),
    "set_over_an_object": case((SET, A, {"b": 1}), (SET, A, {"c": 2}), body={"a": {"c": 2}}),
    "set_many_times": case(*[(SET, A, str(n)) for n in range(9)], body={"a": "8"}),
    "set_what_was_set_is_extended": case(
        (SET, A, {"b": [1]}), (SET, ("a", "b", 1), 2), (SET, ("a", "c"), 3), body={"a": {"b": [1, 2], "c": 3}}
    ),
    # positions and keys
    "keys_give_the_order": case((SET, ("a", 1), "y"), (SET, ("a", 0), "x"), body={"a": ["x", "y"]}),
    "keys_may_leave_holes": case((SET, ("a", 7), "y"), (SET, ("a", 2), "x"), body={"a": ["x", "y"]}),
    "keys_may_be_negative": case((SET, ("a", 0), "y"), (SET, ("a", -1), "x"), body={"a": ["x", "y"]}),
    "a_number_as_a_name": case((SET, ("a", "0"), "x"), body={"a": {"0": "x"}}),
    "elements_of_a_set_list_have_its_positions": case((SET, A, ["x", "y"]), (SET, ("a", 1), "z"), body={"a": ["x", "z"]}),
    # concat
    "concat": case((CONCAT, A, "x"), (CONCAT, A, "y"), (CONCAT, A, "z"), body={"a": "xyz"}),
    "concat_nothing": case((CONCAT, A, ""), body={"a": ""}),
    "concat_two_texts_in_turn": case(
        (CONCAT, A, "x"), (CONCAT, B, "1"), (CONCAT, A, "y"), (CONCAT, B, "2"), body={"a": "xy", "b": "12"}
    ),
    "concat_to_a_set_text": case((SET, A, "x"), (CONCAT, A, "y"), (CONCAT, A, "z"), body={"a": "xyz"}),
    "concat_to_null": case((SET, A, None), (CONCAT, A, "y"), body={"a": "y"}),
    "concat_in_elements": case(
        (CONCAT, ("a", 1, "t"), "y"),
        (CONCAT, ("a", 0, "t"), "x"),
        (CONCAT, ("a", 1, "t"), "!"),
        body={"a": [{"t": "x"}, {"t": "y!"}]},
    ),
    "concat_keeps_every_character": case(
        (CONCAT, A, "a\r"), (CONCAT, A, "\nb\r\n"), (CONCAT, A, "\u2028\x00\x85"), body={"a": "a\r\nb\r\n\u2028\x00\x85"}
    ),
    "concat_halves_of_a_surrogate_pair": case((CONCAT, A, "\ud83d"), (CONCAT, A, "\ude00"), body={"a": "\U0001f600"}),
    "concat_half_of_a_character": case((CONCAT, A, "\ud83d"), (CONCAT, A, "x\ude00"), body={"a": "\ud83dx\ude00"}),
    "concat_after_the_object_around_was_set": case(
        (CONCAT, ("a", "t"), "x"), (SET, A, {}), (CONCAT, ("a", "t"), "y"), body={"a": {"t": "y"}}
    ),
    # append
    "append": case((APPEND, A, 1), (APPEND, A, {"x": 2}), body={"a": [1, {"x": 2}]}),
    "append_to_a_set_list": case((SET, A, [1]), (APPEND, A, 2), (APPEND, A, 3), body={"a": [1, 2, 3]}),
    "append_to_null": case((SET, A, None), (APPEND, A, 2), body={"a": [2]}),
    "append_behind_the_greatest_key": case(
        (SET, ("a", 5), "x"), (APPEND, A, "y"), (SET, ("a", 6), "z"), body={"a": ["x", "z"]}
    ),
    "append_behind_negative_keys": case((SET, ("a", -4), "x"), (APPEND, A, "y"), body={"a": ["x", "y"]}),
    "append_to_a_list_in_an_element": case((APPEND, ("a", 0, "b"), 1), (APPEND, ("a", 0, "b"), 2), body={"a": [{"b": [1, 2]}]}),
    # parse
    "parse_while_nothing_came": case((PARSE, A, {}), body={"a": {}}),
    "parse_its_value_while_nothing_came": case((PARSE, A, {"x": [1]}), body={"a": {"x": [1]}}),
    "parse": case((PARSE, A, {}), (CONCAT, A, '{"x"'), (CONCAT, A, ":1}"), body={"a": {"x": 1}}),
    "parse_white_space": case((PARSE, A, {}), (CONCAT, A, " \n"), body={"a": {}}),
    "parse_what_is_not_whole": case((PARSE, A, {}), (CONCAT, A, '{"x"'), body={"a": '{"x"'}),
    "parse_what_is_no_json": case((PARSE, A, {}), (CONCAT, A, "x"), (CONCAT, A, "y"), body={"a": "xy"}),
    "parse_what_is_too_deep": case((PARSE, A, {}), (CONCAT, A, "[" * 300 + "]" * 300), body={"a": "[" * 300 + "]" * 300}),
    "parse_scalars": case((PARSE, A, {}), (CONCAT, A, "12"), body={"a": 12}),
    "parse_begins_anew": case((PARSE, A, {}), (CONCAT, A, '{"x":1}'), (PARSE, A, {}), (CONCAT, A, "[1]"), body={"a": [1]}),
    # move
    "move": case((CONCAT, A, "x"), (MOVE, A, ("b", 0, "t")), body={"b": [{"t": "x"}]}),
    "move_then_grow_there": case((CONCAT, A, "x"), (MOVE, A, B), (CONCAT, B, "y"), body={"b": "xy"}),
    "move_then_begin_anew": case(
        (CONCAT, A, "x"), (CONCAT, A, "y"), (MOVE, A, B), (CONCAT, A, "z"), body={"b": "xy", "a": "z"}
    ),
    "move_what_is_not_there": case((SET, B, 1), (MOVE, A, B), body={"b": 1}),
    "move_into_itself": case(
        (CONCAT, A, "x"), (MOVE, A, ("a", 0, "t")), (CONCAT, ("a", 0, "t"), "y"), body={"a": [{"t": "xy"}]}
    ),
    "move_over_a_text_that_grows": case((CONCAT, A, "x"), (CONCAT, B, "1"), (MOVE, A, B), (CONCAT, B, "2"), body={"b": "x2"}),
    # settle: equal
    "settle_text": case((CONCAT, A, "x"), (CONCAT, A, "y"), (SETTLE, A, "xy"), body={"a": "xy"}),
    "settle_then_grow": case((CONCAT, A, "x"), (SETTLE, A, "x"), (CONCAT, A, "y"), body={"a": "xy"}),
    "settle_object": case(
        (CONCAT, ("a", "t"), "x"), (SET, ("a", "n"), 1), (SETTLE, A, {"n": 1, "t": "x"}), body={"a": {"t": "x", "n": 1}}
    ),
    "settle_list": case(
        (CONCAT, ("a", 0), "x"), (APPEND, A, {"y": 1}), (SETTLE, A, ["x", {"y": 1}]), body={"a": ["x", {"y": 1}]}
    ),
    "settle_list_by_position": case(
        (SET, ("a", 7), "y"), (SET, ("a", 3), "x"), (SETTLE, A, ["x", "y"]), body={"a": ["x", "y"]}
    ),
    "settle_json_text": case((PARSE, A, {}), (CONCAT, A, '{"x":1}'), (SETTLE, A, {"x": 1}), body={"a": {"x": 1}}),
    "settle_nothing_by_nothing": case((SET, A, None), (SETTLE, A, None), body={"a": None}),
    "settle_empty_lists": case((SET, A, []), (SETTLE, A, []), body={"a": []}),
    "settle_not_a_number": case((SET, A, float("inf")), (SETTLE, A, float("inf")), body={"a": float("inf")}),
    # settle: what had not gathered is taken
    "settle_what_is_absent": case((SETTLE, ("a", "b"), {"c": [1]}), body={"a": {"b": {"c": [1]}}}),
    "settle_what_is_null": case((SET, A, None), (SETTLE, A, "x"), body={"a": "x"}),
    "settle_what_is_empty": case((CONCAT, A, ""), (SET, B, []), (SETTLE, A, "x"), (SETTLE, B, [1]), body={"a": "x", "b": [1]}),
    "settle_parse_that_got_nothing": case((PARSE, A, {}), (SETTLE, A, {"x": 1}), body={"a": {"x": 1}}),
    "settle_new_fields": case((SET, A, {"n": 1}), (SETTLE, A, {"n": 1, "m": {"k": 2}}), body={"a": {"n": 1, "m": {"k": 2}}}),
    # settle: what the repetition leaves out stays
    "settle_fewer_fields": case((SET, A, {"n": 1, "m": 2}), (SETTLE, A, {"n": 1}), body={"a": {"n": 1, "m": 2}}),
    "settle_by_null": case((CONCAT, A, "x"), (SETTLE, A, None), body={"a": "x"}, disagree=[("/a", "x", None)]),
    "settle_by_an_empty_text": case((CONCAT, A, "x"), (SETTLE, A, ""), body={"a": "x"}, disagree=[("/a", "x", "")]),
    "settle_list_by_an_empty_one": case((APPEND, A, 1), (SETTLE, A, []), body={"a": [1]}, disagree=[("/a", [1], [])]),
    "settle_object_by_an_empty_one": case((SET, A, {"n": 1}), (SETTLE, A, {}), body={"a": {"n": 1}}),
    "settle_list_by_a_shorter_one": case(
        (SET, A, [1, 2]), (SETTLE, A, [3]), body={"a": [1, 2]}, disagree=[("/a", [1, 2], [3])]
    ),
    "settle_false_by_null": case((SET, A, False), (SETTLE, A, None), body={"a": False}, disagree=[("/a", False, None)]),
    # settle: otherwise the repeated value wins, and both are reported
    "settle_another_text": case(
        (CONCAT, A, "x"), (SETTLE, A, "y"), (CONCAT, A, "z"), body={"a": "yz"}, disagree=[("/a", "x", "y")]
    ),
    "settle_another_number": case((SET, A, 0), (SETTLE, A, 1), body={"a": 1}, disagree=[("/a", 0, 1)]),
    "settle_another_type_of_number": case((SET, A, 1), (SETTLE, A, 1.0), body={"a": 1.0}, disagree=[("/a", 1, 1.0)]),
    "settle_a_number_by_true": case(
        (SET, A, {"n": 1}), (SETTLE, A, {"n": True}), body={"a": {"n": True}}, disagree=[("/a/n", 1, True)]
    ),
    "settle_a_list_by_a_text": case((APPEND, A, 1), (SETTLE, A, "x"), body={"a": "x"}, disagree=[("/a", [1], "x")]),
    "settle_an_object_by_a_list": case((SET, A, {"n": 1}), (SETTLE, A, [1]), body={"a": [1]}, disagree=[("/a", {"n": 1}, [1])]),
    "settle_a_field_deep_inside": case(
        (CONCAT, ("a", 4, "t"), "x"),
        (SETTLE, A, [{"t": "y", "n": 1}]),
        body={"a": [{"t": "y", "n": 1}]},
        disagree=[("/a/4/t", "x", "y")],
    ),
    "settle_a_longer_list": case(
        (SET, A, [1]), (SETTLE, A, [2, 3]), body={"a": [2, 3]}, disagree=[("/a", [1], [2, 3]), ("/a/0", 1, 2)]
    ),
    "settle_other_arguments": case(
        (PARSE, A, {}),
        (CONCAT, A, '{"x":1}'),
        (SETTLE, A, {"x": 2}),
        body={"a": {"x": 2}},
        disagree=[("/a", {"x": 1}, {"x": 2})],
    ),
    "settle_where_the_dialect_excuses": case(
        (SET, ("restated", "x"), 1), (SETTLE, ("restated", "x"), 2), body={"restated": {"x": 2}}
    ),
    # what gathered gives way to another kind of thing: the value that goes is reported
    "text_where_a_list_was": case(
        (APPEND, A, 1), (CONCAT, A, "x"), (CONCAT, A, "y"), body={"a": "xy"}, disagree=[("/a", [1], "x")]
    ),
    "text_where_a_number_was": case((SET, A, 5), (CONCAT, A, "x"), body={"a": "x"}, disagree=[("/a", 5, "x")]),
    "list_where_a_text_was": case((CONCAT, A, "x"), (APPEND, A, 1), body={"a": [1]}, disagree=[("/a", "x", [])]),
    "element_where_a_text_was": case(
        (CONCAT, A, "x"),
        (SET, ("a", 0, "t"), 1),
        (CONCAT, A, "y"),
        body={"a": "y"},
        disagree=[("/a", "x", []), ("/a", [{"t": 1}], "y")],
    ),
    "field_where_a_text_was": case(
        (CONCAT, ("a", "b"), "x"), (SET, ("a", "b", "c"), 1), body={"a": {"b": {"c": 1}}}, disagree=[("/a/b", "x", {})]
    ),
    "field_where_a_list_was": case((SET, A, [1]), (SET, ("a", "c"), 1), body={"a": {"c": 1}}, disagree=[("/a", [1], {})]),
    "element_where_an_object_was": case(
        (SET, A, {"c": 1}), (SET, ("a", 0), 1), body={"a": [1]}, disagree=[("/a", {"c": 1}, [])]
    ),
    "nothing_is_lost_where_nothing_was": case(
        (CONCAT, A, ""), (SET, B, {}), (APPEND, A, 1), (CONCAT, B, "x"), body={"a": [1], "b": "x"}
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shared", [True, False], ids=["shared_targets", "targets_of_their_own"])
@pytest.mark.parametrize(("steps", "body", "disagreements"), CASES.values(), ids=CASES)
def test_verbs(steps: list[Step], body: Any, disagreements: list[tuple[str, Any, Any]], shared: bool, way: str) -> None:
    collector = play([[e] for e in with_targets(steps, shared)], way)
    assert repr(collector.body) == repr(body)  # 1, 1.0 and true are three values, and names have an order
    assert [(d.where.path, d.gathered, d.repeated) for d in collector.disagreements] == disagreements


@pytest.mark.parametrize("way", WAYS)
def test_several_edits_of_one_frame_are_taken_in_order(way: str) -> None:
    steps: list[Step] = [(SET, A, "x"), (CONCAT, A, "y"), (SET, B, 1), (CONCAT, A, "z"), (SET, B, 2)]
    assert play([with_targets(steps, True), with_targets(steps, True)], way).body == {"a": "xyz", "b": 2}


def test_the_body_is_nobodys_but_the_readers() -> None:
    """Neither the values given nor the body taken are the collector's own."""
    given = {"x": [1]}
    collector = play(
        [[edit(SET, A, given)], [edit(APPEND, B, given)], [edit(PARSE, ("c",), given)], [edit(SETTLE, ("d",), given)]]
    )
    given["x"].append(2)
    given["y"] = [3]
    for _ in range(2):
        body = collector.body
        assert body == {"a": {"x": [1]}, "b": [{"x": [1]}], "c": {"x": [1]}, "d": {"x": [1]}}
        body["a"]["x"].append(2)
        body["b"].append(1)
        body["c"]["x"].append(3)
        body["d"]["x"].clear()


def test_disagreements_say_where() -> None:
    collector = play([[edit(SET, A, 1)], [edit(SETTLE, A, 2)]])
    assert [d.where for d in collector.disagreements] == [Where(frame=1, span=(10, 15), path="/a")]


# notes and failures


def test_note() -> None:
    finding = Finding(kind="stream/empty", message="m", where=Where(path="/x"))
    collector = play([[edit(SET, A, 1)], [edit(Op.NOTE, (), finding)]], last=[edit(Op.NOTE, (), finding)])
    assert [n.where for n in collector.notes] == [Where(frame=1, span=(10, 15), path="/x")]
    assert [n.where for n in collector.close().notes] == [Where(frame=1, span=(10, 15), path="/x"), Where(path="/x")]
    assert collector.body == {"a": 1}


def test_fail() -> None:
    first, second = api_error("slow", status=429), api_error("gone")
    collector = play([[edit(SET, A, 1)], [edit(Op.FAIL, (), first)], [edit(Op.FAIL, (), second), edit(SET, B, 2)]])
    assert collector.error is first
    assert collector.body == {"a": 1, "b": 2}
    assert not collector.complete
    out = collector.close()
    assert (out.complete, out.missing, out.error) == (False, None, first)
    assert first.kind is ErrorKind.RATE_LIMITED


@pytest.mark.parametrize(
    ("lacks", "error", "complete"),
    [(None, False, True), ("an end", False, False), (None, True, False), ("an end", True, False)],
)
def test_complete_is_the_end_condition_without_an_error(lacks: str | None, error: bool, complete: bool) -> None:
    collector = play([[edit(Op.FAIL, (), api_error("no"))]] if error else [[]], lacks=lacks)
    assert (collector.complete, collector.missing) == (complete, lacks)
    assert (collector.close().complete, collector.close().missing) == (complete, lacks)


# fields that the dialect does not know


def unknown(path: Path, value: Any, frame: int = 0, op: Op = SET) -> Any:
    return edit(op, path, value, UNKNOWN, "/source" + pointer(path), frame)


@pytest.mark.parametrize("way", WAYS)
def test_an_unknown_field_is_kept_and_listed(way: str) -> None:
    collector = play(
        [[edit(CONCAT, ("a", "t"), "x")], [unknown(("a", "n"), 1)], [unknown(("a", "n"), [2])], [unknown(B, None)]], way
    )
    assert collector.body == {"a": {"t": "x", "n": [2]}, "b": None}
    assert [(u.where, u.value) for u in collector.unknown] == [
        (Where(frame=1, span=(10, 15), path="/source/a/n"), 1),
        (Where(frame=2, span=(20, 25), path="/source/a/n"), [2]),
        (Where(frame=3, span=(30, 35), path="/source/b"), None),
    ]


def test_an_unknown_event_is_kept_and_listed() -> None:
    collector = play([[unknown(("unknown_events",), {"n": 1}, op=APPEND)]] * 2)
    assert collector.body == {"unknown_events": [{"n": 1}, {"n": 1}]}
    assert len(collector.unknown) == 2


GATHERED: dict[str, tuple[list[Step], Path, Any]] = {
    "a_text": ([(CONCAT, A, "x")], A, {"n": 1}),
    "a_value": ([(SET, A, 5)], A, {"n": 1}),
    "a_value_of_the_same_type": ([(SET, A, 5)], A, 6),
    "a_list": ([(APPEND, A, 1)], A, {"n": 1}),
    "an_object": ([(SET, ("a", "b"), 1)], A, [1]),
    "an_element": ([(SET, ("a", 0, "b"), 1)], ("a", 0), "x"),
    "inside_a_text": ([(CONCAT, A, "x")], ("a", 0, "n"), 1),
    "inside_a_number": ([(SET, A, 5)], ("a", "n"), 1),
    "a_name_in_a_list": ([(SET, A, [1])], ("a", "n"), 1),
    "a_position_in_an_object": ([(SET, A, {"b": 1})], ("a", 0), 1),
    "a_json_text": ([(PARSE, A, {}), (CONCAT, A, "[1]")], A, {"n": 1}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("steps", "path", "value"), GATHERED.values(), ids=GATHERED)
def test_an_unknown_field_never_replaces_what_is_known(steps: list[Step], path: Path, value: Any, way: str) -> None:
    known = with_targets(steps, True)
    before = play([known]).body
    collector = play([known, [unknown(path, value)], [unknown(path, value)]], way)
    assert collector.body == {**before, "unknown_events": [{str(path[-1]): value}] * 2}
    assert [u.value for u in collector.unknown] == [value, value]
    assert collector.disagreements == []


def test_an_unknown_field_that_stands_there_already_is_only_listed() -> None:
    """Dialects keep whole elements, with the unknown fields in them."""
    collector = play([[edit(SET, A, {"b": 1, "n": {"x": 1}}), unknown(("a", "n"), {"x": 1})]])
    assert collector.body == {"a": {"b": 1, "n": {"x": 1}}}
    assert len(collector.unknown) == 1


@pytest.mark.parametrize("way", WAYS)
def test_an_unknown_field_is_not_lost_with_what_is_replaced(way: str) -> None:
    usage = [edit(SET, ("a", 0, "u"), {"n": 1, "z": 5}), unknown(("a", 0, "u", "z"), 5), unknown(("a", 0, "y"), "?")]
    collector = play([usage, [edit(SET, ("a", 0, "u"), {"n": 2})], [edit(SET, ("a", 0, "u"), {"n": 3})]], way)
    assert collector.body == {"a": [{"u": {"n": 3}, "y": "?"}], "unknown_events": [{"z": 5}]}
    still_there = play([usage, [edit(SET, ("a", 0, "u"), {"n": 2, "z": 6})]], way)
    assert still_there.body == {"a": [{"u": {"n": 2, "z": 6}, "y": "?"}]}
    all_gone = play([usage, [edit(SET, A, [])]], way)
    assert all_gone.body == {"a": [], "unknown_events": [{"z": 5}, {"y": "?"}]}


def test_an_unknown_object_that_comes_again_is_completed() -> None:
    again = [{"x": 1, "y": {"p": 1}, "l": [{"p": 1}]}, {"y": {"q": 2}, "l": [{"q": 2}]}, {"x": 3, "l": [1, 2]}]
    collector = play([[unknown(A, value)] for value in again])
    assert collector.body == {"a": {"x": 3, "y": {"p": 1, "q": 2}, "l": [1, 2]}}
    assert [u.value for u in collector.unknown] == again


def test_unknown_fields_fill_what_is_empty() -> None:
    collector = play(
        [[edit(SET, A, {"n": None, "m": ""}), unknown(("a", "n"), 1), unknown(("a", "m"), [1]), unknown(("a", "o", 2), "x")]]
    )
    assert collector.body == {"a": {"n": 1, "m": [1], "o": ["x"]}}


# values that are decoded late


def late(target: Target, data: bytes) -> LateEdit:
    return LateEdit(target, data, 0)


@pytest.mark.parametrize("way", WAYS)
def test_values_decoded_late_are_values(way: str) -> None:
    target = Target(SET, ("a", "u"))
    edits = [edit(SET, B, 1), late(target, b'{"n":1}'), late(target, b'{"n":2,"m":[]}')]
    assert play([[e] for e in edits], way).body == {"b": 1, "a": {"u": {"n": 2, "m": []}}}
    more = [*edits, edit(SET, ("a", "u", "o"), 3), edit(APPEND, ("a", "u", "m"), 4)]
    assert play([[e] for e in more], way).body == {"b": 1, "a": {"u": {"n": 2, "m": [4], "o": 3}}}
    again = [*more, late(target, b'{"n":5}')]
    assert play([[e] for e in again], way).body == {"b": 1, "a": {"u": {"n": 5}}}
    settled = play([[e] for e in [*edits, edit(SETTLE, ("a", "u"), {"n": 3})]], way)
    assert settled.body == {"b": 1, "a": {"u": {"n": 3, "m": []}}}
    assert [d.where.path for d in settled.disagreements] == ["/a/u/n"]
    replaced = [*edits, edit(SET, A, {}), late(target, b'{"n":6}')]
    assert play([[e] for e in replaced], way).body == {"b": 1, "a": {"u": {"n": 6}}}
    kept = play(
        [[e] for e in [*edits, unknown(("a", "u", "z"), 7), unknown(("a", "u", "n"), 8), late(target, b'{"n":9}')]], way
    )
    assert kept.body == {"b": 1, "a": {"u": {"n": 9}}, "unknown_events": [{"n": 8}, {"z": 7}]}


# the collector


NAMES = ("openai-chat", "openai-responses", "gemini", "bedrock-converse", "bedrock-invoke", "ollama-chat", "anthropic-messages")
ALIASES = {
    "open_ai": "openai-chat",
    "openai": "openai-chat",
    "open_router": "openai-chat",
    "openrouter": "openai-chat",
    "open_ai_responses": "openai-responses",
    "openai_responses": "openai-responses",
    "google": "gemini",
    "bedrock": "bedrock-converse",
    "ollama": "ollama-chat",
}
"""Product contract, section 2."""


@pytest.mark.parametrize(("given", "name"), [*((n, n) for n in NAMES), *ALIASES.items()])
def test_C01_every_dialect_and_alias_begins_empty(given: str, name: str) -> None:
    collector = StreamCollector(given)
    assert collector.dialect.name == name
    assert (collector.body, collector.text, collector.reasoning, collector.tool_calls) == ({}, None, None, [])
    assert (collector.is_tool_turn, collector.complete, collector.error) == (False, False, None)
    assert (collector.unknown, collector.disagreements, collector.notes) == ([], [], [])
    assert collector.response.usage is None
    assert collector.response.finish_reason is None
    assert collector.missing


def test_C01_a_dialect_may_be_given_itself() -> None:
    assert StreamCollector(dialects.dialect("openai-chat"), {"n": 2}).dialect.name == "openai-chat"


def test_C01_the_contract_names_all_dialects() -> None:
    assert dialects.names()[: len(NAMES)] == NAMES
    assert dialects.ALIASES == ALIASES


@pytest.mark.parametrize("given", ["", "openai_chat", "OPENAI-CHAT", "cohere", "open-ai", None, 5, ["openai-chat"]])
def test_C02_an_unknown_dialect_is_named_with_those_that_there_are(given: Any) -> None:
    with pytest.raises(UnsupportedDialectError) as raised:
        StreamCollector(given)
    assert isinstance(raised.value, ValueError)
    assert raised.value.name == given
    assert repr(given) in str(raised.value)
    assert all(name in str(raised.value) for name in NAMES)


CHAT: list[bytes] = [
    b'{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}',
    *[b'{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"%d "}}]}' % n for n in range(6)],
    b'{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]}}]}',
    *[b'{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%b"}}]}}]}' % a
      for a in (b"{", b'\\"n\\":', b"1", b"}")],
    b'{"id":"c","model":"m","new":1,"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"total_tokens":3}}',
    b"[DONE]",
]  # fmt: skip


def test_C50_reading_in_mid_stream_changes_nothing_and_repeats() -> None:
    silent, read = StreamCollector("openai-chat"), StreamCollector("openai-chat")
    lengths = []
    for number, data in enumerate(CHAT):
        frame = Frame(number, None, data)
        silent.add(frame)
        read.add(frame)
        views = [
            (read.body, read.response, read.text, read.tool_calls, read.unknown, read.notes, read.missing) for _ in range(2)
        ]
        assert views[0] == views[1]
        views[0][0].clear()
        lengths.append(len(read.text or ""))
    assert lengths[1:8] == [2, 4, 6, 8, 10, 12, 12]
    out = silent.close()
    assert read.close() == out == read.close()
    assert out.body == read.body == silent.body
    assert out.response.text == "0 1 2 3 4 5 "
    assert [(c.name, c.parsed_arguments()) for c in out.response.tool_calls] == [("f", {"n": 1})]
    assert out.complete


def test_C50_a_prefix_is_read_as_far_as_it_goes() -> None:
    collector = StreamCollector("openai-chat")
    collector.extend(Frame(n, None, data) for n, data in enumerate(CHAT[:9]))
    (call,) = collector.tool_calls
    assert (collector.text, call.arguments, collector.is_tool_turn) == ("0 1 2 3 4 5 ", "{", True)
    assert not collector.complete
    assert collector.missing == "choice 0 has no finish reason"


def test_close_asks_the_dialect_once() -> None:
    collector = play([[edit(CONCAT, A, "x")]], last=[edit(CONCAT, A, "!")])
    assert collector.body == {"a": "x"}
    assert collector.close().body == {"a": "x!"}
    assert collector.close().body == {"a": "x!"}
    assert collector.close().frames == 1


def test_tool_turns_are_told_by_the_kind_of_part() -> None:
    call = PartRef(PartKind.TOOL_CALL, (0, 0))
    assert not play([[edit(CONCAT, A, "x")]]).is_tool_turn
    assert play([[edit(CONCAT, A, "", call)]]).is_tool_turn
