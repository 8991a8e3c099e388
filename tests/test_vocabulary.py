"""Vocabularies: what is outside them is found, at every depth, the first time and every other time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import vocabulary
from harness.vocabulary import FREE, ByTag, Either, Kind, Many, Map, Shape

COUNTS = Shape("in out")
PART = ByTag("type", {"text": Shape("type text"), "image": Shape("type", source=Shape("url"))})
MODEL = Shape(
    "id model",
    usage=COUNTS,
    parts=Many(PART),
    content=Either(Many(PART)),
    either=Either(Many(COUNTS), COUNTS),
    ratings=Map(COUNTS),
    args=FREE,
    flags=Map(FREE),
)

KNOWN: list[Any] = [
    {},
    {"id": "a", "model": None},
    {"id": 1, "model": ["a", 2, [None]]},  # a scalar may be of any type, or a list of such
    {"usage": {"in": 1, "out": 2}},
    {"usage": None, "parts": None, "content": None, "ratings": None, "args": None},
    {"usage": {}},
    {"parts": []},
    {"parts": [{"type": "text", "text": "a"}, {"type": "image", "source": {"url": "u"}}]},
    {"content": "a"},
    {"content": 5},
    {"content": [{"type": "text"}]},
    {"either": [{"in": 1}]},
    {"either": {"in": 1}},
    {"either": True},
    {"ratings": {"any name": {"in": 1}, "other": None}},
    {"args": {"deep": [{"anything": {}}]}},
    {"args": [1]},
    {"flags": {"any": {"thing": 1}}},
]
STRANGE: list[tuple[Any, list[tuple[str, Any]]]] = [
    ({"new": 1}, [("/new", 1)]),
    ({"new": None}, [("/new", None)]),
    ({"id": 1, "a/b~c": {"x": 1}}, [("/a~1b~0c", {"x": 1})]),
    ({"": 1}, [("/", 1)]),
    ({"id": {"x": 1}}, [("/id", {"x": 1})]),
    ({"id": {}}, [("/id", {})]),
    ({"id": [1, [{}]]}, [("/id", [1, [{}]])]),
    ({"usage": {"in": 1, "more": 2}}, [("/usage/more", 2)]),
    ({"usage": {"in": {}}}, [("/usage/in", {})]),
    ({"usage": 5}, [("/usage", 5)]),
    ({"usage": [1]}, [("/usage", [1])]),
    ({"usage": ""}, [("/usage", "")]),
    ({"parts": {}}, [("/parts", {})]),
    ({"parts": "a"}, [("/parts", "a")]),
    ({"parts": [1, {"type": "text"}, None]}, [("/parts/0", 1), ("/parts/2", None)]),
    ({"parts": [{"type": "text", "x": 1}]}, [("/parts/0/x", 1)]),
    ({"parts": [{"type": "video", "x": 1}]}, [("/parts/0", {"type": "video", "x": 1})]),
    ({"parts": [{"text": "no tag"}]}, [("/parts/0", {"text": "no tag"})]),
    ({"parts": [{"type": ["text"]}]}, [("/parts/0", {"type": ["text"]})]),
    ({"parts": [{"type": "image", "source": {"url": "u", "x": 1}}]}, [("/parts/0/source/x", 1)]),
    ({"content": {"x": 1}}, [("/content", {"x": 1})]),
    ({"content": [{"type": "text", "x": 1}]}, [("/content/0/x", 1)]),
    ({"either": {"in": 1, "x": 2}}, [("/either/x", 2)]),
    ({"either": [{"in": 1, "x": 2}]}, [("/either/0/x", 2)]),
    ({"ratings": []}, [("/ratings", [])]),
    ({"ratings": {"a": {"x": 1}, "b/": 5}}, [("/ratings/a/x", 1), ("/ratings/b~1", 5)]),
    ({"flags": 1}, [("/flags", 1)]),
    ({"new": 1, "usage": {"x": 1}, "id": {}}, [("/new", 1), ("/usage/x", 1), ("/id", {})]),
    ([], [("", [])]),
    ("a", [("", "a")]),
    (None, [("", None)]),
]


@pytest.mark.parametrize("value", KNOWN, ids=repr)
def test_known(value: Any) -> None:
    assert list(MODEL.strangers(value, "")) == []
    assert MODEL.knows(value)
    assert MODEL.knows(value)  # by memory


@pytest.mark.parametrize(("value", "strangers"), STRANGE, ids=repr)
def test_strange(value: Any, strangers: list[tuple[str, Any]]) -> None:
    assert list(MODEL.strangers(value, "")) == strangers
    assert not MODEL.knows(value)
    assert not MODEL.knows(value)


def test_a_stranger_is_seen_behind_names_that_were_passed_before() -> None:
    """The memory is of key sets; what the fields hold is looked at each time."""
    part, image = {"type": "text"}, {"type": "image", "source": {"url": "u"}}
    good = {
        "id": 1,
        "usage": {"in": 1},
        "parts": [part, image],
        "content": [part],
        "either": {"in": 1},
        "ratings": {"a": {"in": 1}},
    }
    bad: list[tuple[str, Any]] = [
        ("id", {}),
        ("id", [{}]),
        ("usage", {"x": 1}),
        ("usage", {"in": {}}),
        ("usage", 5),
        ("parts", [part, {"x": 1}]),
        ("parts", [{"type": "image", "source": {"x": 1}}]),
        ("parts", [{"type": "video"}]),
        ("parts", {}),
        ("content", [{"type": "text", "x": 1}]),
        ("content", part),
        ("either", {"x": 1}),
        ("either", [{"x": 1}]),
        ("ratings", {"a": {"x": 1}}),
        ("ratings", {"b": 5}),
        ("ratings", []),
    ]
    for name, value in bad:
        assert MODEL.knows(good)
        assert MODEL.knows(good)
        assert not MODEL.knows({**good, name: value})
    assert MODEL.knows({**good, "args": {"x": 1}})


_names = st.sampled_from(
    ["id", "model", "usage", "parts", "content", "either", "ratings", "args", "flags", "in", "type", "text", "source", "x"]
)
_json = st.recursive(
    st.sampled_from([None, 1, "a", "text", "image", True]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_names, inner, max_size=4)),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.dictionaries(_names, _json, max_size=4), max_size=4))
def test_what_is_known_has_no_strangers_and_the_other_way_round(values: list[Any]) -> None:
    for value in values:
        strangers = list(MODEL.strangers(value, ""))
        assert MODEL.knows(value) == (not strangers)
        for at, stranger in strangers:
            assert _found(value, at) == stranger


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(_names, _json, max_size=5))
def test_what_is_mended_has_containers_of_the_right_kind(value: dict[str, Any]) -> None:
    before = json.dumps(value)
    mended = MODEL.mended(value)
    assert json.dumps(value) == before
    _check(mended, MODEL)
    if MODEL.knows(value):
        assert mended == value


def _found(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
    return value


def _check(value: Any, kind: Kind) -> None:
    """What a reader takes for granted."""
    assert value is None or kind.fits(value)
    if isinstance(kind, Shape) and value is not None:
        for name, inner in kind.nested.items():
            _check(value.get(name), inner)
    elif isinstance(kind, Many) and value is not None:
        assert None not in value
        for element in value:
            _check(element, kind.kind)
    elif isinstance(kind, Map) and value is not None:
        for field in value.values():
            _check(field, kind.kind)
    elif isinstance(kind, ByTag) and value is not None:
        tag = value.get("type")
        if isinstance(tag, str) and tag in kind.shapes:
            _check(value, kind.shapes[tag])


MENDED: list[tuple[Any, Any]] = [
    ({"id": 1, "new": {"x": 1}}, {"id": 1, "new": {"x": 1}}),
    ({"usage": 5, "parts": "a"}, {"usage": None, "parts": None}),
    ({"parts": [1, {"type": "text"}, None, []]}, {"parts": [{"type": "text"}]}),
    ({"parts": [{"type": "image", "source": 5}]}, {"parts": [{"type": "image", "source": None}]}),
    ({"parts": [{"type": "video", "source": 5}]}, {"parts": [{"type": "video", "source": 5}]}),
    ({"content": {"x": 1}}, {"content": None}),
    ({"content": [5, {"type": "text"}]}, {"content": [{"type": "text"}]}),
    ({"either": [5, {"in": 1}]}, {"either": [{"in": 1}]}),
    ({"ratings": {"a": 5, "b": {"in": 1}}}, {"ratings": {"a": None, "b": {"in": 1}}}),
    ({"args": [5, {}], "flags": {"a": []}}, {"args": [5, {}], "flags": {"a": []}}),
]


@pytest.mark.parametrize(("value", "mended"), MENDED, ids=repr)
def test_mended(value: Any, mended: Any) -> None:
    assert MODEL.mended(value) == mended


def test_a_shape_extended_has_the_old_names_and_the_new() -> None:
    shape = Shape("id", usage=COUNTS).extended("more", parts=Many(COUNTS), id=COUNTS)
    assert shape.knows({"id": {"in": 1}, "usage": {"in": 1}, "more": 1, "parts": [{"in": 1}]})
    assert not shape.knows({"id": {"x": 1}})
    assert not shape.knows({"usage": {"x": 1}})
    assert Shape("usage").extended(usage=COUNTS).knows({"usage": {"in": 1}})
    assert Shape(usage=COUNTS).extended("usage").nested["usage"] is COUNTS


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_MOST_KEY_SETS", 3)
    shape = Shape(" ".join(f"n{i}" for i in range(10)))
    for i in range(10):
        assert shape.knows({f"n{i}": 1})
        assert not shape.knows({f"n{i}": 1, "x": 1})
    assert len(shape._seen) == 3


def test_payloads_that_were_passed_are_not_walked_through_by_name_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Shape("id", usage=Shape("in"))
    for _ in range(2):  # the outer object, then the inner one
        assert shape.knows({"id": 1, "usage": {"in": 1}})
    monkeypatch.setattr(Shape, "strangers", lambda *_: pytest.fail("walked again"))
    assert shape.knows({"id": 2, "usage": {"in": 2}})


@pytest.mark.parametrize(
    ("value", "misfits"),
    [
        ({"id": 7, "parts": [{"text": 1}], "usage": {"total": 1}}, []),
        ({"parts": "x"}, [("/parts", "a list")]),
        ({"parts": ["x", None]}, [("/parts/0", "an object"), ("/parts/1", "an object")]),
        ({"parts": None, "usage": []}, [("/usage", "an object")]),
        ({"new": "x", "map": {"a/b": 5}}, [("/map/a~1b", "an object")]),
        ({"either": [{"text": 1}], "tagged": {"type": "t", "list": 1}}, [("/tagged/list", "a list")]),
        ({"either": {"x": 1}, "tagged": {"type": "other", "list": 1}}, [("/either", "a list")]),
    ],
)
def test_misfits_are_known_names_with_another_container(value: dict[str, Any], misfits: list[tuple[str, str]]) -> None:
    part = Shape("text")
    tagged = ByTag("type", {"t": Shape("type", list=Many(part))})
    shape = Shape("id", parts=Many(part), usage=Shape("total"), map=Map(part), either=Either(Many(part)), tagged=tagged)
    assert [(at, wanted) for at, wanted, _ in shape.misfits(value, "")] == misfits
