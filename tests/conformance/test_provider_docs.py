"""docs/providers.md is what the tool writes from the recordings, and says what it should."""

from __future__ import annotations

import re
from pathlib import Path

from harness.cassette.model import Cassette, Exchange
from tests import chat
from tests.exchanges import cassette, completion, document, exchange, sse
from tests.shared import needed
from tools import provider_docs

DOCS = Path(__file__).resolve().parents[2] / "docs"


def case(name: str, stream: Exchange, plain: Exchange | None = None, provider: str = "here") -> Cassette:
    return cassette(stream, plain, provider=provider, id=f"openai-chat/{provider}/{name}")


def turn(*, role: str | None = "assistant", end: bool = True, path: str = "/v1/chat/completions") -> Exchange:
    first = {"content": "Kelp"} if role is None else {"role": role, "content": "Kelp"}
    return exchange(sse(chat.says(first), chat.stops(), end=end), path=path)


def page(*cases: Cassette) -> str:
    return provider_docs.page(provider_docs.sections(cases), {"openai-chat/here/published": "https://example.org/b.yml"})


def test_the_page_is_current() -> None:
    written = provider_docs.write(needed("corpus"), needed("recordings"))
    assert (DOCS / "providers.md").read_text(encoding="utf-8") == written, "run `python -m tools.provider_docs`"


def test_a_row_says_in_how_many() -> None:
    told = page(case("a", turn()), case("b", turn(end=False)), case("c", turn(end=False)), case("d", turn(role=None)))
    rows = dict(re.findall(r"^\| must \| (\S+) \| .* \| (.+? of .+?) \| ", told, re.MULTILINE))
    assert rows == {"OAI-C-001": "2 of 4 streams", "OAI-C-011": "1 of 4 streams"}
    assert "| [here](#here-openai-chat) | openai-chat | 4 | 0 | 2 of " in told


def test_a_row_has_its_evidence() -> None:
    assert "| [published](https://example.org/b.yml) |" in page(case("published", turn(end=False)))
    assert "| `openai-chat/here/own` |" in page(case("own", turn(end=False)))


def test_twins_that_differ() -> None:
    told = page(case("a", turn(), document(completion({"content": "Kelp", "mood": "calm"}))))
    says = "the twin has a field that the streamed turn lacks: `/choices/*/message/mood`"
    assert f"| must | reference/absent | {says} | 1 of 1 twins |" in told


def test_vendors_come_first_and_gateways_say_so() -> None:
    told = page(case("a", turn(), provider="litellm"), case("b", turn(), provider="openai"))
    assert told.index("### openai openai-chat\n\nNothing.") < told.index("### litellm openai-chat\n\nA gateway: ")


def test_nobody_is_no_provider() -> None:
    assert "###" not in page(case("a", turn(), provider="local"), case("b", turn(), provider="unknown"))
