"""The verb of the room: whatever holds recordings in, cassettes out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from harness.cassette.model import Cassette
from harness.errors import CassetteError

_SUFFIXES = (".yaml", ".yml", ".json")


def load(path: str | Path) -> Iterator[Cassette]:
    """The cassettes at `path`: a cassette file, an exchange folder, or a tree of folders with any of them, in sorted order.

    In a tree, files that are no cassettes and exchanges with other APIs are passed over; given by themselves they are
    errors. Raises `CassetteError`, and `UnsupportedDialectError` for a cassette that names an unknown dialect.
    """
    from harness.cassette import folders, vcr_format

    root = Path(path)
    if root.is_file():
        return iter(vcr_format.read(root, root.stem))
    if not root.is_dir():
        hint = "give a cassette, or a folder of cassettes or exchange folders"
        raise CassetteError("there is no such file or folder", where=str(path), hint=hint)
    if folders.is_exchange(root):
        return iter(_exchange_folder(root))
    return _tree(root)


def load_one(path: str | Path) -> Cassette:
    """The only cassette at `path`. Raises `CassetteError` if there is none, or if there are several."""
    found = list(load(path))
    if len(found) == 1:
        return found[0]
    if not found:
        raise CassetteError("no cassette there", where=str(path))
    names = ", ".join(cassette.id for cassette in found[:3]) + (", …" if len(found) > 3 else "")
    raise CassetteError(f"{len(found)} cassettes there, where one was asked for: {names}", where=str(path))


def save(cassette: Cassette, path: str | Path) -> None:
    """Write a cassette file, whole or not at all; folders on the way are made. Raises `CassetteError`."""
    from harness.cassette import saving

    saving.save(cassette, Path(path))


def shipped() -> Path:
    """The folder of the cassettes that come with the package: inside an installed one, beside the code in a checkout."""
    package = Path(str(resources.files("harness")))
    installed, checkout = package / "_cassettes", package.parent / "cassettes"
    return installed if installed.is_dir() else checkout


def _exchange_folder(root: Path) -> list[Cassette]:
    from harness import dialects
    from harness.cassette.folders import Shelf

    cassette = Shelf(root, [root]).take(root)
    if cassette is None:
        hint = f"known are {', '.join(dialects.names())}"
        raise CassetteError("the request is to no known API", where=str(root), hint=hint)
    return [cassette]


def _tree(root: Path) -> Iterator[Cassette]:
    from harness.cassette import vcr_format
    from harness.cassette.folders import Shelf

    items = list(_items(root))
    shelf = Shelf(root, [item for item in items if item.is_dir()])
    for item in items:
        if item.is_dir():
            cassette = shelf.take(item)
            if cassette is not None:
                yield cassette
        else:
            yield from vcr_format.read(item, item.relative_to(root).with_suffix("").as_posix(), among_others=True)


def _items(folder: Path) -> Iterator[Path]:
    """Exchange folders, and files that may be cassettes, at any depth, in the order of their paths."""
    from harness.cassette.folders import is_exchange

    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise CassetteError(f"cannot be read: {error.strerror}", where=str(folder)) from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if is_exchange(entry):
                yield entry
            elif not entry.is_symlink():  # a link may lead back up
                yield from _items(entry)
        elif entry.suffix.lower() in _SUFFIXES:
            yield entry
