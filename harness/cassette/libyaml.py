"""YAML as cassettes need it: read safely, written so that every text comes back, and by libyaml where PyYAML has it."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import yaml

from harness.cassette.scalars import is_plain

_NO_WRAPPING = 1 << 30


def load(data: bytes) -> Any:
    """The value of a document. Raises `yaml.YAMLError`, or `ValueError` for a date that is none."""
    return yaml.load(data, Loader=loader())  # noqa: S506  # a safe loader


def dump(value: Any, indent: int = 0) -> str:
    """The value as lines that stand `indent` spaces in. Raises `yaml.YAMLError`."""
    text = yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=_NO_WRAPPING)
    pad = " " * indent
    return "".join(f"{pad}{line}\n" for line in text.removesuffix("\n").split("\n"))


@cache
def _base(name: str) -> Any:
    """libyaml's class, or the slow one of the same name in Python."""
    fast = getattr(yaml, f"C{name}", None)
    if fast is None:
        message = "PyYAML was built without libyaml: cassettes are read and written many times slower"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return fast or getattr(yaml, name)


@cache
def loader() -> Any:
    """A safe loader that reads what vcrpy's own loader reads, and makes no object of it."""
    made: Any = type("CassetteLoader", (_base("SafeLoader"),), {})
    made.add_multi_constructor("tag:yaml.org,2002:python/", _contents)
    return made


@cache
def _dumper() -> Any:
    dumper: Any = type("CassetteDumper", (_base("SafeDumper"),), {})
    dumper.add_representer(str, _text)
    return dumper


def _text(dumper: Any, text: str) -> yaml.ScalarNode:
    """A text stands on one line, so that no line break in it is another after reading."""
    style = '"' if not is_plain(text) or "\n" in text else None
    node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
    return node


def _contents(reader: Any, _tag: str, node: yaml.Node) -> Any:
    """What is in a Python object that an old vcrpy wrote down."""
    if isinstance(node, yaml.ScalarNode):
        return reader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return reader.construct_sequence(node, deep=True)
    return reader.construct_mapping(node, deep=True)
