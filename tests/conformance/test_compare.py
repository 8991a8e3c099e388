"""The comparison of a collected body with its twin: how strict it is, and what the path sets of a dialect excuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.compare import ABSENT, Difference, compare
from harness.dialects import PathSet
from harness.dialects.base import BaseDialect


class Compared(BaseDialect):
    """A dialect that has nothing but places."""

    name = "compared"
    volatile = PathSet({"id": "", "meta/*/at": ""})
    unsent = PathSet({"unsent": ""})
    padding = PathSet({"padding": ""})
    enumerations = PathSet({"finish": "", "items/*/type": ""})
    parts = PathSet({"calls": "", "thought": ""})
    nullable = PathSet({"text": ""})
    free = PathSet({"items/*/input": ""})


def differences(expected: Any, got: Any, match: str) -> list[Difference]:
    return compare(expected, got, Compared(), match)  # type: ignore[arg-type]


def exactly(expected: Any, got: Any) -> list[tuple[str, str, Any, Any]]:
    """What exact mode tells, the excused differences left out."""
    found = differences(expected, got, "exact")
    return [(d.path, d.kind, d.expected, d.got) for d in found if d.excuse is None]


def shapely(expected: Any, got: Any) -> list[tuple[str, str, Any, Any]]:
    found = differences(expected, got, "shape")
    return [(d.path, d.kind, d.expected, d.got) for d in found if d.excuse is None]


# exact mode

_FIVE = [1, 1.0, True, "1", None]


@pytest.mark.parametrize("got", [*_FIVE, ABSENT], ids=repr)
@pytest.mark.parametrize("expected", [*_FIVE, ABSENT], ids=repr)
def test_values_that_look_alike_are_different_values(expected: Any, got: Any) -> None:
    one, other = ({} if value is ABSENT else {"x": value} for value in (expected, got))
    found = exactly(one, other)
    if expected is got:
        assert found == []
    else:
        kind = "absent" if got is ABSENT else "extra" if expected is ABSENT else "value"
        assert found == [("/x", kind, expected, got)]


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (0, False),
        (0, 0.0),
        (0.0, -0.0),
        ("", None),
        ([], None),
        ([], {}),
        ({}, None),
        ("", []),
        (0, None),
        ("é", "e\u0301"),
        ("a", "a "),
    ],
)
def test_nothing_is_as_good_as_something_else(expected: Any, got: Any) -> None:
    same_number = type(expected) is float is type(got)  # zero has two signs and one value
    assert bool(exactly({"x": expected}, {"x": got})) is not same_number
    assert bool(exactly({"x": got}, {"x": expected})) is not same_number


def test_a_value_that_reads_absent_is_there() -> None:
    assert exactly({"x": "(absent)"}, {}) == [("/x", "absent", "(absent)", ABSENT)]
    assert exactly({}, {"x": "(absent)"}) == [("/x", "extra", ABSENT, "(absent)")]
    assert exactly({"x": "(absent)"}, {"x": "(absent)"}) == []


def test_not_a_number_is_itself() -> None:
    assert exactly({"x": float("nan")}, {"x": float("nan")}) == []


@pytest.mark.parametrize(
    ("expected", "got", "found"),
    [
        ([1, 2], [1, 2], []),
        ([1, 2], [2, 1], [("/0", "value", 1, 2), ("/1", "value", 2, 1)]),
        ([1, 2], [1], [("/1", "absent", 2, ABSENT)]),
        ([1], [1, None], [("/1", "extra", ABSENT, None)]),
        ([[]], [[[]]], [("/0/0", "extra", ABSENT, [])]),
        ([{"a": 1}], [{"a": 1, "b": 2}], [("/0/b", "extra", ABSENT, 2)]),
        ([1], {"0": 1}, [("", "value", [1], {"0": 1})]),
    ],
)
def test_lists_are_compared_element_by_element(expected: Any, got: Any, found: list[Any]) -> None:
    assert exactly(expected, got) == found


def test_places_are_json_pointers() -> None:
    assert [d.path for d in differences({"a/b": {"~": [1]}}, {"a/b": {"~": [2]}}, "exact")] == ["/a~1b/~0/0"]


@pytest.mark.parametrize("where", ["first", "last", "deepest"])
def test_one_of_many_values_is_found(where: str) -> None:
    body = {"list": [{"n": n, "deep": {"er": [n]}} for n in range(500)]}
    changed = json.loads(json.dumps(body))
    place = changed["list"][{"first": 0, "last": 499, "deepest": 250}[where]]
    place["deep"]["er"][0] = -1
    assert len(exactly(body, changed)) == 1


_texts = st.sampled_from(["", "a", "b", "é", "(absent)", "0"])
_scalars = st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.sampled_from([-1.0, 0.0, 1.0, 1.5]), _texts)
_values = st.recursive(
    _scalars, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_texts, inner, max_size=4)), max_leaves=14
)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_exact_mode_finds_what_deepdiff_finds(data: st.DataObject) -> None:
    """Nothing is missed and nothing made up: deepdiff walks the same values and names the same places."""
    expected = data.draw(_values)
    got = data.draw(st.one_of(_values, st.just(expected).map(lambda value: _disturbed(data, value))))
    theirs = DeepDiff(expected, got, zip_ordered_iterables=True, threshold_to_diff_deeper=0, view="tree")
    places = {_pointer(change.path(output_format="list")) for changes in theirs.values() for change in changes}
    assert {path for path, *_ in exactly({"x": expected}, {"x": got})} == {f"/x{place}" for place in places}


def _disturbed(data: st.DataObject, value: Any) -> Any:
    """The value with one of its leaves changed."""
    if isinstance(value, dict) and value:
        name = data.draw(st.sampled_from(sorted(value)))
        return {**value, name: _disturbed(data, value[name])}
    if isinstance(value, list) and value:
        position = data.draw(st.integers(0, len(value) - 1))
        return [*value[:position], _disturbed(data, value[position]), *value[position + 1 :]]
    return data.draw(_scalars)


def _pointer(steps: list[Any]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


# what the path sets excuse


@pytest.mark.parametrize(
    ("expected", "got", "excuse"),
    [
        ({"id": "a"}, {"id": "b"}, "volatile: id"),
        ({"id": "a"}, {"id": None}, "volatile: id"),
        ({"id": None}, {"id": "a"}, "volatile: id"),
        ({"id": "a"}, {"id": 1}, None),
        ({"id": "a"}, {}, None),
        ({}, {"id": "a"}, None),
        ({"id": {"x": 1}}, {"id": {"x": 2}}, "volatile: id"),
        ({"meta": [{"at": 1}]}, {"meta": [{"at": 2}]}, "volatile: meta/*/at"),
        ({"meta": [{"on": 1}]}, {"meta": [{"on": 2}]}, None),
        ({"unsent": 1}, {}, "unsent: unsent"),
        ({"unsent": 1}, {"unsent": 2}, None),
        ({}, {"unsent": 1}, None),
        ({}, {"padding": 1}, "padding: padding"),
        ({"padding": 1}, {}, None),
        ({"padding": 1}, {"padding": 2}, None),
    ],
)
def test_excuses_of_exact_mode(expected: Any, got: Any, excuse: str | None) -> None:
    assert [d.excuse for d in differences(expected, got, "exact")] == [excuse]


def test_shape_mode_excuses_no_changed_type_of_a_volatile_value() -> None:
    (found,) = differences({"id": "a"}, {"id": 1}, "shape")
    assert (found.path, found.kind, found.excuse) == ("/id", "type", None)


@pytest.mark.parametrize(("expected", "got"), [({"unsent": 1}, {}), ({}, {"padding": "x"})])
def test_excuses_of_shape_mode(expected: Any, got: Any) -> None:
    (found,) = differences(expected, got, "shape")
    assert found.excuse is not None


# shape mode


@pytest.mark.parametrize(
    ("expected", "got", "found"),
    [
        ("a", "b", []),
        ("a", "", []),
        (1, 2, []),
        (True, False, []),
        (0.25, 0.5, []),
        (1, 0.5, []),  # a sampled number may happen to be whole, as Python writes 1 for JavaScript's 1.0
        (1, 1.0, ["float"]),
        (1, "1", ["string"]),
        (1, True, ["boolean"]),
        ("a", None, ["null"]),
        (None, None, []),
        ([], [1], []),
        ([1], [2, 3], []),
        ([1], ["a"], ["string"]),
        ({}, [], ["array"]),
        ([1, "a"], ["b", 2], []),
        ([1, "a"], [2], ["integer"]),
    ],
)
def test_types_are_compared_and_values_are_not(expected: Any, got: Any, found: list[str]) -> None:
    assert [d.got for d in differences({"x": expected}, {"x": got}, "shape")] == found
    assert [d.expected for d in differences({"x": got}, {"x": expected}, "shape")] == found


def test_a_field_lost_from_one_of_several_elements_is_seen() -> None:
    whole = {"items": [{"type": "a", "n": 1}, {"type": "a", "n": 2}]}
    holed = {"items": [{"type": "a", "n": 1}, {"type": "a"}]}
    assert shapely(whole, holed) == [("/items/*/n", "type", "present", "present in some elements")]
    assert shapely(holed, whole) == [("/items/*/n", "type", "present in some elements", "present")]
    assert shapely(holed, holed) == []


def test_elements_are_compared_with_those_of_their_kind() -> None:
    one = {"items": [{"type": "a", "n": 1}]}
    other = {"items": [{"type": "b", "x": "y"}, {"type": "a", "n": 2}]}
    assert shapely(one, other) == shapely(other, one) == []  # a kind that one side lacks is a matter of sampling
    other["items"][1]["n"] = "2"
    assert shapely(one, other) == [("/items/*/n", "type", "integer", "string")]


def test_an_element_of_no_kind_stands_out() -> None:
    assert shapely({"parts": [{"type": "a"}]}, {"parts": [{"type": "a"}, {"n": 1}]}) == [
        ("/parts/*", "type", "a", "a, an object of no kind")
    ]


@pytest.mark.parametrize(("got", "found"), [("stop", []), ("length", ["length"]), ("", [""]), (None, ["null"])])
def test_words_of_the_api_are_compared(got: Any, found: list[str]) -> None:
    assert [d[3] for d in shapely({"finish": "stop"}, {"finish": got})] == found


def test_words_have_a_kind_of_their_own() -> None:
    assert shapely({"finish": "stop"}, {"finish": "length"}) == [("/finish", "word", "stop", "length")]
    assert shapely({"finish": "stop"}, {"finish": 1}) == [("/finish", "type", "string", "integer")]


@pytest.mark.parametrize("other", [{}, {"calls": []}, {"calls": None}])
def test_sampling_decides_whether_a_part_is_there(other: dict[str, Any]) -> None:
    there = {"calls": [{"name": "get_tide"}]}
    assert shapely(there, other) == shapely(other, there) == []


def test_a_part_that_both_have_is_compared() -> None:
    assert [d[0] for d in shapely({"calls": [{"name": "a"}]}, {"calls": [{"nom": "b"}]})] == ["/calls/*/name", "/calls/*/nom"]
    assert shapely({"calls": []}, {}) == [("/calls", "absent", "present", ABSENT)]  # neither has the part, one lacks the field


@pytest.mark.parametrize("other", [None, "b"])
def test_a_nullable_place_may_be_null_and_must_be_there(other: str | None) -> None:
    assert shapely({"text": "a"}, {"text": other}) == []
    assert shapely({"text": other}, {}) == [("/text", "absent", "present", ABSENT)]
    assert shapely({"text": "a"}, {"text": 1}) == [("/text", "type", "string", "integer")]


def test_data_of_the_users_own_is_told_apart() -> None:
    one, other = ({"items": [{"type": "a", "input": {name: 1}}]} for name in ("city", "port"))
    found = differences(one, other, "shape")
    assert [(d.path, d.kind, d.free) for d in found] == [
        ("/items/*/input/city", "absent", True),
        ("/items/*/input/port", "extra", True),
    ]
    assert not any(d.free for d in differences(one, other, "exact"))
    (lost,) = differences(one, {"items": [{"type": "a"}]}, "shape")
    assert not lost.free, "that there is such data is no matter of sampling"


@given(_values, _values)
@settings(max_examples=150, deadline=None)
def test_shape_mode_takes_any_values(expected: Any, got: Any) -> None:
    assert differences(expected, expected, "shape") == []
    assert bool(differences(expected, got, "shape")) == bool(differences(got, expected, "shape"))
    if not exactly(expected, got):
        assert differences(expected, got, "shape") == []
