"""Compares each payload with what its fields should be."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.forms.scalars import COUNT, INT64, Form, Lists, Objects, Scalar, form_of
from harness.conformance.rules.forms.tables import TABLES
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending
from harness.framing import Frame

_FORMS = {dialect: form_of(table) for dialect, table in TABLES.items()}
_TYPES = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}


class FormsWalk:
    """Lists and objects by the vocabulary of the dialect, scalars by its table."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._translator = court.case.dialect.translator()
        self._form = _FORMS[court.case.dialect.name]

    def payload(self, frame: Frame, value: Any) -> None:
        if type(value) is not dict or value.get("error"):  # the form of errors has rules of its own
            return
        shape = self._translator.shape_of(frame)
        if not shape.knows(value):
            for place, wanted, got in shape.misfits(value, ""):
                self._other(place, wanted, got)
        if not _fits(self._form, value):
            self._look(self._form, value, "")

    def end(self, ending: Ending) -> None:
        """Nothing is left to say."""

    def _look(self, form: Form, got: Any, at: str) -> None:
        if type(form) is Scalar:
            if not form.takes(got):
                self._other(at, form.wanted, got, number=form is COUNT or form is INT64)
        elif type(form) is Objects:
            if type(got) is dict:  # what is none, the vocabulary tells
                self._fields(form, got, at)
        elif type(form) is Lists and type(got) is list:
            for i, element in enumerate(got):
                self._look(form.element, element, f"{at}/{i}")

    def _fields(self, form: Objects, value: dict[str, Any], at: str) -> None:
        for name, always, inner in form.fields:
            got = value.get(name)
            if got is not None:
                self._look(inner, got, f"{at}/{name}")
            elif always:
                self._court.fault("field/absent", f"{_named(at)} has no `{name}`, and says nothing without it", at)
        kind = value.get("type") if form.of_type else None
        if isinstance(kind, str) and kind in form.of_type:
            self._fields(form.of_type[kind], value, at)

    def _other(self, place: str, wanted: str, got: Any, *, number: bool = False) -> None:
        met = f"the number {got}" if number and type(got) in (int, float) else _TYPES.get(type(got), "null")
        self._court.fault("field/type", f"{_named(place)} is {met}; it should be {wanted}", place, expected=wanted, got=got)


def _fits(form: Form, got: Any) -> bool:
    """Whether there is nothing to say of a value: the same walk without places, for the many payloads that are as they should
    be."""
    if type(form) is Scalar:
        return form.takes(got)
    if type(form) is Lists:
        return type(got) is not list or all(_fits(form.element, element) for element in got)
    if type(form) is not Objects or type(got) is not dict:
        return True
    for name, always, inner in form.fields:
        value = got.get(name)
        if value is None:
            if always:
                return False
        elif not (inner.takes(value) if type(inner) is Scalar else _fits(inner, value)):
            return False
    kind = got.get("type") if form.of_type else None
    return type(kind) is not str or kind not in form.of_type or _fits(form.of_type[kind], got)


def _named(place: str) -> str:
    """A place in words: its field, or the element of a list."""
    outer, _, name = place.rpartition("/")
    if name.isdecimal():
        return f"element {name} of {_named(outer)}"
    return f"`{name}`" if name else "the payload"
