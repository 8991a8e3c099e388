"""Cassettes as other programs want them. The verb is `write`; each format is a module of its own."""

from harness.exporting.formats import FORMATS, Format, write

__all__ = ["FORMATS", "Format", "write"]
