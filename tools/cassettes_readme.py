"""Writes the README of a folder of cassettes: `python tools/cassettes_readme.py CASSETTES`.

What there is, whose it is, and which cassette shows what. Run it again when cassettes come or go.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness import cassette as cassettes
from harness import dialects
from harness.cassette.model import Cassette

HEAD = """# Cassettes

{cassettes} turns over {dialects} APIs and {providers} providers, each an ordinary vcrpy cassette; what vcrpy has no place for
(when each piece came, how the body ended, which exchange is the stream and which its non-streaming twin) stands under
`metadata`. `streamproof run` judges all of them, `streamproof cassettes` lists them, `streamproof replay ID` shows one.

Where they come from:

- *recorded* ({recorded}): by us, of servers and gateways on our own machine; as they are. Behind the gateways stood an
  upstream of our own: they show what a gateway makes of it, not what a vendor sends. Of each gateway those are taken that
  show, together, every rule and kind of finding that it is seen to break (`tools/gateway_cassettes.py`).
- *anonymized* ({anonymized}): recorded by other projects, of the provider named, and put into other words by `streamproof
  anonymize`: every text, argument, id and signature is replaced, letter for letter, and nothing else is touched. As few are
  taken as show, together, every feature, quirk and provider that is recorded of each API (`tools/library.py`). Their day is
  what heads or bodies tell of it; not all do.
- *authored* ({authored}): written by us after the API's description, where there is no recording of that turn that may be
  shipped. {doubled} of them stay though a recording shows a turn of that name too, because tests rest on their exact form
  (mutants of rules, liars, unit tests); they are named below.

A `known.toml` beside the cassettes of a provider says what it is known to do otherwise. This file is generated
(`tools/cassettes_readme.py`).
"""


def main(folder: Path) -> None:
    """Write README.md into a folder of cassettes."""
    found = list(cassettes.load(folder))
    (folder / "README.md").write_text("\n".join(rendered(found)), encoding="utf-8")


def rendered(found: Sequence[Cassette]) -> Iterator[str]:
    """The lines of the README."""
    providers = {case.provider for case in found}
    doubles = doubled(found)
    yield HEAD.format(
        cassettes=len(found),
        dialects=len({case.dialect for case in found}),
        providers=len(providers),
        doubled=len(doubles),
        **Counter(case.provenance.kind for case in found),
    )
    yield from ("## What there is", "")
    yield from (
        "| API | provider | cassettes | with twin | recorded | anonymized | authored |",
        "|---|---|--:|--:|--:|--:|--:|",
    )
    for name in dialects.names():
        for provider in sorted({case.provider for case in found if case.dialect == name}):
            yield _row(name, provider, [case for case in found if (case.dialect, case.provider) == (name, provider)])
    for name in dialects.names():
        yield from ("", f"## What shows what on {name}", "", "| feature or quirk | cassettes |", "|---|---|")
        yield from _shown(case for case in found if case.dialect == name)
    yield from ("", "## What is authored although a recording shows it", "")
    yield from (f"- {name}" for name in doubles)
    yield ""


def doubled(found: Iterable[Cassette]) -> list[str]:
    """The authored cassettes that a recording of the same API doubles: one of that scenario, or an anonymized one that shows it
    with something rare beside (`text`, `text-cached-tokens`)."""
    cases = list(found)
    recorded = {(case.dialect, case.scenario) for case in cases if case.provenance.kind == "recorded"}
    named = [(case.dialect, f"{case.scenario}-") for case in cases if case.provenance.kind == "anonymized"]

    def shown(case: Cassette) -> bool:
        longer = any(dialect == case.dialect and name.startswith(f"{case.scenario}-") for dialect, name in named)
        return longer or (case.dialect, case.scenario) in recorded

    return [case.id for case in cases if case.provenance.kind == "authored" and shown(case)]


def _row(name: str, provider: str, cases: Sequence[Cassette]) -> str:
    twins = sum(case.stream is not None and case.reference is not None for case in cases)
    kinds = [sum(case.provenance.kind == kind for case in cases) for kind in ("recorded", "anonymized", "authored")]
    return f"| {name} | {provider} | {len(cases)} | {twins} | " + " | ".join(str(count or "") for count in kinds) + " |"


def _shown(cases: Iterable[Cassette]) -> Iterator[str]:
    """Each feature and quirk with its first cassettes."""
    where: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        for item in (*case.features, *case.quirks):
            where[item].append(case.id.partition("/")[2])
    for item, names in sorted(where.items()):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"| `{item}` | {', '.join(names[:3])}{more} |"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cassettes"))
