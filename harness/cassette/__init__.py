"""Cassettes: what was recorded. The verb is `load`; the noun, `Cassette`, stands in `model` with all that it holds."""

from harness.cassette.loading import load, load_one, save, shipped
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Provenance, Request

__all__ = ["Cassette", "Chunk", "Exchange", "Headers", "Provenance", "Request", "load", "load_one", "save", "shipped"]
